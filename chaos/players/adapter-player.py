"""Plays rollouts through one adapter of `episodic_env`, and prints their results as one line of JSON.

`python adapter-player.py <adapter> <url> <rollouts>`. Every policy is a function of what the player sees, so rollouts
without faults are the same each time.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from episodic_env import Connection, EpisodicError, Task, connect

Rollout = dict[str, Any]
HIGH = 100
WAIT = 300.0


def main(adapter: str, url: str, count: int) -> None:
    """Plays, with everything but the result on standard error."""
    line = os.dup(1)
    os.dup2(2, 1)
    rollouts = list(PLAYERS[adapter](url, [str(seed) for seed in range(count)]))
    os.write(line, f"{json.dumps(rollouts)}\n".encode())


def outcome(key: str, play: Callable[[], Any]) -> Rollout:
    """Returns the result of a rollout, or its error: one of the client, and no other."""
    try:
        return {"key": key, "result": play()}
    except EpisodicError as error:
        return {"key": key, "result": None, "error": f"{error.code}: {error}"}


def task(seed: str) -> Task:
    """The episode of a seed."""
    return Task("number-guessing", {"high": HIGH}, seed=seed, prompt="Find the number.", id=seed)


def middle(texts: str) -> int:
    """The middle of what the texts of an episode leave."""
    low, high = 1, HIGH
    for hint, value in re.findall(r"The number is (higher|lower) than (\d+)", texts):
        low, high = (max(low, int(value) + 1), high) if hint == "higher" else (low, min(high, int(value) - 1))
    return (low + high) // 2


def halve(step: Callable[[int], tuple[str, bool]]) -> None:
    """Guesses the middle of what is left, until the episode is over."""
    texts, over = "", False
    while not over:
        text, over = step(middle(texts))
        texts += f"\n{text}"


def result(total: float, steps: int) -> list[float]:
    """What a rollout of number-guessing is compared by."""
    return [round(total, 9), steps]


def client(url: str, seeds: list[str]) -> Iterator[Rollout]:
    """Plays with the client alone, and compares its account with the server's."""
    with connect(url, wait=WAIT) as connection:
        for seed in seeds:
            yield outcome(seed, lambda seed=seed: played(connection, seed, attach=False))  # type: ignore[misc]


def attached(url: str, seeds: list[str]) -> Iterator[Rollout]:
    """Goes on with the episode by its handle before every step."""
    with connect(url, wait=WAIT) as connection:
        for seed in seeds:
            yield outcome(seed, lambda seed=seed: played(connection, seed, attach=True))  # type: ignore[misc]


def played(connection: Connection, seed: str, *, attach: bool) -> list[float]:
    """Plays an episode."""
    with connection.open(task(seed)) as episode:

        def step(value: int) -> tuple[str, bool]:
            player = connection.attach(episode.handle) if attach else episode
            answered = player.step("guess", {"value": value})
            return answered.observation.text, answered.end is not None

        halve(step)
        log = episode.played()
        if not attach:
            assert (log.total, len(log.steps)) == (episode.total, episode.seq)
        return result(log.total, len(log.steps))


def gymnasium(url: str, seeds: list[str]) -> Iterator[Rollout]:
    """Plays `EpisodicEnv`, whose actions are texts."""
    from episodic_env.gymnasium import EpisodicEnv

    def play(seed: str) -> list[float]:
        env = EpisodicEnv("number-guessing", url=url, tasks=[task(seed)], wait=WAIT)
        rewards: list[float] = []
        env.reset(seed=1)

        def step(value: int) -> tuple[str, bool]:
            text, reward, terminated, truncated, _ = env.step(
                json.dumps({"tool": "guess", "arguments": {"value": value}})
            )
            rewards.append(reward)
            return text, terminated or truncated

        halve(step)
        env.close()
        return result(sum(rewards), len(rewards))

    for seed in seeds:
        yield outcome(seed, lambda seed=seed: play(seed))  # type: ignore[misc]


def classics(url: str, seeds: list[str]) -> Iterator[Rollout]:
    """Balances a pole with a rule of thumb, for 30 steps at most."""
    from episodic_env.classics import cart_pole

    env = cart_pole(url=url, wait=WAIT, limits={"steps": 30})

    def play(seed: str) -> list[Any]:
        observation, _ = env.reset(seed=int(seed))
        seen, over = [observation.tolist()], False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(int(observation[2] + observation[3] > 0))
            seen.append([observation.tolist(), reward])
            over = terminated or truncated
        return seen

    for seed in seeds:
        yield outcome(seed, lambda seed=seed: play(seed))  # type: ignore[misc]
    env.close()


def trl(url: str, seeds: list[str]) -> Iterator[Rollout]:
    """Plays a class for `GRPOTrainer`, whose failed episodes have no reward."""
    from episodic_env.trl import environment, rows

    made = environment("number-guessing", url=url, wait=WAIT)
    instance = made()
    for row in rows(task(seed) for seed in seeds):

        def step(value: int) -> tuple[str, bool]:
            text = instance.guess(value=value)  # type: ignore[attr-defined]
            return text, text.endswith("The episode is over.")

        def play(row: Any = row, step: Any = step) -> list[float]:
            instance.reset(**row)
            with contextlib.suppress(RuntimeError):
                halve(step)
            reward = instance.get_reward()
            if reward is None or instance.episode is None:
                assert instance.failure is not None
                raise instance.failure
            return result(reward, instance.episode.seq)

        yield outcome(str(row["seed"]), play)


def inspect(url: str, seeds: list[str]) -> Iterator[Rollout]:
    """Evaluates with Inspect, and a model that halves."""
    from test_inspect import evaluate

    server = SimpleNamespace(url=url, token=os.environ["EPISODIC_CONTROL_TOKEN"])
    log = evaluate(server, Path("logs"), [task(seed) for seed in seeds], wait=WAIT, fail_on_error=False)
    for sample in log.samples or []:
        score = sample.scores["episode"].value if sample.scores else None
        failed = {"error": sample.error.message} if sample.error else {}
        yield {"key": sample.id, "result": score and result(score["return"], score["steps"]), **failed}


def verifiers(url: str, seeds: list[str]) -> Iterator[Rollout]:
    """Evaluates with `vf-eval`, and a model that halves."""
    import threading
    from http.server import ThreadingHTTPServer

    from test_verifiers import Halving, evaluate

    model = ThreadingHTTPServer(("127.0.0.1", 0), Halving)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    server = SimpleNamespace(url=url, token=os.environ["EPISODIC_CONTROL_TOKEN"])
    world = {"environment": {"name": "number-guessing"}, "prompt": "Find the number.", "params": {"high": HIGH}}
    rows = [{**world, "seed": seed} for seed in seeds]
    for episode in evaluate(
        server, f"http://127.0.0.1:{model.server_port}/v1", Path.cwd() / "evaluated", rows, repeats=1
    ):
        [trace] = episode["traces"]
        seed = trace["task"]["data"]["seed"]
        if episode["ok"]:
            score, steps = trace["rewards"]["episode_return"]["score"], trace["metrics"]["steps"]
            yield {"key": seed, "result": result(score, int(steps))}
        else:
            assert not trace.get("rewards"), "a failed rollout has a reward"
            yield {"key": seed, "result": None, "error": json.dumps(trace["errors"])}


def naive(url: str, seeds: list[str]) -> Iterator[Rollout]:
    """Plays plain MCP at the session URL, and repeats a failed call six times, without its number."""
    with connect(url, wait=WAIT) as connection:
        for seed in seeds:
            with connection.open(task(seed)) as episode:

                def step(value: int, address: str = episode.session_url) -> tuple[str, bool]:
                    params = {"name": "guess", "arguments": {"value": value}}
                    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
                    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
                    for _ in range(6):
                        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
                            request = urllib.request.Request(address, body, headers)
                            with urllib.request.urlopen(request) as answer:
                                said = json.loads(answer.read())["result"]
                            text = said["content"][0]["text"]
                            return text, "episode is over" in text
                    return "", True

                halve(step)
                log = episode.played()
                yield {"key": seed, "result": result(log.total, len(log.steps))}


PLAYERS = {
    "client": client,
    "client-websocket": client,
    "attached": attached,
    "gymnasium": gymnasium,
    "classics": classics,
    "trl": trl,
    "inspect": inspect,
    "verifiers": verifiers,
    "naive": naive,
}

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
