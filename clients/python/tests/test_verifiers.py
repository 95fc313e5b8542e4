"""The verifiers taskset, evaluated by `vf-eval` with a model that halves."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from serving import ROOT, Server

from episodic_env import connect

pytest.importorskip("verifiers", reason="needs verifiers")


class Halving(BaseHTTPRequestHandler):
    """Answers chat completions, with streaming, from the conversation alone."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = "\n".join(json.dumps(message) for message in body["messages"])
        [(low, high)] = {(int(a), int(b)) for a, b in re.findall(r"whole number from (\d+) to (\d+)", texts)}
        for hint, value in re.findall(r"The number is (higher|lower) than (\d+)", texts):
            low, high = (max(low, int(value) + 1), high) if hint == "higher" else (low, min(high, int(value) - 1))
        call = {"name": "guess", "arguments": json.dumps({"value": (low + high) // 2})}
        delta: dict[str, Any] = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": f"call_{len(body['messages'])}", "type": "function", "function": call}],
        }
        if "you found the number" in texts:
            delta = {"role": "assistant", "content": "Found."}
        finish = "stop" if "content" in delta else "tool_calls"
        self._answer(body, delta, finish)

    def _answer(self, body: dict[str, Any], delta: dict[str, Any], finish: str) -> None:
        common = {"id": "chat", "created": 0, "model": body["model"]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self.send_response(200)
        if body.get("stream"):
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for choices in (
                [{"index": 0, "delta": delta, "finish_reason": None}],
                [{"index": 0, "delta": {}, "finish_reason": finish}],
            ):
                chunk = {**common, "object": "chat.completion.chunk", "choices": choices, "usage": usage}
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")
            return
        message = {"content": None, **delta}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        answer = json.dumps({**common, "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def model() -> Iterator[str]:
    served = ThreadingHTTPServer(("127.0.0.1", 0), Halving)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{served.server_port}/v1"
    served.shutdown()
    served.server_close()


def evaluate(server: Server, model: str, folder: Path, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = {
        "--env.taskset.dataset": str(folder / "tasks.jsonl"),
        "--env.taskset.task.url": server.url,
        "--env.agent.harness.id": "null",
        "--env.agent.runtime.type": "subprocess",
        "--model": "halving",
        "--client.base-url": model,
        "--client.api-key-var": "OPENAI_API_KEY",
        "--output-dir": str(folder / "outputs"),
        "-r": "2",
    }
    variables = {
        **os.environ,
        "EPISODIC_CONTROL_TOKEN": server.token,
        "OPENAI_API_KEY": "none",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "clients/python/src"),
    }
    command = [str(Path(sys.executable).parent / "vf-eval"), "episodic-taskset", "--no-push", "--no-rich"]
    command += [word for pair in arguments.items() for word in pair]
    result = subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True, timeout=400)
    assert result.returncode == 0, result.stdout + result.stderr
    [traces] = folder.glob("outputs/**/traces.jsonl")
    assert server.token not in "".join(file.read_text() for file in folder.glob("outputs/**/*.json*"))
    episodes = [json.loads(line) for line in traces.read_text().splitlines()]
    assert episodes, result.stdout + result.stderr
    return episodes


def row(high: int, seed: str) -> dict[str, Any]:
    return {
        "id": f"{high}-{seed}",
        "environment": {"name": "number-guessing", "version": "1.1.0"},
        "prompt": "Find the number.",
        "params": {"low": 1, "high": high},
        "seed": seed,
        "limits": {"steps": 20},
    }


def test_rewards_are_those_of_the_trainer_endpoint(server: Server, model: str, tmp_path: Path) -> None:
    with connect(server.url, server.token) as operator:
        before = operator._call("environment/sessions", {}, True)["total"]
        episodes = evaluate(server, model, tmp_path, [row(100, "1"), row(50, "2")])
        assert operator._call("environment/sessions", {}, True)["total"] == before
    assert len(episodes) == 4
    returns: dict[str, set[float]] = {}
    for episode in episodes:
        assert episode["ok"], episode["errors"]
        [trace] = episode["traces"]
        metrics = trace["metrics"]
        reward = trace["rewards"]["episode_return"]
        assert reward["weight"] == 1
        assert reward["score"] == pytest.approx(1 - 0.01 * metrics["steps"])
        assert metrics["solved"] == 1
        assert trace["info"]["episodic"]["end"] == {"kind": "terminated", "reason": "solved"}
        returns.setdefault(trace["info"]["episodic"]["seed"], set()).add(reward["score"])
    # Both rollouts of a task play the same episode.
    assert [len(scores) for scores in returns.values()] == [1, 1]
