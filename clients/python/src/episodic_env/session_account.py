"""What a client knows of a session that it has opened."""

from __future__ import annotations

from typing import Any

from .end import End, end_of
from .environment_info import EnvironmentInfo
from .errors import EpisodicError, malformed
from .json_types import Json, JsonObject
from .rpc import EPOCH

VOIDING = frozenset({"session-not-found", "fenced", "state-lost", "not-recorded"})
"""Codes after which no step follows: the session is gone, has another owner, was set back, or was not recorded."""


class SessionAccount:
    """What a client knows of a session that it has opened, and of its end."""

    def __init__(self, info: EnvironmentInfo, opened: Any, agent_url: str) -> None:
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
        self.verdicts: dict[str, bool] = {}
        """The further verdicts on the episode, once it is over or closed; empty if the environment defines none."""
        self._agent_url = agent_url
        self._over: str | None = None
        self._void = False
        self._open = True
        self._answered = True

    def _named(self) -> dict[str, Json]:
        return {"session": self._session}

    def _meta(self) -> dict[str, Json]:
        return {EPOCH: self._epoch}

    def _check_playing(self) -> None:
        if self._over is not None:
            raise EpisodicError("not-playing", f"{self._over}, so no step follows. Open another.", retryable=False)

    def _failed(self, error: EpisodicError) -> None:
        """Notes what an error of a call means for the session."""
        self._answered = error.code != "connection-failed"
        if error.code in VOIDING:
            self._over = f"The episode is void ({error.code})"
            self._void = True
            # Another client owns the session now, so `close` must not end it.
            self._open = error.code != "fenced"

    def _closing(self) -> bool:
        """Notes that the session is closed. Returns whether the server has to hear of it."""
        was_open, self._open = self._open, False
        if self._over is None:
            self._over = "The episode is closed"
        return was_open

    def _judges(self, given_up: bool) -> bool:
        """Whether the world has to judge what the player leaves."""
        return self.info.judges_left and self.end is None and not given_up and not self._void

    def _closing_request(self, judged: bool) -> JsonObject:
        return {**self._named(), "left": "if-played"} if judged else self._named()

    def _closed(self, result: Any) -> End | None:
        """Reads the answer to `environment/close`."""
        self.end = end_of(result["end"])
        self.success = result.get("success", self.success)
        self.verdicts = result.get("verdicts", self.verdicts)
        return self.end
