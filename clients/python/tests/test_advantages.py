"""Advantages from shared states: the same bits as in TypeScript, and as a reference that follows the definitions."""

from __future__ import annotations

import json
import random
import subprocess
from typing import Any, Literal, cast

import pytest
from serving import ROOT, node

from episodic_env import EpisodicError
from episodic_env.advantages import GroupAdvantages, Rollout, RolloutStep, advantages

PROGRAM = """
import { readFileSync } from 'node:fs'
import { advantages } from './src/advantages.ts'
const groups = JSON.parse(readFileSync(0, 'utf8'))
process.stdout.write(JSON.stringify(groups.map(({ rollouts, options }) => advantages(rollouts, options))))
"""
NAMES = {"episode_weight": "episodeWeight", "state_weight": "stateWeight", "time_left": "timeLeft"}
FORMS: tuple[Literal["state", "gigpo", "rtmc"], ...] = ("state", "gigpo", "rtmc")


def drawn(rng: random.Random) -> tuple[list[Rollout], dict[str, Any]]:
    """A group of forked and other rollouts over few states, and how it is credited."""
    group: list[Rollout] = []
    for number in range(rng.randint(0, 6)):
        parent = rng.choice(group) if group and rng.random() < 0.3 else None
        inherited = list(parent.steps[: rng.randint(0, len(parent.steps))]) if parent else []
        steps = inherited + [
            RolloutStep(
                {"tool": rng.choice("ab"), "arguments": {"x": rng.randint(0, 1)}},
                rng.choice([0.0, 1, rng.uniform(-1, 1)]),
                rng.choice(["s1", "s2", "s3", "s4", None]),
                rng.choice([1, 1, 2]),
                f"{number} {at}",
            )
            for at in range(rng.randint(0, 5))
        ]
        group.append(Rollout(steps, parent.start if parent else rng.choice(["", "other"])))
    weights = {"episode_weight": rng.choice([0.0, 0.3, 1.0]), "state_weight": rng.uniform(-1, 2)}
    flags = {"discount": rng.choice([1.0, 0.9]), "time_left": rng.random() < 0.3, "deviation": rng.random() < 0.5}
    return group, {"form": rng.choice(FORMS), **weights, **flags}


def in_typescript(groups: list[tuple[list[Rollout], dict[str, Any]]]) -> list[Any]:
    sent = []
    for group, options in groups:
        rollouts: list[dict[str, Any]] = [
            {"start": start, "steps": [s._asdict() for s in steps]} for steps, start in group
        ]
        for step in (step for rollout in rollouts for step in rollout["steps"]):
            step["stateHash"] = step.pop("state_hash")
            if step["sample"] is None:
                del step["sample"]
        sent.append({"rollouts": rollouts, "options": {NAMES.get(key, key): options[key] for key in options}})
    command = [node(), "--input-type=module", "-e", PROGRAM]
    folder = ROOT / "packages/env"
    run = subprocess.run(command, cwd=folder, input=json.dumps(sent), check=True, capture_output=True, text=True)
    return cast("list[Any]", json.loads(run.stdout))


def mean(values: list[float]) -> float:
    total = 0.0
    for value in sorted(values):
        total = total + value
    return total / len(values)


def reference(group: list[Rollout], at: int, i: int, options: dict[str, Any]) -> float:
    """The advantage of one step, each figure from its definition, without anything kept of another one."""
    ids = [(j, k) for j, rollout in enumerate(group) for k in range(len(rollout.steps))]

    def state(j: int, k: int) -> Any:
        rollout = group[j]
        known = ("start", rollout.start) if k == 0 else rollout.steps[k - 1].state_hash or ("unknown", j, k)
        return (known, sum(step.calls for step in rollout.steps[:k]) if options["time_left"] else None)

    def decay(j: int, k: int) -> float:
        product = 1.0
        for _ in range(group[j].steps[k].calls):
            product = product * options["discount"]
        return product

    def to_go(j: int, k: int) -> float:
        if k == len(group[j].steps):
            return 0.0
        return group[j].steps[k].reward + decay(j, k) * to_go(j, k + 1)

    def first(same: list[tuple[int, int]]) -> list[float]:
        return [to_go(j, min(k for other, k in same if other == j)) for j in sorted({j for j, _ in same})]

    def value(where: Any) -> float:
        return mean(first([(j, k) for j, k in ids if state(j, k) == where]))

    def spread(values: list[float]) -> float:
        middle = mean(values)
        found = mean([(each - middle) * (each - middle) for each in values]) ** 0.5
        return 0.0 if found <= 1e-12 * max(abs(each) for each in values) else found

    returns = [to_go(j, 0) for j in range(len(group))]
    scale = spread(returns) if options["deviation"] else 1.0

    def over(difference: float, by: float) -> float:
        return difference / by if by else 0.0

    def credit(j: int, k: int) -> float:
        here, step = state(j, k), group[j].steps[k]
        there = [(a, b) for a, b in ids if state(a, b) == here]
        if options["form"] == "gigpo":
            earned = [to_go(a, b) for a, b in there]
            return over(to_go(j, k) - mean(earned), spread(earned) if options["deviation"] else 1.0)
        if options["form"] == "rtmc":
            same = [(a, b) for a, b in there if group[a].steps[b].action == step.action]
            return over(mean(first(same)) - value(here), scale)
        after = value(state(j, k + 1)) if k + 1 < len(group[j].steps) else 0.0
        return over(step.reward + decay(j, k) * after - value(here), scale)

    sharing = [(j, k) for j, k in ids if group[j].steps[k].sample == group[i].steps[at].sample]
    episode = mean([over(returns[j] - mean(returns), scale) for j, _ in sharing])
    states = mean([credit(j, k) for j, k in sharing])
    return float(options["episode_weight"] * episode + options["state_weight"] * states)


def bits(found: GroupAdvantages) -> Any:
    rollouts = [
        {"return": total, "steps": [step._asdict() for step in steps]}
        for total, steps in zip(found.returns, found.rollouts, strict=True)
    ]
    return {"rollouts": rollouts, "steps": found.steps, "shared": found.shared}


def test_returns_the_bits_of_typescript_and_of_the_reference_for_1000_random_groups() -> None:
    rng = random.Random("groups")
    groups = [drawn(rng) for _ in range(1_000)]
    shared = 0
    for (group, options), elsewhere in zip(groups, in_typescript(groups), strict=True):
        found = advantages(group, **options)
        for rollout in elsewhere["rollouts"]:
            del rollout["advantage"]
        assert bits(found) == elsewhere
        for i, rollout in enumerate(found.rollouts):
            for at, step in enumerate(rollout):
                assert step.advantage == reference(group, at, i, options)
        turned = advantages(group[::-1], **options)
        known = [[step.advantage for step in rollout] for rollout in found.rollouts]
        assert [[step.advantage for step in rollout] for rollout in turned.rollouts[::-1]] == known
        shared += found.shared
    assert shared > 1_000


def test_refuses_what_is_no_number() -> None:
    with pytest.raises(EpisodicError, match="has the reward nan"):
        advantages([Rollout([RolloutStep({}, float("nan"), None)])])
    with pytest.raises(EpisodicError, match="a discount from 0 to 1"):
        advantages([], discount=2)
