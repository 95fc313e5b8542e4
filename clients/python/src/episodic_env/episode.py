"""One episode at the trainer endpoint."""

from __future__ import annotations

from .end import End
from .environment_info import EnvironmentInfo
from .episode_account import SEAT, EpisodeAccount
from .json_types import JsonObject
from .open_session import Call, OpenSession
from .played import Played, read_played
from .step import Step
from .turn import Turn, read_turn


class Episode(OpenSession, EpisodeAccount):
    """An open session. Make one call at a time; episodes of one connection may run in several threads.

    Leaving its `with` block closes it.
    """

    def step(self, tool: str, arguments: JsonObject | None = None) -> Step:
        """Calls a tool of the environment.

        After an error with code `connection-failed`, call it again with the same tool and arguments: the server plays
        the step if it had not, and otherwise returns the stored answer. Raises `not-playing` after the end.
        """
        return self._stepped(self._ask("tools/call", self._step_request(tool, arguments)))

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


def attached_episode(call: Call, info: EnvironmentInfo, held: JsonObject, turn: Turn, agent_url: str) -> Episode:
    """Returns the episode of a handle, at the place that its seat has reached."""
    observed = {"text": turn.observation.text, "structured": turn.observation.structured}
    seat = {"capability": held.get("capability"), "seq": turn.seq, "observation": observed}
    episode = Episode(call, info, {**held, "seats": {SEAT: seat}, "potential": turn.potential}, agent_url)
    if turn.end is not None:
        episode.end, episode.success = turn.end, turn.success
        episode._over = f"The episode is over ({turn.end.reason})"
    return episode
