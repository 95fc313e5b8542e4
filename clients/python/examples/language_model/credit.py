"""How much better than its group's each call of an episode was: the methods of credit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from rollouts import Outcome, Rollout

from episodic_env.advantages import Rollout as GroupRollout
from episodic_env.advantages import RolloutStep, advantages

DISCOUNT = 0.9
"""What a reward is worth one call earlier."""
INVALID_COST = 0.2
"""What an invalid call costs beside its reward: a world may charge little, and then nothing keeps the format."""
REFUSED_COST = 0.05
"""What a valid call costs that the rules refuse. Nothing changes in the world, and the next call is often the same."""

Credited: TypeAlias = list[tuple[Rollout, list[float]]]
"""Episodes, with an advantage for each of their calls."""


def values_after(outcomes: Sequence[Outcome]) -> list[float]:
    """Returns for each call the discounted sum of what followed: rewards, shaped with the potential, and costs.

    Shaping by a potential does not change which policy is best (Ng, Harada and Russell, 1999): what it adds sums up to
    the potential at the start. The potential at the end counts as 0.
    """
    values: list[float] = []
    value, potential = 0.0, 0.0
    for outcome in reversed(outcomes):
        shaping = DISCOUNT * potential - outcome.potential
        value = earned(outcome) + shaping + DISCOUNT * value
        values.append(value)
        potential = outcome.potential
    return values[::-1]


def earned(outcome: Outcome) -> float:
    """Returns the reward of a call, less its costs."""
    return outcome.reward - INVALID_COST * outcome.invalid - REFUSED_COST * outcome.refused


def by_turn(rollouts: Sequence[Rollout]) -> Credited:
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
    return _scaled(played, found)


def by_group(rollouts: Sequence[Rollout], episode_weight: float = 1.0, state_weight: float = 0.0) -> Credited:
    """Returns each episode with the advantages that `episodic_env.advantages` gives its calls in its group.

    By default one number for all calls of an episode, as GRPO has it: its return less the mean of its group. A call
    that leaves of a tree share has the mean of theirs. `state_weight` adds what the states say that the group shares.
    """
    groups: dict[str, list[Rollout]] = defaultdict(list)
    for rollout in rollouts:
        if rollout.total is not None:
            groups[rollout.seed].append(rollout)
    found = []
    for group in groups.values():
        steps = [
            [
                RolloutStep(turn.call, earned(outcome), outcome.state_hash, sample=sample)
                for turn, outcome, sample in zip(rollout.turns, rollout.outcomes, rollout.samples, strict=True)
            ]
            for rollout in group
        ]
        of_group = advantages(
            [GroupRollout(each) for each in steps],
            episode_weight=episode_weight,
            state_weight=state_weight,
            discount=DISCOUNT,
        )
        found += [[step.advantage for step in credited] for credited in of_group.rollouts]
    return _scaled([rollout for group in groups.values() for rollout in group], found)


class Method(NamedTuple):
    """How episodes of a group are played and credited."""

    credit: Callable[[Sequence[Rollout]], Credited]
    forks: tuple[int, ...] = ()
    """After how many turns each episode becomes two leaves of a tree."""


METHODS = {
    "turns": Method(by_turn),
    "grpo": Method(by_group),
    "trees": Method(by_group, forks=(1, 3, 5)),
    "states": Method(partial(by_group, state_weight=1.0)),
}


def _scaled(rollouts: Sequence[Rollout], found: Sequence[list[float]]) -> Credited:
    learned = [value for rollout, values in zip(rollouts, found, strict=True) for value in values[rollout.shared :]]
    scale = 1.0 / max(float(np.std(learned)) if learned else 0.0, 1e-6)
    return [(rollout, [scale * value for value in values]) for rollout, values in zip(rollouts, found, strict=True)]
