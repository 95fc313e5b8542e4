"""The request that opens a session."""

from __future__ import annotations

import secrets

from .environment_info import EnvironmentInfo
from .errors import EpisodicError
from .json_types import Json, JsonObject
from .task import Task


def open_request(
    info: EnvironmentInfo,
    task: Task,
    params: JsonObject | None,
    seed: str | int | None,
    limits: JsonObject | None,
    version: str | None,
    *,
    several: bool,
) -> JsonObject:
    """Returns the parameters of `environment/open`, where arguments replace those of the task.

    Raises `option-invalid` for an environment with several seats where one is asked for, and the other way round.
    """
    if bool(info.seats) != several:
        message = (
            f"{info.name} has several seats. Open it with open_game."
            if info.seats
            else f"{info.name} has one seat. Open it with open."
        )
        raise EpisodicError("option-invalid", message, retryable=False)
    chosen = task.seed if seed is None else str(seed)
    pinned = task.version if version is None else version
    request: dict[str, Json] = {
        "environment": info.name,
        "params": {**task.params, **(params or {})},
        "limits": {**task.limits, **(limits or {})},
        "requestKey": secrets.token_urlsafe(24),
    }
    if chosen is not None:
        request["seed"] = chosen
    if pinned is not None:
        request["version"] = pinned
    return request
