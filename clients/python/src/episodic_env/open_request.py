"""The request that opens a session."""

from __future__ import annotations

import operator
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

    Raises `option-invalid` for a seed that is neither a text nor a whole number, and for an environment with several
    seats where one is asked for, and the other way round.
    """
    if bool(info.seats) != several:
        message = (
            f"{info.name} has several seats. Open it with open_game."
            if info.seats
            else f"{info.name} has one seat. Open it with open."
        )
        raise EpisodicError("option-invalid", message, retryable=False)
    chosen = task.seed if seed is None else _seed_text(seed)
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


def _seed_text(seed: str | int) -> str:
    """Returns a seed as the server takes it: also that of a whole number of NumPy, and none of a rounded one."""
    if isinstance(seed, str):
        return seed
    try:
        if not isinstance(seed, bool):
            return str(operator.index(seed))
    except TypeError:
        pass
    message = f"seed is {seed!r}, and has to be a text or a whole number."
    raise EpisodicError("option-invalid", message, retryable=False)
