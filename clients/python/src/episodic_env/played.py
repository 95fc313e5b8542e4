"""The step log of a session."""

from __future__ import annotations

from dataclasses import dataclass

from .end import End, end_of
from .environment_info import EnvironmentInfo
from .errors import malformed
from .json_types import JsonObject
from .observation import observation_of
from .play_step import Ask
from .step import Step, step_of

PAGE = 1000
ABSENT = "absent"
"""The tool of a step that the server takes for a seat that does not act in its turn."""


@dataclass(frozen=True)
class PlayedStep:
    """A step of a session as its log keeps it, by any player."""

    tool: str
    arguments: JsonObject
    step: Step
    seat: str = "agent"
    """The seat that played it."""


@dataclass(frozen=True)
class Played:
    """The steps of a session after a given one, and how the episode ended."""

    steps: tuple[PlayedStep, ...]
    end: End | None


def read_played(ask: Ask, info: EnvironmentInfo, session: str, after: int, wait: float) -> Played:
    """Returns the steps after revision `after`. Waits up to `wait` seconds for the first one."""
    steps: list[PlayedStep] = []
    while True:
        page = ask("environment/watch", {"session": session, "after": after, "limit": PAGE, "wait": wait})
        logged = page.get("steps") if isinstance(page, dict) else None
        if not isinstance(page, dict) or not isinstance(logged, list):
            raise malformed("The server sent no log of steps.")
        for entry in logged:
            action, report, seat = entry["action"], entry["report"], entry["seat"]
            step = step_of(info, observation_of(entry["observation"]), report, False, seat)
            steps.append(PlayedStep(action["tool"], action["arguments"], step, seat))
            after = report["revision"]
        if len(logged) < PAGE:
            return Played(tuple(steps), end_of(page.get("end")))
        wait = 0.0
