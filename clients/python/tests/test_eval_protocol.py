"""The adapter of eval-protocol. Runs in the environment of `pnpm interop python eval-protocol`."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("eval_protocol") is None:
    # Not imported here: LiteLLM would ask the network for prices.
    pytest.skip("needs eval-protocol", allow_module_level=True)

from serving import ROOT, LossyProxy, Server

EVALUATION = """
import json, os
from eval_protocol.models import EvaluateResult, EvaluationRow
from eval_protocol.pytest import evaluation_test
from episodic_env import Task
from episodic_env.eval_protocol import WorldRollouts, rows

URL, MODEL, OUT, WORLD = os.environ["URL"], os.environ["MODEL"], os.environ["OUT"], os.environ["WORLD"]
TASKS = [Task(WORLD, {"high": 100}, seed=str(seed), prompt="Find the number.") for seed in range(4)]


@evaluation_test(
    input_rows=[rows(TASKS)],
    completion_params=[{"model": "openai/halving", "base_url": MODEL, "api_key": "none", "temperature": 0.0}],
    rollout_processor=WorldRollouts(URL),
    steps=20,
    mode="pointwise",
)
def test_guessing(row: EvaluationRow) -> EvaluationRow:
    account = row.execution_metadata.extra["episodic"]
    with open(OUT, "a") as out:
        print(json.dumps([account, [message.role for message in row.messages]]), file=out)
    row.evaluation_result = EvaluateResult(score=float(account["end"] == "solved"), reason=account["end"])
    return row
"""


def evaluate(server: Server, url: str, model: str, folder: Path, world: str = "number-guessing") -> list[Any]:
    """Runs a test of eval-protocol in a process of its own, and returns what it was given."""
    (folder / "test_evaluation.py").write_text(EVALUATION)
    out = folder / "out.jsonl"
    variables = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "clients/python/src"),
        "EPISODIC_CONTROL_TOKEN": server.token,
        "HOME": str(folder),
        "URL": url,
        "MODEL": model,
        "OUT": str(out),
        "WORLD": world,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    # The plugin of eval-protocol is for that program alone.
    variables.pop("PYTEST_DISABLE_PLUGIN_AUTOLOAD", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_evaluation.py"]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    if not out.exists():
        assert done.returncode != 0, done.stdout
        return []
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_an_evaluation_scores_episodes_whatever_is_lost(
    server: Server, proxy: LossyProxy, model: str, tmp_path: Path
) -> None:
    proxy.lose_every(7, 1)
    scored = evaluate(server, f"http://127.0.0.1:{proxy.port}/env", model, tmp_path)
    assert proxy.lost > 0
    assert sorted(account["seed"] for account, _ in scored) == ["0", "1", "2", "3"]
    for account, roles in scored:
        assert account["end"] == "solved"
        assert account["terms"]["solved"] == 1
        assert account["return"] == pytest.approx(1 - account["steps"] / 100)
        assert roles == ["user"] + ["assistant", "tool"] * account["steps"]


def test_a_failed_episode_is_not_scored(server: Server, model: str, tmp_path: Path) -> None:
    assert evaluate(server, server.url, model, tmp_path, "chess") == []
