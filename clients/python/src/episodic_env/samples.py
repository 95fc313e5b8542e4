"""Batches of `Rollouts` in the types of trainers: TRL, verl, SkyRL and prime-rl. Needs none of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any


@dataclass(frozen=True)
class Sample:
    """One sequence of tokens that a learner takes, of the one or more of a rollout."""

    prompt_ids: list[int]
    ids: list[int]
    """What follows: sampled, and given between them."""
    mask: list[int]
    """1 for a sampled token of `ids`."""
    logprobs: list[float]
    sequence: dict[str, Any]
    """All that the gateway says of it, such as `response_versions`."""
    group: str
    attempt: int
    reward: float
    advantage: float
    weight: float
    """1 / the sequences of its rollout: multiply its loss by it, so that a rollout in several counts once."""
    is_last: bool
    """Whether it is the last sequence of its rollout."""


def samples_of(groups: Iterable[dict[str, Any]], *, scale: bool = True) -> Iterator[Sample]:
    """Yields the sequences of a batch, with the advantage of their rollout in its whole group.

    That is the reward less the mean, and with `scale` over the standard deviation, as in GRPO. Sequences of auxiliary
    calls, such as titles, are left out. Raises `ValueError` for a sequence without log-probabilities.
    """
    for group in groups:
        rewards = group["rewards"]
        deviation = (pstdev(rewards) + 1e-4) if scale else 1.0
        for rollout in group["rollouts"]:
            own = [each for each in rollout["sequences"] if each["role"] == "agent"]
            advantage = (rollout["reward"] - fmean(rewards)) / deviation
            for each in own:
                if each["response_logprobs"] is None:
                    raise ValueError(f"{rollout['session_id']}: its engine returned no log-probabilities.")
                yield Sample(
                    prompt_ids=each["prompt_ids"],
                    ids=each["response_ids"],
                    mask=each["response_mask"],
                    logprobs=each["response_logprobs"],
                    sequence=each,
                    group=group["group_id"],
                    attempt=rollout["attempt"],
                    reward=rollout["reward"],
                    advantage=advantage,
                    weight=1 / len(own),
                    is_last=each is own[-1],
                )


def to_trl(samples: Sequence[Sample]) -> dict[str, list[Any]]:
    """Returns what a `rollout_func` of TRL's `GRPOTrainer` returns; `reward` and `weight` reach reward functions."""
    own = {"completion_ids": "ids", "env_mask": "mask"}
    names = ("prompt_ids", "completion_ids", "logprobs", "env_mask", "reward", "weight")
    return {name: [getattr(each, own.get(name, name)) for each in samples] for name in names}


def to_trl_async(sample: Sample, group: int, version: int) -> dict[str, Any]:
    """Returns the arguments of a `RolloutSample` of TRL's `AsyncGRPOTrainer`; its lists as `numpy.asarray` takes them.

    `version` stands for tokens whose version has no number at its end.
    """
    numbers = [re.search(r"\d+$", each) for each in sample.sequence["response_versions"] if each]
    given = len(sample.prompt_ids)
    return {
        "prompt": [],
        "completion": [],
        "input_ids": sample.prompt_ids + sample.ids,
        "completion_mask": [0] * given + sample.mask,
        "old_log_probs": [0.0] * given + sample.logprobs,
        "advantage": sample.advantage * sample.weight,
        "model_version": min((int(each[0]) for each in numbers if each), default=version),
        "group_id": group,
        "metrics": {"reward": sample.reward},
    }


def to_verl(sample: Sample) -> dict[str, Any]:
    """Returns the arguments of verl's `AgentLoopOutput`."""
    return {
        "prompt_ids": sample.prompt_ids,
        "response_ids": sample.ids,
        "response_mask": sample.mask,
        "response_logprobs": sample.logprobs,
        "reward_score": sample.reward,
        # Each answer has a turn before it.
        "num_turns": 2 * sample.sequence["num_turns"],
        "metrics": {},
        "extra_fields": {"group": sample.group, "weight": sample.weight},
    }


def to_skyrl(samples: Sequence[Sample]) -> dict[str, Any]:
    """Returns a `GeneratorOutput` of SkyRL, step-wise. `trajectory_ids` are pairs for its `TrajectoryID`."""
    return {
        "prompt_token_ids": [each.prompt_ids for each in samples],
        "response_ids": [each.ids for each in samples],
        "loss_masks": [each.mask for each in samples],
        "rollout_logprobs": [each.logprobs for each in samples],
        "rewards": [each.reward for each in samples],
        "stop_reasons": None,
        "rollout_metrics": None,
        "trajectory_ids": [(each.group, each.attempt) for each in samples],
        "is_last_step": [each.is_last for each in samples],
    }


def to_prime_rl(sample: Sample, environment: str) -> dict[str, Any]:
    """Returns the arguments of prime-rl's `TrainingSample`."""
    given, length = len(sample.prompt_ids), len(sample.prompt_ids) + len(sample.ids)
    [temperature, *_] = [each for each in sample.sequence["temperatures"] if each is not None] or [1.0]
    return {
        "token_ids": sample.prompt_ids + sample.ids,
        "mask": [False] * given + [each == 1 for each in sample.mask],
        "logprobs": [0.0] * given + sample.logprobs,
        "temperatures": [temperature] * length,
        "env_name": environment,
        "rl_weights": [sample.weight] * length,
        "advantages": [sample.advantage] * length,
    }
