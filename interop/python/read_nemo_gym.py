"""Reads nemo-gym.jsonl of `episodic export` with NeMo Gym's own types and its command for profiles, and asserts as it
does that the tokens of tokens-nemo-gym.jsonl are contiguous.

Usage: read_nemo_gym.py FOLDER
"""

import json
import subprocess
import sys
from pathlib import Path
from statistics import mean

from nemo_gym.base_resources_server import BaseVerifyResponse
from nemo_gym.token_id_capture import assert_prefix_contiguity

folder = Path(sys.argv[1])
lines = (folder / "nemo-gym.jsonl").read_text().rstrip("\n").split("\n")
rewards: dict[int, list[float]] = {}
for line in lines:
    rollout = BaseVerifyResponse.model_validate_json(line)
    assert {"function_call", "function_call_output"} <= {item.type for item in rollout.response.output}
    rewards.setdefault(json.loads(line)["_ng_task_index"], []).append(rollout.reward)

# The rows of the rollouts are in the same file.
gym = Path(sys.executable).with_name("gym")
command = [gym, "eval", "profile", "--inputs", "nemo-gym.jsonl", "--rollouts", "nemo-gym.jsonl"]
done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
assert done.returncode == 0, done.stdout + done.stderr
groups = [json.loads(line) for line in (folder / "nemo-gym_reward_profiling.jsonl").read_text().rstrip("\n").split("\n")]
assert sum(group["num_rollouts"] for group in groups) == len(lines)
for group, (_, returns) in zip(groups, sorted(rewards.items()), strict=True):
    assert abs(group["mean/reward"] - mean(returns)) < 1e-9, group
(agent,) = json.loads((folder / "nemo-gym_agent_metrics.json").read_text())
total = mean(reward for returns in rewards.values() for reward in returns)
assert abs(agent["mean/reward"] - total) < 1e-9, agent
read = f"{len(lines)} rollouts of {len(groups)} tasks with gym eval profile, mean reward {total:.3f}"
print(json.dumps({"file": "nemo-gym", "read": read}))

sampled = 0
rows = (folder / "tokens-nemo-gym.jsonl").read_text().rstrip("\n").split("\n")
for row in rows:
    response = json.loads(row)["response"]
    assert_prefix_contiguity(response)
    sampled += sum("generation_token_ids" in item for item in response["output"])
assert len(rows) == 4 and sampled > 4 * len(rows), (len(rows), sampled)
print(json.dumps({"file": "nemo-gym with tokens", "read": f"{sampled} answers of {len(rows)} rollouts are contiguous"}))
