"""Reads the files of `episodic export` with the libraries that their users have. Prints one line for each file.

Usage: read_exports.py FOLDER, which has <format>.jsonl for each format and inspect.json.
"""

import json
import sys
from pathlib import Path

from datasets import load_dataset
from inspect_ai.log import read_eval_log

folder = Path(sys.argv[1])


def load(name: str, kind: str = "json"):
    suffix = "jsonl" if kind == "json" else kind
    return load_dataset(kind, data_files=str(folder / f"{name}.{suffix}"), split="train", cache_dir=str(folder / "cache"))


def passed(name: str, what: str) -> None:
    print(json.dumps({"file": name, "read": what}), flush=True)


episodes = load("trl-sft")
assert {"messages", "tools", "task", "attempt", "return", "episode"} <= set(episodes.column_names)
for row in episodes:
    roles = [message["role"] for message in row["messages"]]
    assert roles[0] == "user" and roles[1::2] == ["assistant"] * (len(roles) // 2), roles
    call = row["messages"][1]["tool_calls"][0]["function"]
    assert isinstance(call["arguments"], dict) and call["name"] in {tool["function"]["name"] for tool in row["tools"]}
passed("trl-sft", f"{episodes.num_rows} rows with datasets")

pairs = load("trl-preference")
for row in pairs:
    assert row["returns"][0] > row["returns"][1]
    assert row["prompt"][0]["role"] == "user" and row["chosen"][0]["role"] == row["rejected"][0]["role"] == "assistant"
passed("trl-preference", f"{pairs.num_rows} pairs with datasets")

for row in load("openai"):
    arguments = row["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(json.loads(arguments), dict)
passed("openai", "arguments as JSON text")

for row in load("sharegpt"):
    assert len(row["conversations"]) % 2 == 0 and json.loads(row["tools"])
passed("sharegpt", "even turns")

rollouts = load("nemo-gym")
assert rollouts.features["reward"].dtype == "float64"
passed("nemo-gym", f"{rollouts.num_rows} rollouts with datasets")

for row in load("atif"):
    assert row["schema_version"] == "ATIF-v1.7" and [step["step_id"] for step in row["steps"]][0] == 1
passed("atif", "trajectories with datasets")

prompts = load("verl")
prompts.to_parquet(str(folder / "verl.parquet"))
again = load("verl", "parquet")
assert again[0]["prompt"] == prompts[0]["prompt"] and again[0]["extra_info"] == prompts[0]["extra_info"]
passed("verl", f"{again.num_rows} prompts, converted to Parquet and back")

log = read_eval_log(str(folder / "inspect.json"))
assert log.status == "success" and log.results.total_samples == len(log.samples)
scored = [sample for sample in log.samples if sample.scores]
failed = [sample for sample in log.samples if sample.error]
assert len(scored) + len(failed) == len(log.samples) and len(scored) == log.results.completed_samples
mean = sum(sample.scores["return"].value for sample in scored) / len(scored)
assert abs(mean - log.results.scores[0].metrics["mean"].value) < 1e-9
assert all(message.role in {"user", "assistant", "tool"} for sample in log.samples for message in sample.messages)
passed("inspect", f"{len(log.samples)} samples with inspect_ai, mean return {mean:.3f}")
