"""What one seat knows of a game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .end import End, end_of
from .environment_info import EnvironmentInfo
from .errors import EpisodicError, malformed
from .observation import Observation, observation_of
from .play_step import Ask
from .terms import Terms, due_of, total_of

AFTER_LEAVING = frozenset({"not-your-turn", "episode-ended"})
"""Codes of a repeated `environment/leave` whose first answer was lost."""


@dataclass(frozen=True)
class Turn:
    """What one seat knows since its own last step. Reading it changes nothing."""

    mine: bool
    """Whether the seat may act now."""
    turn: tuple[str, ...]
    """The seats that may act now, as far as the asker may know; empty once the episode is over."""
    observation: Observation
    messages: tuple[str, ...]
    """Texts for the seat since its own last step, oldest first."""
    due: Terms
    """The raw reward that the seat earned by the steps of others since its own last step; terms of 0 are left out."""
    reward: float
    """The sum of `due`."""
    potential: float | None
    end: End | None
    """How the episode ended for this seat; None while it goes on."""
    success: bool | None
    """Whether the seat succeeded, at its end. None before, or if the environment defines no success."""
    seq: int
    """How many steps of the seat are answered."""
    revision: int
    """How many commits of any kind the session has; at a handle of one seat, how many steps of that are answered."""


def read_turn(ask: Ask, info: EnvironmentInfo, session: str, seat: str, wait: float = 0.0) -> Turn:
    """Waits up to `wait` seconds (at most 60) until a seat may act or its episode is over, and says what it knows."""
    return _turn_of(info, ask("environment/turn", {"session": session, "seat": seat, "wait": wait}))


def leave_seat(ask: Ask, info: EnvironmentInfo, session: str, seat: str) -> Turn:
    """Says that the player of a seat has left, and returns what the seat knows then. Raises `not-your-turn`."""
    try:
        return _turn_of(info, ask("environment/leave", {"session": session, "seat": seat}))
    except EpisodicError as error:
        if error.code not in AFTER_LEAVING:
            raise
        left = read_turn(ask, info, session, seat)
        if left.end is None:
            raise
        return left


def _turn_of(info: EnvironmentInfo, value: Any) -> Turn:
    try:
        due = due_of(info, value["due"])
        return Turn(
            mine=value["mine"],
            turn=tuple(value["turn"]),
            observation=observation_of(value["observation"]),
            messages=tuple(value["messages"]),
            due=due,
            reward=total_of(due),
            potential=value["potential"],
            end=end_of(value["end"]),
            success=value.get("success"),
            seq=value["seq"],
            revision=value["revision"],
        )
    except (KeyError, TypeError) as cause:
        raise malformed(f"The server sent a turn without {cause}.") from cause
