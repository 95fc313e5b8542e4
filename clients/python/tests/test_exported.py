"""Exported sequences as samples of a learner."""

from __future__ import annotations

from typing import Any

from episodic_env.exported import groups_of
from episodic_env.samples import samples_of, to_prime_rl


def line(episode: str, attempt: int, reward: float) -> dict[str, Any]:
    return {
        **{"prompt_ids": [1, 2], "response_ids": [3, 4, 5], "response_mask": [1, 0, 1], "num_turns": 2},
        **{"response_logprobs": [-0.5, 0.0, -0.25], "reward": reward, "role": "agent", "group": "task"},
        **{"episode": episode, "attempt": attempt, "response_advantages": [0.5, 0, -0.5], "temperatures": [None, 1.0]},
        "response_versions": ["step-2", None, "step-3"],
    }


SAMPLES = list(samples_of(groups_of([line("a", 0, 1.0), line("a", 0, 1.0), line("b", 1, 0.0)]), scale=False))


def test_an_episode_of_several_sequences_counts_once() -> None:
    assert [(each.advantage, each.weight, each.is_last) for each in SAMPLES] == [
        (0.5, 0.5, False),
        (0.5, 0.5, True),
        (-0.5, 1.0, True),
    ]
    assert SAMPLES[0].sequence["response_advantages"] == [0.5, 0, -0.5]
    assert len(to_prime_rl(SAMPLES[0], "world")["advantages"]) == 5
    assert groups_of([{**line("a", 0, 1.0), "reward": None}]) == []
