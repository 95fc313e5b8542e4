"""What a step reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

from .end import End, end_of
from .environment_info import EnvironmentInfo
from .errors import malformed
from .json_types import JsonObject
from .notebook import Cells, html_table
from .observation import Observation
from .seats_report import SeatsReport, seats_report_of
from .terms import Terms, terms_of, total_of


@dataclass(frozen=True)
class Step:
    """One answered step."""

    observation: Observation
    terms: Terms
    """The raw reward of each named term, for this step alone."""
    reward: float
    """The sum of the terms, without weights and shaping."""
    end: End | None
    """None while the episode goes on, in a game for the seat of the step."""
    refused: Literal["rules", "arguments", "tool", "time", "ended"] | None
    """Why the step changed nothing. It counts all the same, with its reward."""
    seq: int
    """How many steps are answered, this one included."""
    potential: float | None
    """The potential after the step, in the unit of reward; None if the environment defines none."""
    success: bool | None
    """Whether the episode succeeded, at its end. None before, or if the environment defines no success."""
    state_hash: str
    replayed: bool
    """Whether this is the stored answer of a call whose first answer was lost."""
    report: JsonObject
    """All that the server reports, such as outside `events`."""
    seats: SeatsReport | None = None
    """What the step meant to the other seats; None if the environment has one seat."""

    def __repr__(self) -> str:
        refused = f", refused {self.refused}" if self.refused else ""
        end = f", {self.end.kind} as {self.end.reason}" if self.end else ""
        [line, *_] = self.observation.text.split("\n")
        return f"<Step {self.seq}: reward {self.reward:g}{refused}{end}, {line!r}>"

    def _repr_html_(self) -> str:
        row: Cells = (self.observation.text, *self.terms.values(), self.reward)
        return html_table(("observation", *self.terms, "reward"), [row], repr(self))

    @property
    def verdicts(self) -> dict[str, bool]:
        """The further verdicts on the episode by their names, at its end. Empty before, and if there are none."""
        return cast("dict[str, bool]", self.report.get("verdicts", {}))

    @property
    def terminated(self) -> bool:
        """Whether the rules ended the episode."""
        return self.end is not None and self.end.kind == "terminated"

    @property
    def truncated(self) -> bool:
        """Whether a limit or a close ended the episode."""
        return self.end is not None and self.end.kind == "truncated"


def step_of(info: EnvironmentInfo, observation: Observation, report: Any, replayed: bool, seat: str) -> Step:
    """Reads the report of a step of a seat. Raises `reply-malformed`."""
    if not isinstance(report, dict):
        raise malformed("The server sent a step without its report.")
    terms = terms_of(info, report.get("terms"))
    seats = seats_report_of(info, report.get("seats")) if info.seats else None
    potential = report.get("potential")
    if (potential is not None) != info.potential:
        raise malformed("The server announced a potential and sent none, or sent one that it had not announced.")
    end = end_of(report.get("end"))
    if seats is not None:
        end = seats.ends.get(seat, end)
    success = report.get("success")
    if (success is not None) != (end is not None and info.success):
        raise malformed("The server announced that it judges success and sent none, or sent one unannounced.")
    if not isinstance(report.get("seq"), int) or not isinstance(report.get("stateHash"), str):
        raise malformed("The server sent a report without its step count or state hash.")
    return Step(
        observation=observation,
        terms=terms,
        reward=total_of(terms),
        end=end,
        refused=report.get("refused"),
        seq=report["seq"],
        potential=None if potential is None else float(potential),
        success=success,
        state_hash=report["stateHash"],
        replayed=replayed,
        report=report,
        seats=seats,
    )
