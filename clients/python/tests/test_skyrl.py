"""The adapter of SkyRL-gym. Runs in the environment of `pnpm interop python skyrl`."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

skyrl_gym = pytest.importorskip("skyrl_gym")

from serving import LONG, LossyProxy, Server  # noqa: E402

from episodic_env import EpisodicError, connect  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def _registered() -> None:
    skyrl_gym.register("episodic", "episodic_env.skyrl:WorldEnv")


def make(server: Server, **row: Any) -> Any:
    config = {"url": server.url, "token": server.token}
    return skyrl_gym.make("episodic", env_config=config, extras={"environment": "number-guessing", **row})


def guess(value: int) -> str:
    return json.dumps({"tool": "guess", "arguments": {"value": value}})


def rollout(env: Any) -> list[tuple[str, float, bool]]:
    conversation, _ = env.init([{"role": "user", "content": "Find the number."}])
    seen = [(conversation[-1]["content"], 0.0, False)]
    low, high, done = 1, 100, False
    while not done:
        value = (low + high) // 2
        out = env.step(guess(value))
        done = out["done"]
        text = out["observations"][0]["content"] if out["observations"] else ""
        seen.append((text, out["reward"], done))
        low, high = (value + 1, high) if "higher" in text else (low, value - 1)
    return seen


def test_plays_as_the_client_does(server: Server) -> None:
    env = make(server, seed=7, params={"high": 100}, max_turns=50)
    seen = rollout(env)
    assert seen[0] == ("Guess a whole number from 1 to 100. 8 guesses left.", 0.0, False)
    assert [reward for _, reward, _ in seen[1:]] == [-0.01] * 4 + [0.99]
    assert [done for _, _, done in seen[1:]] == [False] * 4 + [True]
    assert env.get_metrics() == {"solved": 1.0, "cost": -0.05, "steps": 5}
    env.close()
    env.close()


def test_what_is_no_call_is_a_refused_step(server: Server) -> None:
    env = make(server, seed="7")
    env.init([])
    out = env.step("I think it is 50.")
    assert (out["reward"], out["done"], out["metadata"]["refused"]) == (-0.01, False, "tool")
    env.close()


def test_the_turns_of_the_training_end_a_rollout(server: Server) -> None:
    env = make(server, seed="7", max_turns=2)
    env.init([])
    assert [env.step(guess(1))["done"] for _ in range(2)] == [False, True]
    env.close()


def test_many_rollouts_lose_answers_and_no_reward(server: Server, proxy: LossyProxy) -> None:
    proxy.lose_every(3, 1)

    def play(seed: int) -> list[tuple[str, float, bool]]:
        config = {"url": proxy.url, "token": server.token, "wait": LONG}
        env = skyrl_gym.make("episodic", env_config=config, extras={"environment": "number-guessing", "seed": seed})
        try:
            return rollout(env)
        finally:
            env.close()

    with ThreadPoolExecutor(8) as pool:
        lossy = list(pool.map(play, range(16)))
    assert proxy.lost > 5
    assert lossy == [rollout(make(server, seed=seed)) for seed in range(16)]


def test_a_lost_session_is_an_error(server: Server) -> None:
    env = make(server)
    env.init([])
    with connect(server.url, server.token) as operator:
        operator.attach(env.episode.handle).close()
    with pytest.raises(EpisodicError):
        env.step(guess(1))
    env.close()
