"""One episode at the trainer endpoint."""

from __future__ import annotations

import base64
import json
from typing import Any

from .end import End
from .environment_info import EnvironmentInfo
from .errors import EpisodicError, malformed
from .json_types import JsonObject
from .observation import Observation, observation_of
from .open_session import Call, OpenSession
from .play_step import play_step
from .played import Played, read_played
from .step import Step
from .turn import Turn, read_turn

SEAT = "agent"
HANDLE = "episodic-1."
"""How a handle begins: with the version of what follows."""


class Episode(OpenSession):
    """An open session. Make one call at a time; episodes of one connection may run in several threads.

    Leaving its `with` block closes it.
    """

    def __init__(self, call: Call, info: EnvironmentInfo, opened: Any, agent_url: str) -> None:
        super().__init__(call, info, opened, agent_url)
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

    def step(self, tool: str, arguments: JsonObject | None = None) -> Step:
        """Calls a tool of the environment.

        After an error with code `connection-failed`, call it again with the same tool and arguments: the server plays
        the step if it had not, and otherwise returns the stored answer. Raises `not-playing` after the end.
        """
        self._check_playing()
        step = play_step(
            self._ask,
            self.info,
            tool,
            arguments,
            session=self._session,
            seat=SEAT,
            seq=self._seq,
            meta=self._meta(),
        )
        self._seq = step.seq
        self.observation = step.observation
        self.potential = step.potential
        self.total += step.reward
        for name, term in step.terms.items():
            self.summed[name] += term
        if step.end is not None:
            self.end = step.end
            self.success = step.success
            self._over = f"The episode is over ({step.end.reason})"
        return step

    def ended(self) -> End | None:
        """Asks the server how the episode ended, also by steps of others; None while it goes on. Before `close` only.

        Raises `session-not-found` if the session is lost.
        """
        turn = read_turn(self._ask, self.info, self._session, SEAT)
        return turn.end

    def played(self, wait: float = 0.0) -> Played:
        """Returns all steps of the session, also those of an agent at `session_url`.

        Waits up to `wait` seconds for the first one. Before `close` only.
        """
        return read_played(self._ask, self.info, self._session, 0, wait)

    def legal(self) -> JsonObject:
        """Returns the actions that the rules accept now: by tool, a JSON Schema of its arguments."""
        result: dict[str, JsonObject] = self._ask("environment/legal", self._named())
        return result["tools"]

    def fork(self, count: int = 1, *, at: int | None = None, seed: str | None = None) -> list[Episode]:
        """Returns episodes that continue from here, or from step `at`, and share nothing with this one.

        Without `seed`, the same actions get the same answers; with it, each fork has random streams of its own.
        """
        forks = self._opened_forks(count, at, seed)
        return [Episode(self._call, self.info, opened, self._agent_url) for opened in forks]

    def __enter__(self) -> Episode:
        return self


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


def attached_episode(call: Call, info: EnvironmentInfo, held: JsonObject, turn: Turn, agent_url: str) -> Episode:
    """Returns the episode of a handle, at the place that its seat has reached."""
    observed = {"text": turn.observation.text, "structured": turn.observation.structured}
    seat = {"capability": held.get("capability"), "seq": turn.seq, "observation": observed}
    episode = Episode(call, info, {**held, "seats": {SEAT: seat}, "potential": turn.potential}, agent_url)
    if turn.end is not None:
        episode.end, episode.success = turn.end, turn.success
        episode._over = f"The episode is over ({turn.end.reason})"
    return episode
