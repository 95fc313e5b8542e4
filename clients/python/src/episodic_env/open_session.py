"""What an open session of any number of seats has."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .end import End
from .environment_info import EnvironmentInfo
from .errors import EpisodicError
from .json_types import Json, JsonObject, by_name
from .session_account import VOIDING, SessionAccount

Call = Callable[[str, JsonObject, bool], Json]
"""Calls a method with parameters; the last argument says whether to retry."""


class OpenSession(SessionAccount):
    """An open session. Leaving its `with` block closes it; an error that leaves it gives the episode up, unjudged."""

    def __init__(self, call: Call, info: EnvironmentInfo, opened: Any, agent_url: str) -> None:
        super().__init__(info, opened, agent_url)
        self._call = call

    def state(self) -> JsonObject:
        """Returns the state of the session, private part included: never show it to a player."""
        result: dict[str, JsonObject] = self._ask("environment/state", self._named())
        return result["state"]

    def snapshot(self, at: int | None = None) -> JsonObject:
        """Returns the session after `at` steps (default: now), as plain JSON. It contains the private state."""
        request = self._named() if at is None else {**self._named(), "at": at}
        result: dict[str, JsonObject] = self._ask("environment/snapshot", request)
        return result["snapshot"]

    def publish(self, type: str, data: JsonObject | None = None, *, id: str | None = None) -> JsonObject:  # noqa: A002
        """Publishes an outside event, exactly once per `id`. The rules apply it before the next step."""
        event = {
            **self._named(),
            "type": type,
            "data": by_name(data, f"data of {type}"),
            "id": id or secrets.token_urlsafe(18),
        }
        result: JsonObject = self._ask("environment/publish", event)
        return result

    def close(self) -> End | None:
        """Ends the episode on the server and returns how it ended. Safe to call twice: then it returns `end`.

        The player has left an episode that has not ended. A world that judges what was left (`info.judges_left`) does
        so now, unless nothing was played: `total`, `summed`, `success` and `left` have the result. Then an error means
        that the episode has failed: what it earned is not known.
        """
        # No retries for a server that did not answer the last call: the session expires there.
        return self._close(self._answered)

    def _close(self, retry: bool, *, given_up: bool = False) -> End | None:
        judged = self._judges(given_up)
        if self._closing():
            try:
                self._closed(self._call("environment/close", self._closing_request(judged), retry))
            except EpisodicError as error:
                # The session is closed or expired already, which matters if what it earned is lost with it.
                if judged or error.code not in VOIDING:
                    raise
        return self.end

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._close(self._answered, given_up=error is not None)
        except EpisodicError:
            # The error that left the block says more than the failure to close.
            if error is None:
                raise

    def _opened_forks(self, count: int, at: int | None, seed: str | None) -> list[Any]:
        request = {**self._named(), "count": count, "requestKey": secrets.token_urlsafe(24)}
        if at is not None:
            request["at"] = at
        if seed is not None:
            request["seed"] = seed
        forks: list[Any] = self._ask("environment/fork", request)["forks"]
        return forks

    def _ask(self, method: str, params: JsonObject) -> Json:
        if not self._open:
            raise EpisodicError("not-playing", "The episode is closed. Open another.", retryable=False)
        self._answered = False
        try:
            result = self._call(method, params, True)
        except EpisodicError as error:
            self._failed(error)
            raise
        self._answered = True
        return result
