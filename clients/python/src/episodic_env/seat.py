"""One seat of a game that somebody else has opened."""

from __future__ import annotations

from .end import End
from .environment_info import EnvironmentInfo
from .errors import EpisodicError
from .json_types import Json, JsonObject
from .observation import Observation
from .open_session import Call
from .play_step import play_step
from .step import Step
from .terms import total_of
from .turn import Turn, leave_seat, read_turn


class Seat:
    """One seat, played by its handle, without what other seats see and earn. Make one call at a time.

    The opener of the session closes it.
    """

    def __init__(self, call: Call, info: EnvironmentInfo, name: str, handle: str) -> None:
        self.info = info
        self.name = name
        self._call = call
        self._handle = handle
        self._earned = 0.0
        self._due = 0.0
        self.end: End | None = None
        self.success: bool | None = None
        """Whether the seat succeeded, at its end; None if the environment defines no success."""
        self.observation: Observation
        """The latest observation."""
        self._seq = 0
        self._unanswered = False
        self.turn()

    def __repr__(self) -> str:
        over = f", {self.end.reason}" if self.end else ""
        return f"<Seat {self.name} of {self.info.name}, {self._seq} steps, return {self.total:g}{over}>"

    @property
    def seq(self) -> int:
        """How many steps of the seat are answered."""
        return self._seq

    @property
    def total(self) -> float:
        """The return so far: of the steps that this object has played, and of what others did before each and since.

        It is complete when `end` is known: after the end, `turn` reads what others did since the last own step.
        """
        return self._earned + self._due

    def step(self, tool: str, arguments: JsonObject | None = None) -> Step:
        """Calls a tool as the seat. `Step.seats` has what it earned by the steps of others before.

        After an error with code `connection-failed`, call it again with the same tool and arguments, as
        `Episode.step`. Raises `not-your-turn` if the seat may not act, which counts nothing, and `not-playing` after
        the end.
        """
        if self.end is not None and not self._unanswered:
            message = f"The episode is over for {self.name} ({self.end.reason}), so no step follows."
            raise EpisodicError("not-playing", message, retryable=False)
        repeated, self._unanswered = self._unanswered, True
        try:
            step = play_step(self._ask, self.info, tool, arguments, session=self._handle, seat=self.name, seq=self._seq)
        except EpisodicError as error:
            self._unanswered = error.code == "connection-failed" or repeated
            raise
        self._unanswered = False
        assert step.seats is not None
        self._seq = step.seq
        self._earned += total_of(step.seats.due) + step.reward
        self._due = 0.0
        self.observation = step.observation
        self.end = step.end
        self.success = step.success
        return step

    def turn(self, wait: float = 0.0) -> Turn:
        """Waits up to `wait` seconds (at most 60) until the seat may act or its episode is over. Changes nothing."""
        return self._noted(read_turn(self._ask, self.info, self._handle, self.name, wait))

    def leave(self) -> Turn:
        """Says that the player has left. The rules decide what that means. Raises as `Game.leave`."""
        return self._noted(leave_seat(self._ask, self.info, self._handle, self.name))

    def legal(self) -> JsonObject:
        """Returns the actions that the rules accept now: by tool, a JSON Schema. None out of turn."""
        result: dict[str, JsonObject] = self._ask("environment/legal", {"session": self._handle, "seat": self.name})
        return result["tools"]

    def _noted(self, turn: Turn) -> Turn:
        # A step whose answer was lost is asked for again with its own number.
        if not self._unanswered:
            self._seq = turn.seq
        self._due = turn.reward
        self.observation = turn.observation
        self.end = turn.end
        self.success = turn.success
        return turn

    def _ask(self, method: str, params: JsonObject) -> Json:
        return self._call(method, params, True)
