"""Reads tokens-training-trace.jsonl of `episodic export` as OpenEnv's TrainingTrace. Prints a line for the file.

Usage: read_traces.py FOLDER
"""

import json
import sys
from pathlib import Path

from openenv.core.harness.training import TrainingTrace

lines = (Path(sys.argv[1]) / "tokens-training-trace.jsonl").read_text().rstrip("\n").split("\n")
traces = [TrainingTrace.model_validate_json(line) for line in lines]
turns = [turn for trace in traces for turn in trace.turns]
assert len(traces) == 4 and all(len(trace.turns) > 4 for trace in traces), [len(trace.turns) for trace in traces]
assert all(len(turn.completion_token_ids) == sum(turn.loss_mask) > 0 for turn in turns)
read = f"{len(traces)} traces of {len(turns)} turns as TrainingTrace"
print(json.dumps({"file": "training-trace", "read": read}))
