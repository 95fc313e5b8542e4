"""How an episode ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .errors import malformed


@dataclass(frozen=True)
class End:
    """How an episode ended. A failure is neither: it is an `EpisodicError`."""

    kind: Literal["terminated", "truncated"]
    """`terminated`: the rules say that it is over. `truncated`: a budget ran out, so a learner bootstraps."""
    reason: str
    """The environment's own word, or `step-limit`, `time-limit`, `turn-limit` or `closed` if truncated."""


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
