"""The advantages of the steps of a group, from the states that its rollouts share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import accumulate
from operator import add
from typing import Any, Literal, NamedTuple, TypeVar

from .canonical_json import canonical_json
from .errors import EpisodicError

__all__ = ["GroupAdvantages", "Rollout", "RolloutStep", "StepCredit", "advantages"]


class RolloutStep(NamedTuple):
    """One step: an action as JSON, its reward, and the state after it, as `Step.state_hash`, or None if not known.

    `calls` is how many steps of the environment it stands for. `sample` names it among the steps of its group: where
    forked rollouts share it, it is one step.
    """

    action: Any
    reward: float
    state_hash: str | None
    calls: int = 1
    sample: str | None = None


class Rollout(NamedTuple):
    """One rollout of a task. `start` names its first state, the same for the same parameters and seed."""

    steps: Sequence[RolloutStep]
    start: str = ""


class StepCredit(NamedTuple):
    """What a step was worth.

    `node` is the state before it, in which `visits` steps of the group were taken; `value` is the mean of what
    followed there, and `after` its reward with the mean of what followed where it led. `state` is what the states say
    of it, and `advantage` the weighted sum of that and the advantage of its episode.
    """

    node: str
    visits: int
    value: float
    after: float
    state: float
    advantage: float


class GroupAdvantages(NamedTuple):
    """The credit of the steps of each rollout, and their returns.

    There are `steps` different steps, of which `shared` were taken, after the start, in a state in which another one
    was taken too.
    """

    rollouts: list[list[StepCredit]]
    returns: list[float]
    steps: int
    shared: int


class _Visit(NamedTuple):
    rollout: int
    at: int
    node: str
    taken: str
    next: str | None
    reward: float
    decay: float
    to_go: float
    step: Any


def advantages(
    rollouts: Sequence[Rollout],
    *,
    form: Literal["state", "gigpo", "rtmc"] = "state",
    episode_weight: float | None = None,
    state_weight: float = 1.0,
    discount: float = 1.0,
    time_left: bool = False,
    deviation: bool = False,
) -> GroupAdvantages:
    """Returns the advantages of the steps of rollouts of one task: those taken in the same state form a node.

    The advantage of a step is `episode_weight` (1, and 0 for `rtmc`) times that of its episode, plus `state_weight`
    times A. With `state`, A is r + discount V(s') - V(s), where V is the mean return-to-go from the first visit of each
    rollout (Sutton & Barto, Reinforcement Learning, 2nd ed., 5.1 and 13.5). With `gigpo`, it is the return-to-go less
    the mean over all steps in the state (Feng et al. 2025, arXiv:2505.10978, section 4). With `rtmc`, it is
    Q(s, a) - V(s), by first visits (Wang et al. 2026, arXiv:2604.11037, without its prior).

    `time_left` keeps states apart by the number of calls before them; `deviation` divides by standard deviations. The
    order of rollouts changes no bit, and `@episodic/env/advantages` returns the same bits.

    Raises `option-invalid` for a weight or a reward that is not finite, and a discount outside of 0 to 1.
    """
    if episode_weight is None:
        episode_weight = 0.0 if form == "rtmc" else 1.0
    if not (0 <= discount <= 1 and math.isfinite(episode_weight) and math.isfinite(state_weight)):
        raise _invalid(f"Advantages need a discount from 0 to 1 and finite weights; got {discount}.")
    ways = [_visits(number, rollout, discount, time_left) for number, rollout in enumerate(rollouts)]
    visits = [visit for way in ways for visit in way]
    nodes = _grouped(visits, lambda visit: visit.node)
    value = {node: _mean(_first(met)) for node, met in nodes.items()}
    count = {node: len({visit.step for visit in met}) for node, met in nodes.items()}
    middle = {node: _mean(visit.to_go for visit in met) for node, met in nodes.items()}
    taken = {key: _mean(_first(met)) for key, met in _grouped(visits, lambda visit: visit.taken).items()}
    spread = {node: _deviation([visit.to_go for visit in met], middle[node]) for node, met in nodes.items()}
    returns = [way[0].to_go if way else 0.0 for way in ways]
    mean = _mean(returns)
    scale = _deviation(returns, mean) if deviation else 1.0
    episodes = [_scaled(total - mean, scale) for total in returns]

    def after(visit: _Visit) -> float:
        return visit.reward + visit.decay * (0.0 if visit.next is None else value[visit.next])

    def state(visit: _Visit) -> float:
        if form == "state":
            return _scaled(after(visit) - value[visit.node], scale)
        if form == "rtmc":
            return _scaled(taken[visit.taken] - value[visit.node], scale)
        return _scaled(visit.to_go - middle[visit.node], spread[visit.node] if deviation else 1.0)

    samples = _grouped(visits, lambda visit: visit.step)
    worth: dict[Any, tuple[float, float]] = {}
    for step, same in samples.items():
        own = _mean(map(state, same))
        whole = _mean(episodes[visit.rollout] for visit in same)
        worth[step] = (own, episode_weight * whole + state_weight * own)
    found = [[StepCredit(v.node, count[v.node], value[v.node], after(v), *worth[v.step]) for v in way] for way in ways]
    shared = sum(same[0].at > 0 and count[same[0].node] > 1 for same in samples.values())
    return GroupAdvantages(found, returns, len(samples), shared)


def _visits(number: int, rollout: Rollout, discount: float, time_left: bool) -> list[_Visit]:
    nodes = [f"start {rollout.start}"]
    for at, step in enumerate(rollout.steps):
        nodes.append(step.state_hash if step.state_hash is not None else f"unknown {number} {at + 1}")
    if time_left:
        before = accumulate((step.calls for step in rollout.steps), initial=0)
        nodes = [f"{node} after {calls}" for calls, node in zip(before, nodes, strict=True)]
    visits: list[_Visit] = []
    to_go = 0.0
    for at in reversed(range(len(rollout.steps))):
        step, node = rollout.steps[at], nodes[at]
        if not math.isfinite(step.reward):
            raise _invalid(f"Step {at} of rollout {number} has the reward {step.reward}.")
        reward, decay = float(step.reward), 1.0
        for _ in range(step.calls):
            decay *= discount
        to_go = reward + decay * to_go
        following = nodes[at + 1] if at + 1 < len(rollout.steps) else None
        key = f"{node} {canonical_json(step.action)}"
        visits.append(_Visit(number, at, node, key, following, reward, decay, to_go, step.sample or (number, at)))
    return visits[::-1]


Key = TypeVar("Key")


def _grouped(visits: Sequence[_Visit], key: Callable[[_Visit], Key]) -> dict[Key, list[_Visit]]:
    groups: dict[Key, list[_Visit]] = {}
    for visit in visits:
        groups.setdefault(key(visit), []).append(visit)
    return groups


def _first(visits: Sequence[_Visit]) -> Iterable[float]:
    return {visit.rollout: visit.to_go for visit in reversed(visits)}.values()


def _mean(values: Iterable[float]) -> float:
    known = sorted(values)
    # `sum` of Python 3.12 rounds otherwise.
    return reduce(add, known, 0.0) / len(known) if known else 0.0


def _deviation(values: Sequence[float], mean: float) -> float:
    spread = math.sqrt(_mean((value - mean) * (value - mean) for value in values))
    return 0.0 if spread <= 1e-12 * max(map(abs, values), default=0.0) else spread


def _scaled(difference: float, scale: float) -> float:
    return 0.0 if scale == 0 else difference / scale


def _invalid(message: str) -> EpisodicError:
    return EpisodicError("option-invalid", message, retryable=False)
