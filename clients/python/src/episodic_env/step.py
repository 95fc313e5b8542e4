"""What a player observes and what a step reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .environment_info import EnvironmentInfo
from .errors import malformed
from .json_types import JsonObject


@dataclass(frozen=True)
class Observation:
    """What the player sees: a text, and the same as data if the environment provides it."""

    text: str
    structured: JsonObject | None


@dataclass(frozen=True)
class End:
    """How an episode ended. A failure is neither: it is an `EpisodicError`."""

    kind: Literal["terminated", "truncated"]
    """`terminated`: the rules say that it is over. `truncated`: a budget ran out, so a learner bootstraps."""
    reason: str
    """The environment's own word, or `step-limit`, `time-limit` or `closed` if truncated."""


@dataclass(frozen=True)
class Step:
    """One answered step."""

    observation: Observation
    terms: Mapping[str, float]
    """The raw reward of each named term, for this step alone."""
    reward: float
    """The sum of the terms, without weights and shaping."""
    end: End | None
    """None while the episode goes on."""
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

    @property
    def terminated(self) -> bool:
        """Whether the rules ended the episode."""
        return self.end is not None and self.end.kind == "terminated"

    @property
    def truncated(self) -> bool:
        """Whether a limit or a close ended the episode."""
        return self.end is not None and self.end.kind == "truncated"


def end_of(value: Any) -> End | None:
    """Reads an end. Raises `reply-malformed`."""
    if value is None:
        return None
    if (
        not isinstance(value, dict)
        or value.get("kind") not in ("terminated", "truncated")
        or not isinstance(value.get("reason"), str)
    ):
        raise malformed("The server sent an end that is none.")
    return End(value["kind"], value["reason"])


def step_of(info: EnvironmentInfo, observation: Observation, report: Any, replayed: bool) -> Step:
    """Reads a report. Raises `reply-malformed`, so that a missing reward is an error and never counts as 0."""
    if not isinstance(report, dict) or not isinstance(report.get("terms"), dict):
        raise malformed("The server sent a step without its report.")
    raw = report["terms"]
    if set(raw) != set(info.terms):
        raise malformed(f"The server announced the reward terms {list(info.terms)} and sent {list(raw)}.")
    terms: dict[str, float] = {}
    # Not `sum`, which rounds differently since Python 3.12: returns are the same bits as those of other clients.
    total = 0.0
    for name in info.terms:
        value = raw[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise malformed(f"The reward term {name} is no number.")
        terms[name] = float(value)
        total += terms[name]
    potential = report.get("potential")
    if (potential is not None) != info.potential:
        raise malformed("The server announced a potential and sent none, or sent one that it had not announced.")
    end = end_of(report.get("end"))
    success = report.get("success")
    if (success is not None) != (end is not None and info.success):
        raise malformed("The server announced that it judges success and sent none, or sent one unannounced.")
    if not isinstance(report.get("seq"), int) or not isinstance(report.get("stateHash"), str):
        raise malformed("The server sent a report without its step count or state hash.")
    return Step(
        observation=observation,
        terms=terms,
        reward=total,
        end=end,
        refused=report.get("refused"),
        seq=report["seq"],
        potential=None if potential is None else float(potential),
        success=success,
        state_hash=report["stateHash"],
        replayed=replayed,
        report=report,
    )


def observation_of(value: Any) -> Observation:
    """Reads `{text, structured}`. Raises `reply-malformed`."""
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise malformed("The server sent an observation without text.")
    return Observation(value["text"], value.get("structured"))


def answered_observation(result: JsonObject) -> Observation:
    """Reads the observation in a tool's answer: its texts, joined by newlines, and its structured content."""
    content = result.get("content")
    if not isinstance(content, list):
        raise malformed("The answer of a tool has no content.")
    texts = [block["text"] for block in content if block.get("type") == "text" and "text" in block]
    return Observation("\n".join(texts), result.get("structuredContent"))
