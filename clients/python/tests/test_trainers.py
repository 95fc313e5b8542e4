"""Samples in the types that trainers define.

A type is read from the file of its package, whose imports are several gigabytes. prime-rl is in no package index.
"""

from __future__ import annotations
import __future__

import ast
import importlib.util
import sys
import types
import typing
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pytest
from test_exported import SAMPLES

from episodic_env.samples import to_skyrl, to_trl, to_trl_async, to_verl

if any(importlib.util.find_spec(name) is None for name in ("numpy", "pydantic", "trl", "verl")):
    pytest.skip("needs the packages of trainers: pnpm interop python trainers", allow_module_level=True)


def source(package: str, file: str) -> str:
    found = importlib.util.find_spec(package)
    assert found is not None and found.submodule_search_locations
    return (Path(found.submodule_search_locations[0]) / file).read_text()


def defined(text: str, *names: str, **known: Any) -> dict[str, Any]:
    """Returns some classes and functions of a file, without its imports. pydantic alone reads annotations."""
    scope = {**vars(typing), "dataclass": dataclass, **known}
    body = [node for node in ast.parse(text).body if getattr(node, "name", None) in names]
    flags = 0 if "BaseModel" in known else __future__.annotations.compiler_flag
    exec(compile(ast.Module(body, []), "trainer", "exec", flags, dont_inherit=True), scope)
    return {name: scope[name] for name in names}


def test_verl_takes_a_sample() -> None:
    import pydantic

    text = source("verl", "experimental/agent_loop/agent_loop.py")
    names = ("AgentLoopMetrics", "AgentLoopOutput")
    known = defined(text, *names, BaseModel=pydantic.BaseModel)["AgentLoopOutput"]
    given = to_verl(SAMPLES[0])
    assert given.keys() <= known.model_fields.keys()
    output = known(**given)
    assert (output.reward_score, output.num_turns, output.response_mask) == (1.0, 4, [1, 0, 1])
    assert output.response_logprobs == [-0.5, 0.0, -0.25]


def test_trl_takes_samples() -> None:
    """Runs what `GRPOTrainer` does with the result of a `rollout_func`, of which it takes a mask."""
    text = source("trl", "trainer/grpo_trainer.py")
    conditions = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.If)]
    own = [each for each in conditions if ast.unparse(each.test) == "self.rollout_func is not None"]
    [taken] = [each for each in own if "required_keys" in ast.unparse(each)]
    trainer = types.SimpleNamespace(rollout_func=lambda prompts, _: to_trl(SAMPLES), use_vllm=False)
    scope: dict[str, Any] = {"self": trainer, "prompts": ["p"] * len(SAMPLES)}
    exec(compile(ast.Module(taken.body, []), "trl", "exec"), scope)
    assert 'extra_fields.pop("env_mask"' in text
    mask, lists = scope["extra_fields"].pop("env_mask"), (scope["completion_ids"], scope["logprobs"])
    assert mask == [[1, 0, 1]] * 3
    assert [[len(each) for each in own] for own in lists] == [[3] * 3] * 2
    assert scope["extra_fields"] == {"reward": [1.0, 1.0, 0.0], "weight": [0.5, 0.5, 1.0]}


def test_the_asynchronous_trainer_of_trl_takes_a_sample() -> None:
    import numpy as np

    text = source("trl", "experimental/async_grpo/async_rollout_worker.py")
    known = defined(text, "RolloutSample", np=np, Messages=list)["RolloutSample"]
    output = known(**to_trl_async(SAMPLES[0], 0, 3))
    assert {field.name for field in fields(known)} - asdict(output).keys() == set()
    whole = [np.asarray(each) for each in (output.input_ids, output.completion_mask, output.old_log_probs)]
    assert [each.shape for each in whole] == [(5,)] * 3
    assert (output.model_version, output.advantage, whole[1].tolist()) == (2, 0.25, [0, 0, 1, 0, 1])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="skyrl 0.4 needs Python 3.12")
def test_skyrl_takes_samples() -> None:
    text = source("skyrl", "train/generators/base.py")
    known = defined(text, "GeneratorOutput", "TrajectoryID")
    output = to_skyrl(SAMPLES)
    assert output.keys() <= known["GeneratorOutput"].__annotations__.keys()
    named = {**output, "trajectory_ids": [known["TrajectoryID"](*each) for each in output["trajectory_ids"]]}
    import numpy as np

    names = ("validate_generator_output", "_validate_per_token_side_channels", "_validate_step_wise_fields")
    text = source("skyrl", "train/utils/trainer_utils.py")
    check = defined(text, *names, np=np, SAMPLE_SUPPORT_FIELD="rollout_sample_support")[names[0]]
    check(3, named, step_wise=True)
    with pytest.raises(AssertionError):
        check(3, {**named, "is_last_step": named["is_last_step"][::-1]}, step_wise=True)
