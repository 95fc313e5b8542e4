"""How much better than its group's each call of an episode was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from rollouts import Outcome, Rollout

DISCOUNT = 0.9
"""What a reward is worth one call earlier."""
INVALID_COST = 0.2
"""What an invalid call costs beside its reward: a world may charge little, and then nothing keeps the format."""
REFUSED_COST = 0.05
"""What a valid call costs that the rules refuse. Nothing changes in the world, and the next call is often the same."""


def values_after(outcomes: Sequence[Outcome]) -> list[float]:
    """Returns for each call the discounted sum of what followed: rewards, shaped with the potential, and costs.

    Shaping by a potential does not change which policy is best (Ng, Harada and Russell, 1999): what it adds sums up to
    the potential at the start. The potential at the end counts as 0.
    """
    values: list[float] = []
    value, potential = 0.0, 0.0
    for outcome in reversed(outcomes):
        shaping = DISCOUNT * potential - outcome.potential
        costs = INVALID_COST * outcome.invalid + REFUSED_COST * outcome.refused
        value = outcome.reward + shaping - costs + DISCOUNT * value
        values.append(value)
        potential = outcome.potential
    return values[::-1]


def advantages(rollouts: Sequence[Rollout]) -> list[tuple[Rollout, list[float]]]:
    """Returns each episode with an advantage for each of its calls.

    It is what followed, less the mean of what followed the calls with the same number in its group: the episodes of
    one seed. A call that no other member has is compared with those of all groups. A failed episode has no return, and
    is in no mean. All advantages are divided by their deviation in the batch, not in their group: there, luck in an
    easy group would count as much as success in another one.
    """
    played = [rollout for rollout in rollouts if rollout.total is not None]
    values = [values_after(rollout.outcomes) for rollout in played]
    of_group: dict[tuple[str, int], list[float]] = defaultdict(list)
    of_all: dict[int, list[float]] = defaultdict(list)
    for rollout, of_rollout in zip(played, values, strict=True):
        for turn, value in enumerate(of_rollout):
            of_group[rollout.seed, turn].append(value)
            of_all[turn].append(value)

    def baseline(seed: str, turn: int) -> float:
        group = of_group[seed, turn]
        return float(np.mean(group if len(group) > 1 else of_all[turn]))

    found = [
        [value - baseline(rollout.seed, turn) for turn, value in enumerate(of_rollout)]
        for rollout, of_rollout in zip(played, values, strict=True)
    ]
    deviation = np.std([value for of_rollout in found for value in of_rollout]) if found else 0.0
    scale = 1.0 / max(float(deviation), 1e-6)
    return [
        (rollout, [scale * value for value in of_rollout]) for rollout, of_rollout in zip(played, found, strict=True)
    ]
