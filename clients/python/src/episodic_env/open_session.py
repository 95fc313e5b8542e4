"""What an open session of any number of seats has."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .end import End, end_of
from .environment_info import EnvironmentInfo
from .errors import EpisodicError, malformed
from .json_types import Json, JsonObject, by_name
from .rpc import EPOCH

VOIDING = frozenset({"session-not-found", "fenced", "state-lost", "not-recorded"})
"""Codes after which no step follows: the session is gone, has another owner, was set back, or was not recorded."""

Call = Callable[[str, JsonObject, bool], Json]
"""Calls a method with parameters; the last argument says whether to retry."""


class OpenSession:
    """An open session. Leaving its `with` block closes it."""

    def __init__(self, call: Call, info: EnvironmentInfo, opened: Any, agent_url: str) -> None:
        try:
            self.id: str = opened["id"]
            self.seed: str = opened["seed"]
            self.params: JsonObject = opened["params"]
            self.limits: JsonObject = opened["limits"]
            self._session: str = opened["session"]
            self._epoch: int = opened["epoch"]
        except (KeyError, TypeError) as cause:
            raise malformed(f"The server opened a session without {cause}.") from cause
        self.info = info
        self.end: End | None = None
        self.success: bool | None = None
        """Whether the episode succeeded, once it is over or closed; None if the environment defines no success."""
        self._call = call
        self._agent_url = agent_url
        self._over: str | None = None
        self._open = True
        self._answered = True

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
        """Ends the episode on the server and returns how it ended. Safe to call twice: then it returns `end`."""
        # No retries for a server that did not answer the last call: the session expires there.
        return self._close(self._answered)

    def _close(self, retry: bool) -> End | None:
        if not self._open:
            return self.end
        self._open = False
        if self._over is None:
            self._over = "The episode is closed"
        try:
            result = self._call("environment/close", self._named(), retry)
            self.end = end_of(result["end"])
            self.success = result.get("success", self.success)
        except EpisodicError as error:
            # The session is closed or expired already.
            if error.code not in VOIDING:
                raise
        return self.end

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.close()
        except EpisodicError:
            # The error that left the block says more than the failure to close.
            if error is None:
                raise

    def _named(self) -> dict[str, Json]:
        return {"session": self._session}

    def _meta(self) -> dict[str, Json]:
        return {EPOCH: self._epoch}

    def _opened_forks(self, count: int, at: int | None, seed: str | None) -> list[Any]:
        request = {**self._named(), "count": count, "requestKey": secrets.token_urlsafe(24)}
        if at is not None:
            request["at"] = at
        if seed is not None:
            request["seed"] = seed
        forks: list[Any] = self._ask("environment/fork", request)["forks"]
        return forks

    def _check_playing(self) -> None:
        if self._over is not None:
            raise EpisodicError("not-playing", f"{self._over}, so no step follows. Open another.", retryable=False)

    def _ask(self, method: str, params: JsonObject) -> Json:
        if not self._open:
            raise EpisodicError("not-playing", "The episode is closed. Open another.", retryable=False)
        self._answered = False
        try:
            result = self._call(method, params, True)
        except EpisodicError as error:
            self._answered = error.code != "connection-failed"
            if error.code in VOIDING:
                self._over = f"The episode is void ({error.code})"
                # Another client owns the session now, so `close` must not end it.
                self._open = error.code != "fenced"
            raise
        self._answered = True
        return result
