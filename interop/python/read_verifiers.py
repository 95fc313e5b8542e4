"""Reads the rows of `episodic export --format verifiers` with verifiers 0.1. Prints one line if they are as it writes them.

Usage: read_verifiers.py FOLDER, which has results.jsonl.
"""

import json
import sys
from math import isclose
from pathlib import Path

from pydantic import TypeAdapter
from verifiers.types import Messages, RolloutTiming, Tool
from verifiers.utils.metric_utils import EnvMetrics, PassAtKMetric, RewardMetric
from verifiers.utils.save_utils import load_outputs

outputs = load_outputs(Path(sys.argv[1]))
messages = TypeAdapter(Messages)
for output in outputs:
    timing = RolloutTiming.model_validate(output["timing"])
    assert isclose(timing.total, output["timing"]["total"], abs_tol=1e-5)
    assert isclose(timing.overhead, output["timing"]["overhead"], abs_tol=1e-3)
    for tool in output["tool_defs"]:
        Tool.model_validate(tool)
    for message in output["prompt"] + output["completion"]:
        if "tool_calls" in message:
            message["tool_calls"] = [json.loads(call) for call in message["tool_calls"]]
    messages.validate_python(output["prompt"] + output["completion"])

reward, metrics, pass_at_k = RewardMetric(), EnvMetrics(), PassAtKMetric(4)
for each in (reward, metrics, pass_at_k):
    each.add_outputs(outputs)
assert isclose(reward.compute(), sum(output["reward"] for output in outputs) / len(outputs))
means = metrics.compute()
assert {"success", "steps", "term.solved"} <= set(means)
assert isclose(means["success"], pass_at_k.compute()[0]["1"]), "The reward of this world is over 0.5 if it is solved."
print(json.dumps({"file": "results.jsonl", "read": f"{len(outputs)} rows, mean reward {reward.compute():.3f}"}), flush=True)
