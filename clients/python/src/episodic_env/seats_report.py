"""What a step means to the seats of a game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .end import End, end_of
from .environment_info import EnvironmentInfo
from .errors import malformed
from .observation import Observation, observation_of
from .terms import Terms, due_of, terms_of


@dataclass(frozen=True)
class SeatsReport:
    """The part of a step about seats. What others do after the step is not part of it: see `Game.turn`."""

    turn: tuple[str, ...]
    """The seats that may act now; empty once the episode is over."""
    terms: Mapping[str, Terms]
    """The raw reward of each other seat for this step."""
    ends: Mapping[str, End]
    """How the episode ended for the seats that it ended for by this step, that of the step included."""
    successes: Mapping[str, bool]
    """Whether each of those succeeded, if the environment judges success."""
    views: Mapping[str, Observation]
    """What each other seat sees now, if it may act now or its episode ended by this step."""
    due: Terms
    """The raw reward that the seat earned by the steps of others since its own last step; terms of 0 are left out."""
    messages: tuple[str, ...]
    """Texts for the seat since its own last step, oldest first."""
    sent: Mapping[str, tuple[str, ...]]
    """Texts for the seats by this step."""
    sealed: bool
    """Whether the move is sealed, and is played when every seat in turn has moved."""


def seats_report_of(info: EnvironmentInfo, value: Any) -> SeatsReport:
    """Reads the part of a report about seats. Raises `reply-malformed`."""
    try:
        ends = {seat: end_of(end) for seat, end in value.get("ends", {}).items()}
        return SeatsReport(
            turn=tuple(value["turn"]),
            terms={seat: terms_of(info, terms) for seat, terms in value.get("terms", {}).items()},
            ends={seat: end for seat, end in ends.items() if end is not None},
            successes=dict(value.get("successes", {})),
            views={seat: observation_of(view) for seat, view in value["views"].items()},
            due=due_of(info, value.get("due")),
            messages=tuple(value.get("messages", ())),
            sent={seat: tuple(texts) for seat, texts in value.get("sent", {}).items()},
            sealed=value.get("sealed", False),
        )
    except (KeyError, TypeError, AttributeError) as cause:
        raise malformed(f"The report of a step has no valid part about seats: {cause!r}.") from cause
