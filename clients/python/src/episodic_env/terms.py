"""Raw rewards by the names of their terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .environment_info import EnvironmentInfo
from .errors import malformed

Terms = Mapping[str, float]


def terms_of(info: EnvironmentInfo, raw: Any) -> dict[str, float]:
    """Reads the terms of one step. Raises `reply-malformed`, so that a missing reward is never counted as 0."""
    if not isinstance(raw, dict) or set(raw) != set(info.terms):
        given = list(raw) if isinstance(raw, dict) else raw
        raise malformed(f"The server announced the reward terms {list(info.terms)} and sent {given}.")
    return {name: _number(name, raw[name]) for name in info.terms}


def due_of(info: EnvironmentInfo, raw: Any) -> dict[str, float]:
    """Reads what a seat earned by the steps of others. Terms of 0 are left out. Raises `reply-malformed`."""
    given = {} if raw is None else raw
    if not isinstance(given, dict) or not set(given) <= set(info.terms):
        raise malformed(f"The server announced the reward terms {list(info.terms)}, and {raw} is due.")
    return {name: _number(name, given[name]) for name in info.terms if name in given}


def total_of(terms: Terms) -> float:
    """Returns the sum of the terms, in their order."""
    # Not `sum`, which rounds differently since Python 3.12: returns are the same bits as those of other clients.
    total = 0.0
    for value in terms.values():
        total += value
    return total


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise malformed(f"The reward term {name} is no number.")
    return float(value)
