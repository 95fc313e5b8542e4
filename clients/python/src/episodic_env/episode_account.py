"""What a client knows of an episode of one seat that it plays."""

from __future__ import annotations

import base64
import json
from typing import Any

from .end import End
from .environment_info import EnvironmentInfo
from .errors import EpisodicError, malformed
from .json_types import Json, JsonObject
from .observation import Observation, observation_of
from .play_step import read_step, step_request
from .session_account import SessionAccount
from .step import Step, step_of

SEAT = "agent"
HANDLE = "episodic-1."
"""How a handle begins: with the version of what follows."""


class EpisodeAccount(SessionAccount):
    """The account of an episode: what it showed, what it earned, and which step is the next."""

    def __init__(self, info: EnvironmentInfo, opened: Any, agent_url: str) -> None:
        super().__init__(info, opened, agent_url)
        try:
            seat = opened["seats"][SEAT]
            self.potential: float | None = opened["potential"]
            self._capability: str = seat["capability"]
            self._seq: int = seat["seq"]
            self.observation: Observation = observation_of(seat["observation"])
        except (KeyError, TypeError) as cause:
            raise malformed(f"The server opened a session without {cause}.") from cause
        self.opening = self.observation
        """The observation at the start; `observation` is the latest one."""
        self.summed: dict[str, float] = dict.fromkeys(info.terms, 0.0)
        """The sum of each raw term so far, over the steps that this object has played."""
        self.total = 0.0
        """The return so far: the sum of the rewards of the steps that this object has played."""
        self.left: Step | None = None
        """The last step, in which the world has judged what the player left; None if it took none. See `close`."""

    @property
    def seq(self) -> int:
        """How many steps are answered."""
        return self._seq

    @property
    def session_url(self) -> str:
        """The MCP endpoint of this session's player: a secret that allows its tools and nothing else."""
        return f"{self._agent_url}/s/{self._capability}"

    @property
    def handle(self) -> str:
        """The text with which another process goes on with this episode: see `Connection.attach`.

        It is a secret, good with a control token: send it where no player reads it.
        """
        held = {
            "environment": self.info.name,
            "id": self.id,
            "session": self._session,
            "epoch": self._epoch,
            "capability": self._capability,
            "seed": self.seed,
            "params": self.params,
            "limits": self.limits,
        }
        return HANDLE + base64.urlsafe_b64encode(json.dumps(held, separators=(",", ":")).encode()).decode()

    def __repr__(self) -> str:
        over = f", {self.end.reason}" if self.end else ""
        return f"<Episode {self.id} of {self.info.name}, {self._seq} steps, return {self.total:g}{over}>"

    def _step_request(self, tool: str, arguments: JsonObject | None) -> JsonObject:
        """Returns the parameters of the next step. Raises `not-playing` after the end."""
        self._check_playing()
        return step_request(
            self.info, tool, arguments, session=self._session, seat=SEAT, seq=self._seq, meta=self._meta()
        )

    def _stepped(self, result: Json) -> Step:
        """Reads the answer to the next step, and counts it."""
        return self._count(read_step(self.info, result, seat=SEAT, seq=self._seq))

    def _closed(self, result: Any) -> End | None:
        """Reads the answer to `environment/close`, and counts the step in which the world has judged what was left."""
        end = super()._closed(result)
        last = result.get("step")
        if last is not None:
            step = step_of(self.info, observation_of(last["observation"]), last["report"], False, SEAT)
            self.left = self._count(step)
        return end

    def _count(self, step: Step) -> Step:
        self._seq = step.seq
        self.observation = step.observation
        self.potential = step.potential
        self.total += step.reward
        for name, term in step.terms.items():
            self.summed[name] += term
        if step.end is not None:
            self.end = step.end
            self.success = step.success
            self.verdicts = step.verdicts
            self._over = f"The episode is over ({step.end.reason})"
        return step


def read_handle(handle: str) -> dict[str, Any]:
    """Reads what `Episode.handle` wrote. Raises `option-invalid`."""
    try:
        if not handle.startswith(HANDLE):
            raise ValueError
        held = json.loads(base64.urlsafe_b64decode(handle.removeprefix(HANDLE)))
        if not isinstance(held, dict) or not isinstance(held.get("environment"), str):
            raise ValueError
    except (ValueError, AttributeError) as cause:
        message = "This is no handle of an episode. Give the text that Episode.handle has."
        raise EpisodicError("option-invalid", message, retryable=False) from cause
    return held
