"""Exported sequences in the types that trainers define. Those of packages that are not installed are skipped.

A type is read from the file of its package, whose imports are several gigabytes.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import types
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from episodic_env.exported import groups_of
from episodic_env.samples import samples_of, to_prime_rl, to_skyrl, to_trl, to_verl


def line(episode: str, attempt: int, reward: float) -> dict[str, Any]:
    return {
        **{"prompt_ids": [1, 2], "response_ids": [3, 4, 5], "response_mask": [1, 0, 1], "num_turns": 2},
        **{"response_logprobs": [-0.5, 0.0, -0.25], "reward": reward, "role": "agent", "group": "task"},
        **{"episode": episode, "attempt": attempt, "response_advantages": [0.5, 0, -0.5], "temperatures": [None, 1.0]},
    }


SAMPLES = list(samples_of(groups_of([line("a", 0, 1.0), line("a", 0, 1.0), line("b", 1, 0.0)]), scale=False))


def source(package: str, file: str) -> str:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"needs {package}")
    return (Path(found.submodule_search_locations[0]) / file).read_text()


def defined(text: str, *names: str, **known: Any) -> dict[str, Any]:
    """Returns some classes and functions of a file, without its imports."""
    scope = {**vars(typing), "dataclass": dataclass, **known}
    body = [node for node in ast.parse(text).body if getattr(node, "name", None) in names]
    exec(compile(ast.Module(body, []), "trainer", "exec", dont_inherit=True), scope)
    return {name: scope[name] for name in names}


def test_an_episode_of_several_sequences_counts_once() -> None:
    assert [(each.advantage, each.weight, each.is_last) for each in SAMPLES] == [
        (0.5, 0.5, False),
        (0.5, 0.5, True),
        (-0.5, 1.0, True),
    ]
    assert SAMPLES[0].sequence["response_advantages"] == [0.5, 0, -0.5]
    assert len(to_prime_rl(SAMPLES[0], "world")["advantages"]) == 5
    assert groups_of([{**line("a", 0, 1.0), "reward": None}]) == []


def test_verl_takes_a_sample() -> None:
    text = source("verl", "experimental/agent_loop/agent_loop.py")
    pydantic = pytest.importorskip("pydantic")
    names = ("AgentLoopMetrics", "AgentLoopOutput")
    output = defined(text, *names, BaseModel=pydantic.BaseModel)["AgentLoopOutput"](**to_verl(SAMPLES[0]))
    assert (output.reward_score, output.num_turns, output.response_mask) == (1.0, 4, [1, 0, 1])


def test_trl_takes_samples() -> None:
    text = source("trl", "trainer/grpo_trainer.py")
    [required] = re.findall(r"required_keys = (\{[^}]*\})", text)
    output = to_trl(SAMPLES)
    assert ast.literal_eval(required) <= output.keys()
    assert 'extra_fields.pop("env_mask"' in text
    assert output["env_mask"] == [[1, 0, 1]] * 3


def test_skyrl_takes_samples() -> None:
    text = source("skyrl", "train/generators/base.py")
    known = defined(
        text, "GeneratorOutput", "TrajectoryID", ConversationType=Any, torch=types.SimpleNamespace(Tensor=Any)
    )
    output = to_skyrl(SAMPLES)
    assert output.keys() <= known["GeneratorOutput"].__annotations__.keys()
    named = {**output, "trajectory_ids": [known["TrajectoryID"](*each) for each in output["trajectory_ids"]]}
    check = defined(
        source("skyrl", "train/utils/trainer_utils.py"),
        "validate_generator_output",
        GeneratorOutput=dict,
        np=pytest.importorskip("numpy"),
    )
    check["validate_generator_output"](3, named)
