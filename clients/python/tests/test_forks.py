"""Forks of an episode whose player is a model behind the gateway: world, kept answers and tokens go on together."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from serving import ROOT, Server, node

from episodic_env import EpisodicError, connect
from episodic_env.forks import Fork, fork

TOOLS = [{"type": "function", "function": {"name": "guess", "parameters": {"type": "object"}}}]


class Engine(BaseHTTPRequestHandler):
    """Samples a guess, with tokens that are its own, and begins a prompt with the tokens that a message has."""

    sampled: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        number = len(self.sampled)
        spliced = [at for at, message in enumerate(body["messages"]) if "generation_token_ids" in message]
        last = body["messages"][spliced[-1]] if spliced else {}
        text = json.dumps([m["content"] for m in body["messages"][spliced[-1] + 1 if spliced else 0 :]])
        prompt = [*last.get("prompt_token_ids", []), *last.get("generation_token_ids", []), *map(ord, text)]
        ids = [100_000 + 10 * number + i for i in range(3)]
        self.sampled.append({"prompt": prompt, "ids": ids})
        call = {"name": "guess", "arguments": json.dumps({"value": 2 + number})}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": call}],
        }
        scores = [{"token": "x", "logprob": -0.5, "bytes": None, "top_logprobs": []} for _ in ids]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls", "token_ids": ids}
        answer = {
            **{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "prompt_token_ids": prompt},
            "choices": [{**choice, "logprobs": {"content": scores}}],
            "usage": {"prompt_tokens": len(prompt), "completion_tokens": 3, "total_tokens": len(prompt) + 3},
        }
        said = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The URL of a gateway, and what its engine has sampled."""
    sampled: list[dict[str, Any]] = []
    engine = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Engine,), {"sampled": sampled}))
    threading.Thread(target=engine.serve_forever, daemon=True).start()
    cli = [node(), str(ROOT / "apps/harness/src/cli.ts"), "gateway", str(tmp_path / "tokens"), "--port", "0", "--json"]
    command = [*cli, "--base-url", f"http://127.0.0.1:{engine.server_port}/v1"]
    env = {**os.environ, "EPISODIC_HOME": str(tmp_path)}
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield json.loads(process.stdout.readline())["url"], sampled
        process.stdin.close()
    engine.shutdown()
    engine.server_close()


def ask(url: str, key: str, body: Any = None) -> Any:
    request = Request(url, json.dumps(body).encode() if body else None, {"authorization": f"Bearer {key}"})
    with urlopen(request) as answer:
        return json.load(answer)


def play(episode: Any, url: str, key: str, messages: list[Any], answers: int) -> None:
    """Plays answers of the model on, as the loop of a trainer does."""
    for _ in range(answers):
        said = ask(f"{url}/chat/completions", key, {"model": "m", "messages": messages, "tools": TOOLS})
        message = said["choices"][0]["message"]
        [call] = message["tool_calls"]
        step = episode.step(call["function"]["name"], json.loads(call["function"]["arguments"]))
        messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": step.observation.text}]


def test_forks_world_answers_and_tokens_with_one_call(
    server: Server, gateway: tuple[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    url, sampled = gateway
    token = next(tmp_path.glob("control-*.token")).read_text().strip()
    parent = ask(f"{url}/sessions", token, {"metadata": {"group": "g"}})
    with connect(server.url, server.token) as connection:
        episode = connection.open("number-guessing", {"low": 1, "high": 1_000, "maxGuesses": 20}, seed="one")
        messages: list[Any] = [{"role": "user", "content": episode.observation.text}]
        play(episode, parent["url"], parent["api_key"], messages, 3)
        forks = fork(episode, parent["session_id"], 3, gateway=url, at=2)
        assert [(each.branch, each.answers, each.episode.seq) for each in forks] == [([n], 2, 2) for n in (1, 2, 3)]
        deeper: list[Fork] = []
        for each in forks:
            own, before = list(messages[:5]), len(sampled)
            play(each.episode, each.url, each.api_key, own, 2)
            assert (
                sampled[before]["prompt"][: len(sampled[1]["prompt"]) + 3] == sampled[1]["prompt"] + sampled[1]["ids"]
            )
            deeper += fork(each.episode, each.session_id, gateway=url)
            play(deeper[-1].episode, deeper[-1].url, deeper[-1].api_key, own, 1)
        assert [(each.branch, each.answers) for each in deeper] == [([n, 1], 4) for n in (1, 2, 3)]
        # Every sampled token is learned in one line, in all of the tree.
        learned: list[int] = []
        for session in (parent["session_id"], *(each.session_id for each in (*forks, *deeper))):
            for line in ask(f"{url}/sessions/{session}/sequences", token)["sequences"]:
                learned += [i for i, mask in zip(line["response_ids"], line["response_mask"], strict=True) if mask]
        assert sorted(learned) == sorted(i for each in sampled for i in each["ids"])
        # Steps that the model did not choose fit no answer.
        forks[0].episode.step("guess", {"value": 999})
        with pytest.raises(EpisodicError, match="do not fit the world"):
            fork(forks[0].episode, forks[0].session_id, 2, gateway=url)
        with pytest.raises(EpisodicError, match="do not fit the world"):
            fork(forks[1].episode, forks[0].session_id, gateway=url)
