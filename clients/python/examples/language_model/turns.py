"""Turns of an episode, and the sequences to learn from that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """One call, with the tokens that it was drawn after."""

    context: tuple[int, ...]
    call: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    """Of the tokens of the call, when they were drawn. Zeros where nobody drew them."""


@dataclass(frozen=True)
class TokenSequence:
    """Tokens, of which those of calls are learned."""

    tokens: tuple[int, ...]
    calls: tuple[int, ...]
    """Which call each token is of: 1 for the first in this sequence, and 0 for what is not learned."""
    log_probabilities: tuple[float, ...]
    """As in `Turn`. Zeros for tokens that are not learned."""


def sequences_of(turns: Sequence[Turn]) -> list[TokenSequence]:
    """Returns the turns of an episode as few sequences: one turn joins that before if its context continues it."""
    joined: list[TokenSequence] = []
    for turn in turns:
        continues = joined and turn.context[: len(joined[-1].tokens)] == joined[-1].tokens
        known = joined.pop() if continues else TokenSequence((), (), ())
        added = turn.context[len(known.tokens) :]
        number = max(known.calls, default=0) + 1
        joined.append(
            TokenSequence(
                known.tokens + added + turn.call,
                known.calls + (0,) * len(added) + (number,) * len(turn.call),
                known.log_probabilities + (0.0,) * len(added) + turn.log_probabilities,
            )
        )
    return joined
