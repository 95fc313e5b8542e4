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

    sequence: dict[str, Any]
    """As the gateway has it: `prompt_ids`, `response_ids`, `response_mask`, `response_logprobs` and others."""
    group: str
    attempt: int
    reward: float
    advantage: float
    weight: float
    """1 / the sequences of its rollout: multiply its loss by it, so that a rollout in several counts once."""
    is_last: bool
    """Whether it is the last sequence of its rollout."""

    def whole(self, name: str, given: Any) -> list[Any]:
        """Returns a list of the response, such as `mask`, with a value before it for each token of the prompt."""
        return [*([given] * len(self.sequence["prompt_ids"])), *self.sequence[f"response_{name}"]]


def samples_of(groups: Iterable[dict[str, Any]], *, scale: bool = True) -> Iterator[Sample]:
    """Yields the sequences of a batch, with the advantage of their rollout in its whole group.

    That is the reward less the mean, and with `scale` over the standard deviation, as in GRPO. Sequences of auxiliary
    calls, such as titles, are left out, and so are groups without rollouts. Raises `ValueError` for a sequence without
    log-probabilities.
    """
    for group in groups:
        if not group["rollouts"]:
            continue
        rewards = group["rewards"]
        deviation = (pstdev(rewards) + 1e-4) if scale else 1.0
        for rollout in group["rollouts"]:
            own = [each for each in rollout["sequences"] if each["role"] == "agent"]
            advantage = (rollout["reward"] - fmean(rewards)) / deviation
            for each in own:
                if each["response_logprobs"] is None:
                    raise ValueError(f"{rollout['session_id']}: its engine returned no log-probabilities.")
                place = (group["group_id"], rollout["attempt"], rollout["reward"])
                yield Sample(each, *place, advantage, 1 / len(own), each is own[-1])


def to_trl(samples: Sequence[Sample]) -> dict[str, list[Any]]:
    """Returns what a `rollout_func` of TRL's `GRPOTrainer` returns; `reward` and `weight` reach reward functions."""
    names = {"prompt_ids": "prompt_ids", "completion_ids": "response_ids"}
    names |= {"logprobs": "response_logprobs", "env_mask": "response_mask"}
    columns = {name: [each.sequence[own] for each in samples] for name, own in names.items()}
    return {**columns, **{name: [getattr(each, name) for each in samples] for name in ("reward", "weight")}}


def to_trl_async(sample: Sample, group: int, version: int) -> dict[str, Any]:
    """Returns the arguments of a `RolloutSample` of TRL's `AsyncGRPOTrainer`; its lists as `numpy.asarray` takes them.

    `version` stands for tokens whose version has no number at its end.
    """
    numbers = [re.search(r"\d+$", each) for each in sample.sequence["response_versions"] if each]
    return {
        **{"prompt": [], "completion": [], "group_id": group, "metrics": {"reward": sample.reward}},
        "input_ids": sample.sequence["prompt_ids"] + sample.sequence["response_ids"],
        "completion_mask": sample.whole("mask", 0),
        "old_log_probs": sample.whole("logprobs", 0.0),
        "advantage": sample.advantage * sample.weight,
        "model_version": min((int(each[0]) for each in numbers if each), default=version),
    }


def to_verl(sample: Sample) -> dict[str, Any]:
    """Returns the arguments of verl's `AgentLoopOutput`. Of the turns, each answer has one before it."""
    names = ("prompt_ids", "response_ids", "response_mask", "response_logprobs")
    extra = {"group": sample.group, "weight": sample.weight}
    turns = {"num_turns": 2 * sample.sequence["num_turns"], "metrics": {}, "extra_fields": extra}
    return {**{name: sample.sequence[name] for name in names}, "reward_score": sample.reward, **turns}


def to_skyrl(samples: Sequence[Sample]) -> dict[str, Any]:
    """Returns a `GeneratorOutput` of SkyRL, step-wise. `trajectory_ids` are pairs for its `TrajectoryID`."""
    names = {"prompt_token_ids": "prompt_ids", "response_ids": "response_ids"}
    names |= {"loss_masks": "response_mask", "rollout_logprobs": "response_logprobs"}
    return {
        **{name: [each.sequence[own] for each in samples] for name, own in names.items()},
        "rewards": [each.reward for each in samples],
        **{"stop_reasons": None, "rollout_metrics": None},
        "trajectory_ids": [(each.group, each.attempt) for each in samples],
        "is_last_step": [each.is_last for each in samples],
    }


def to_prime_rl(sample: Sample, environment: str) -> dict[str, Any]:
    """Returns the arguments of prime-rl's `TrainingSample`."""
    ids = sample.sequence["prompt_ids"] + sample.sequence["response_ids"]
    [temperature, *_] = [each for each in sample.sequence["temperatures"] if each is not None] or [1.0]
    return {
        "token_ids": ids,
        "mask": [each == 1 for each in sample.whole("mask", 0)],
        "logprobs": sample.whole("logprobs", 0.0),
        "temperatures": [temperature] * len(ids),
        "env_name": environment,
        "rl_weights": [sample.weight] * len(ids),
        "advantages": [sample.advantage] * len(ids),
    }
