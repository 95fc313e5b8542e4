"""The step log of a session."""

from __future__ import annotations

import json
from dataclasses import dataclass

from .end import End, end_of
from .environment_info import EnvironmentInfo
from .errors import malformed
from .json_types import JsonObject
from .notebook import Cells, html_table
from .observation import observation_of
from .play_step import Ask
from .step import Step, step_of
from .terms import Terms

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
    summed: Terms
    """The sum of each raw term over the steps, in the order of the terms."""

    def __repr__(self) -> str:
        over = f", {self.end.kind} as {self.end.reason}" if self.end else ""
        return f"<Played {len(self.steps)} steps, return {self.total:g}{over}>"

    def _repr_html_(self) -> str:
        rows: list[Cells] = [
            (
                played.step.seq,
                f"{played.tool} {json.dumps(played.arguments, ensure_ascii=False)}",
                played.step.observation.text,
                *played.step.terms.values(),
                played.step.reward,
            )
            for played in self.steps
        ]
        return html_table(("step", "call", "observation", *self.summed, "reward"), rows, repr(self))

    @property
    def total(self) -> float:
        """The return of the steps: the sum of their rewards, added in their order."""
        total = 0.0
        for played in self.steps:
            total += played.step.reward
        return total

    @property
    def success(self) -> bool | None:
        """Whether the episode succeeded, as its last step says; None if no step says so."""
        said = [played.step.success for played in self.steps if played.step.success is not None]
        return said[-1] if said else None


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
            return Played(tuple(steps), end_of(page.get("end")), _summed(info, steps))
        wait = 0.0


def with_left(info: EnvironmentInfo, played: Played, left: Step | None) -> Played:
    """Returns what was played, with the step in which the world has judged what was left."""
    if left is None:
        return played
    steps = [*played.steps, PlayedStep(ABSENT, {"cause": "left"}, left)]
    return Played(tuple(steps), left.end, _summed(info, steps))


def _summed(info: EnvironmentInfo, steps: list[PlayedStep]) -> Terms:
    summed = dict.fromkeys(info.terms, 0.0)
    for played in steps:
        for name, term in played.step.terms.items():
            summed[name] += term
    return summed
