"""The verifiers taskset, evaluated by `vf-eval` with a model that halves."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlencode

import pytest
from model_server import Halving
from serving import LONG, ROOT, LossyProxy, Server

from episodic_env import connect

pytest.importorskip("verifiers", reason="needs verifiers")

# The packages of verifiers warn about each other.
pytestmark = pytest.mark.filterwarnings("default")


def evaluate(
    server: Server, model: str, folder: Path, rows: list[dict[str, Any]], url: str | None = None, repeats: int = 2
) -> list[dict[str, Any]]:
    folder.mkdir(exist_ok=True)
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = {
        "--env.taskset.dataset": str(folder / "tasks.jsonl"),
        "--env.taskset.task.url": url or server.url,
        "--env.agent.harness.id": "null",
        "--env.agent.runtime.type": "subprocess",
        "--model": "halving",
        "--client.base-url": model,
        "--client.api-key-var": "OPENAI_API_KEY",
        "--output-dir": str(folder / "outputs"),
        "-r": str(repeats),
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
    result = subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    [traces] = folder.glob("outputs/**/traces.jsonl")
    written = "".join(file.read_text() for file in folder.glob("outputs/**/*.json*"))
    assert server.token not in written and "episodic-1." not in written and "TaskGroup" not in written
    episodes = [json.loads(line) for line in traces.read_text().split("\n") if line]
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


def figures(episodes: list[dict[str, Any]]) -> list[Any]:
    """The returns and steps of the rollouts, in the order of their seeds."""
    traces = [episode["traces"][0] for episode in episodes]
    return sorted(
        (trace["info"]["episodic"]["seed"], trace["rewards"]["episode_return"]["score"], trace["metrics"]["steps"])
        for trace in traces
    )


def test_lost_answers_and_a_killed_server_change_no_return(durable: Server, model: str, tmp_path: Path) -> None:
    rows = [row(100, "1")]
    expected = figures(evaluate(durable, model, tmp_path / "quiet", rows))
    proxy = LossyProxy(durable.port)
    proxy.lose_every(3, seed=1)
    proxy.after(20, durable.restart)
    episodes = evaluate(durable, model, tmp_path / "loud", rows, url=proxy.url)
    proxy.close()
    assert all(episode["ok"] for episode in episodes), [episode["errors"] for episode in episodes]
    assert figures(episodes) == expected
    assert proxy.lost > 5


def test_a_lost_session_ends_its_rollout_as_failed(forgetful: Server, model: str, tmp_path: Path) -> None:
    Halving.before_answers = [lambda: None, forgetful.restart]
    [episode] = evaluate(forgetful, model, tmp_path, [row(100, "1")], repeats=1)
    assert not Halving.before_answers
    [trace] = episode["traces"]
    assert not episode["ok"]
    assert not trace.get("rewards")
    assert "session-not-found" in json.dumps(trace["errors"])


class StateChannel(BaseHTTPRequestHandler):
    """The state of a rollout, as verifiers serves it to a tool server."""

    state: ClassVar[dict[str, Any]] = {}

    def do_GET(self) -> None:
        body = json.dumps(self.state).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self) -> None:
        self.state.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def tool_server(server: Server, tmp_path: Path) -> Iterator[tuple[int, str]]:
    """The port of the tool server, in a process of its own, and its path for the rollout of `StateChannel.state`."""
    from verifiers.v1.mcp.server import state_signature

    channel = ThreadingHTTPServer(("127.0.0.1", 0), StateChannel)
    threading.Thread(target=channel.serve_forever, daemon=True).start()
    variables = {
        **os.environ,
        "EPISODIC_CONTROL_TOKEN": server.token,
        "PYTHONPATH": str(ROOT / "clients/python/src"),
        "VF_CONFIG": json.dumps({"worlds": {"url": server.url}}),
        "VF_STATE_SECRET": "secret",
        "MCP_PORT_FILE": str(tmp_path / "port"),
    }
    process = subprocess.Popen([sys.executable, "-m", "episodic_env.verifiers"], env=variables)
    while not (tmp_path / "port").exists() or not listens(int((tmp_path / "port").read_text() or 0)):
        assert process.poll() is None
        time.sleep(0.05)
    state = f"http://127.0.0.1:{channel.server_port}/state"
    signed = {
        "vf_state_url": state,
        "vf_state_route": "rollout",
        "vf_state_signature": state_signature("secret", state, "rollout"),
    }
    yield int((tmp_path / "port").read_text()), f"/mcp?{urlencode(signed)}"
    process.kill()
    process.wait()
    channel.shutdown()
    channel.server_close()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return port > 0 and probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_call_that_the_harness_repeats_is_one_step(server: Server, tool_server: tuple[int, str]) -> None:
    # The connection of verifiers' own harness, which repeats a failed call on a new one.
    from verifiers.v1.harnesses.utils.mcp import MCPConnection

    port, path = tool_server
    network = LossyProxy(port)

    async def play(guesses: list[list[int]], lost: set[int]) -> list[str]:
        harness = MCPConnection({"url": f"http://127.0.0.1:{network.port}{path}", "timeout": LONG})
        texts: list[str] = []
        try:
            for turn, values in enumerate(guesses, 1):
                StateChannel.state["turn"] = turn
                for value in values:
                    # The call is played, and the harness sees its connection break.
                    network.lose(int(len(texts) in lost))
                    guess = partial(_guess, value=value)
                    result = await harness.run(guess)
                    texts.append(result.content[0].text.split("\n")[0])
        finally:
            await harness.aclose()
        return texts

    # Equal calls in one answer of the model, and in two that follow each other, are steps of their own.
    guesses = [[1], [1, 1], [1], [2], [3, 4]]
    flat = [value for values in guesses for value in values]
    with connect(server.url, server.token) as connection:
        for lost in (set(), {1, 2, 4, 6}):
            with connection.open("number-guessing", {"high": 1000}, seed="a", limits={"steps": 20}) as episode:
                StateChannel.state.clear()
                StateChannel.state.update({"handle": episode.handle, "turn": 0, "failure": ""})
                texts = asyncio.run(play(guesses, lost))
                assert [played.arguments["value"] for played in episode.played().steps] == flat
                assert texts == [f"The number is higher than {value}." for value in flat]
    assert network.lost == 4
    network.close()


async def _guess(client: Any, *, value: int) -> Any:
    return await client.call_tool("guess", {"value": value})


def test_the_last_words_of_a_model_are_a_move_where_words_are_one(server: Server, tmp_path: Path) -> None:
    class Speaking(Halving):
        def do_POST(self) -> None:  # noqa: N802
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._answer(body, {"role": "assistant", "content": "Which number?"}, "stop")

    served = ThreadingHTTPServer(("127.0.0.1", 0), Speaking)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    desk = {"id": "desk", "environment": {"name": "desk", "version": "1.0.0"}, "prompt": "Help.", "params": {}}
    url = f"http://127.0.0.1:{served.server_port}/v1"
    [episode] = evaluate(server, url, tmp_path, [{**desk, "seed": "1", "limits": {}}], repeats=1)
    served.shutdown()
    served.server_close()
    assert episode["ok"], episode["errors"]
    [trace] = episode["traces"]
    assert (trace["metrics"]["said"], trace["metrics"]["steps"]) == (1, 1)
