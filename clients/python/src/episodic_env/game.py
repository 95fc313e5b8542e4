"""One episode of several seats at the trainer endpoint."""

from __future__ import annotations

import threading
from typing import Any

from .end import End, end_of
from .environment_info import EnvironmentInfo
from .errors import EpisodicError, malformed
from .json_types import JsonObject
from .observation import Observation, observation_of
from .open_session import Call, OpenSession
from .play_step import play_step
from .played import ABSENT, Played, PlayedStep, read_played
from .step import Step
from .terms import total_of
from .turn import Turn, leave_seat, read_turn


class Game(OpenSession):
    """An open session of several seats. Its opener steps any of them, or hands them out.

    Make one call at a time for each seat; threads may make calls for different seats at once. Leaving its `with` block
    closes it.
    """

    def __init__(self, call: Call, info: EnvironmentInfo, opened: Any, agent_url: str) -> None:
        super().__init__(call, info, opened, agent_url)
        try:
            seats: dict[str, Any] = opened["seats"]
            self.in_turn: tuple[str, ...] = tuple(opened["turn"])
            """The seats that may act now, as the latest answer says; empty once the episode is over."""
            self.openings: dict[str, Observation] = {
                name: observation_of(seat["observation"]) for name, seat in seats.items()
            }
            """What each seat sees at the start."""
            self.potentials: dict[str, float | None] = {name: seat.get("potential") for name, seat in seats.items()}
            """The potential of each seat at the start; None if the environment defines none."""
            self._handles: dict[str, str] = {name: seat["handle"] for name, seat in seats.items()}
            self._capabilities: dict[str, str] = {name: seat["capability"] for name, seat in seats.items()}
            self._seqs: dict[str, int] = {name: seat["seq"] for name, seat in seats.items()}
        except (KeyError, TypeError) as cause:
            raise malformed(f"The server opened a game without {cause}.") from cause
        self.seats: tuple[str, ...] = tuple(seats)
        """The seats of this episode, in order."""
        self.totals: dict[str, float] = dict.fromkeys(seats, 0.0)
        """The return of each seat so far: its rewards in the steps of any seat that this object has played or read."""
        self.ends: dict[str, End] = {}
        """How the episode ended for the seats that it has ended for."""
        self.successes: dict[str, bool] = {}
        """Whether each of those succeeded, if the environment judges success."""
        self._revision = -1
        self._own: set[int] = set()
        self._logged = 0
        self.unanswered: set[str] = set()
        """The seats whose last step got no answer: it may have been played, so only the same one can follow."""
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        turn = f"in turn {', '.join(self.in_turn)}" if self.in_turn else "nobody in turn"
        returns = ", ".join(f"{seat} {total:g}" for seat, total in self.totals.items())
        return f"<Game {self.id} of {self.info.name}, {turn}, returns {returns}>"

    def seq(self, seat: str) -> int:
        """How many steps of a seat are answered."""
        return self._seqs[self._known(seat)]

    def session_url(self, seat: str) -> str:
        """The MCP endpoint of a seat's player: a secret that allows its tools and nothing else."""
        return f"{self._agent_url}/s/{self._capabilities[self._known(seat)]}"

    def handle(self, seat: str) -> str:
        """The secret with which another trainer plays this seat alone: see `Connection.seat`."""
        return self._handles[self._known(seat)]

    def step(self, seat: str, tool: str, arguments: JsonObject | None = None) -> Step:
        """Calls a tool as a seat. `Step.seats` says what the step meant to the others.

        After an error with code `connection-failed`, call it again with the same tool and arguments, as
        `Episode.step`. Raises `not-your-turn` if the seat may not act, which counts nothing, and `not-playing` after
        the end.
        """
        seq = self._seqs[self._known(seat)]
        if seat not in self.unanswered:
            self._check_playing()
        repeated = seat in self.unanswered
        self.unanswered.add(seat)
        try:
            step = play_step(
                self._ask,
                self.info,
                tool,
                arguments,
                session=self._session,
                seat=seat,
                seq=seq,
                meta=self._meta(),
            )
        except EpisodicError as error:
            if error.code != "connection-failed" and not repeated:
                self.unanswered.discard(seat)
            raise
        self.unanswered.discard(seat)
        with self._lock:
            self._seqs[seat] = step.seq
            self._account(seat, step)
        return step

    def turn(self, seat: str, wait: float = 0.0) -> Turn:
        """Waits up to `wait` seconds (at most 60) until a seat may act or its episode is over. Changes nothing.

        For a seat that somebody else plays, at `session_url` or by `handle`.
        """
        turn = read_turn(self._ask, self.info, self._session, self._known(seat), wait)
        self._noted(seat, turn)
        return turn

    def leave(self, seat: str) -> Turn:
        """Says that the player of a seat has left. The rules decide what that means.

        Raises `not-your-turn` until it is the turn of the seat, and `invalid-params` if the rules do not say: count
        the episode as failed then, and close it.
        """
        turn = leave_seat(self._ask, self.info, self._session, self._known(seat))
        self._noted(seat, turn)
        return turn

    def legal(self, seat: str) -> JsonObject:
        """Returns the actions of a seat that the rules accept now: by tool, a JSON Schema. None out of turn."""
        result: dict[str, JsonObject] = self._ask("environment/legal", {**self._named(), "seat": self._known(seat)})
        return result["tools"]

    def played(self, after: int = 0, wait: float = 0.0) -> Played:
        """Returns the steps of all seats after revision `after`, by any player.

        Waits up to `wait` seconds for the first one. Before `close` only.
        """
        return read_played(self._ask, self.info, self._session, after, wait)

    def catch_up(self) -> tuple[PlayedStep, ...]:
        """Returns the steps that were played by others since the last call of this, and counts them as own ones.

        Those are steps of agents, of other trainers, and of the server for a seat that did not act in its turn.
        """
        steps = self.played(self._logged).steps
        with self._lock:
            others = tuple(played for played in steps if not self._is_own(played))
            for played in others:
                self._seqs[played.seat] = max(self._seqs[played.seat], played.step.seq)
                self._account(played.seat, played.step)
            if steps:
                self._logged = steps[-1].step.report["revision"]
        return others

    def fork(self, count: int = 1, *, at: int | None = None, seed: str | None = None) -> list[Game]:
        """Returns games that continue from here, or from step `at`, and share nothing with this one.

        Without `seed`, the same actions get the same answers; with it, each fork has random streams of its own.
        """
        forks = self._opened_forks(count, at, seed)
        return [Game(self._call, self.info, opened, self._agent_url) for opened in forks]

    def __enter__(self) -> Game:
        return self

    def _known(self, seat: str) -> str:
        if seat not in self._seqs:
            message = f'There is no seat "{seat}" in this episode. There is: {", ".join(self.seats)}.'
            raise EpisodicError("option-invalid", message, retryable=False)
        return seat

    def _is_own(self, played: PlayedStep) -> bool:
        """Whether this object has played a step, or will get its answer when it asks for it again."""
        pending = played.seat in self.unanswered and played.step.seq > self._seqs[played.seat]
        return played.step.report["revision"] in self._own or (pending and played.tool != ABSENT)

    def _account(self, seat: str, step: Step) -> None:
        assert step.seats is not None
        self._own.add(step.report["revision"])
        self.totals[seat] += step.reward
        for other, terms in step.seats.terms.items():
            self.totals[other] += total_of(terms)
        self.ends |= step.seats.ends
        self.successes |= step.seats.successes
        self.end = end_of(step.report.get("end")) or self.end
        self._advance(step.report["revision"], step.seats.turn)

    def _noted(self, seat: str, turn: Turn) -> None:
        with self._lock:
            # A step whose answer was lost is asked for again with its own number.
            if seat not in self.unanswered:
                self._seqs[seat] = turn.seq
            if turn.end is not None:
                self.ends[seat] = turn.end
            if turn.success is not None:
                self.successes[seat] = turn.success
            self._advance(turn.revision, turn.turn)

    def _advance(self, revision: int, turn: tuple[str, ...]) -> None:
        # Answers of calls for different seats may come in another order than that of their commits.
        if revision < self._revision:
            return
        self._revision, self.in_turn = revision, turn
        if not turn and self._over is None:
            self._over = "The episode is over"
