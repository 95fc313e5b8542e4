"""The Gymnasium adapter."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from gymnasium import Env, make, make_vec, spaces
from gymnasium.utils.env_checker import check_env
from serving import LossyProxy, Server

import episodic_env.gymnasium
from episodic_env import EpisodicError, Observation, Task, connect
from episodic_env.gymnasium import EpisodicEnv, register_worlds

HALVING = (50, 75, 62, 68, 65)


def guess(value: int) -> str:
    return json.dumps({"tool": "guess", "arguments": {"value": value}})


class GuessingArrays(EpisodicEnv):
    """Number guessing for array learners: the observation is the range that the answers leave."""

    def __init__(self, *, high: int, **options: Any) -> None:
        super().__init__(
            "number-guessing",
            params={"low": 1, "high": high},
            actions="derived",
            bounds={"guess.value": (1, high)},
            **options,
        )
        number = spaces.Discrete(high, start=1)
        self.observation_space = spaces.Dict({"low": number, "high": number})
        self._range = (1, high)

    def observe(self, observation: Observation) -> Any:
        shown = observation.structured or {}
        low, high = self._range
        if "hint" not in shown:
            low, high = shown["low"], shown["high"]
        elif shown["hint"] == "higher":
            low = max(low, shown["value"] + 1)
        elif shown["hint"] == "lower":
            high = min(high, shown["value"] - 1)
        else:
            low = high = shown["value"]
        self._range = (low, high)
        return {"low": np.int64(low), "high": np.int64(high)}


def lake(observation: Observation) -> Any:
    assert observation.structured is not None
    return np.int64(observation.structured["position"])


def test_the_package_is_imported_without_gymnasium() -> None:
    import subprocess

    program = "import sys, episodic_env; print('gymnasium' in sys.modules or 'websockets' in sys.modules)"
    path = episodic_env.gymnasium.__file__.rsplit("/", 2)[0]
    printed = subprocess.check_output([sys.executable, "-c", program], env={"PYTHONPATH": path}, text=True)
    assert printed.strip() == "False"


def test_plays_an_episode_of_text(server: Server) -> None:
    env = make("episodic/NumberGuessing-v0", url=server.url, token=server.token)
    observation, info = env.reset(seed=7)
    assert observation == info["text"] == "Guess a whole number from 1 to 100. 8 guesses left."
    low, high, rewards, terminated = 1, 100, [], False
    while not terminated:
        value = (low + high) // 2
        observation, reward, terminated, truncated, info = env.step(guess(value))
        rewards.append(reward)
        assert not truncated
        if "higher" in observation:
            low = value + 1
        else:
            high = value - 1
    assert (rewards[-1], info["terms"], info["end"]) == (0.99, {"solved": 1.0, "cost": -0.01}, "solved")
    assert isinstance(reward, float) and isinstance(terminated, bool)
    env.close()
    env.close()


def test_a_text_that_is_no_call_is_refused_as_a_step(server: Server) -> None:
    env = EpisodicEnv("number-guessing", url=server.url, token=server.token, render_mode="ansi")
    env.reset(seed=1)
    for action in ("fifty", "[]", '{"tool": 1}', '{"tool": "guess", "arguments": []}', "x" * 60_000, "zwölf", "\n"):
        observation, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated, info["refused"]) == (-0.01, False, False, "tool")
        assert "There is no tool" in observation
        assert env.render() == observation
    assert env.step(guess(1000))[4]["refused"] == "rules"
    with pytest.raises(EpisodicError):
        env.step(50)
    env.close()


def test_a_seed_repeats_the_episodes_that_follow(server: Server) -> None:
    env = EpisodicEnv("number-guessing", url=server.url, token=server.token)

    def seeds() -> list[str]:
        return [env.reset(seed=3)[1]["seed"], env.reset()[1]["seed"], env.reset()[1]["seed"]]

    first = seeds()
    assert len(set(first)) == 3
    assert seeds() == first
    env.close()


def test_options_are_parameters_over_those_of_the_constructor(server: Server) -> None:
    env = EpisodicEnv("number-guessing", url=server.url, token=server.token, params={"low": 5, "high": 9})
    assert env.reset()[0].startswith("Guess a whole number from 5 to 9.")
    assert env.reset(options={"high": 7})[0].startswith("Guess a whole number from 5 to 7.")
    env.close()


def test_tasks_are_played_with_their_own_seed(server: Server) -> None:
    tasks = [Task("number-guessing", params={"high": high}, seed=f"task {high}") for high in (10, 20, 30)]
    env = EpisodicEnv("number-guessing", url=server.url, token=server.token, tasks=tasks)
    env.reset(seed=0)
    seen = {env.reset()[1]["seed"] for _ in range(20)}
    assert seen == {"task 10", "task 20", "task 30"}
    env.close()


def test_derived_actions_of_one_bounded_integer(server: Server) -> None:
    env = GuessingArrays(high=100, url=server.url, token=server.token)
    assert env.action_space == spaces.Discrete(100, start=1)
    with connect(server.url, server.token) as connection, connection.open("number-guessing", seed="7") as episode:
        target = episode.state()["private"]["target"]
    observation, _ = env.reset(options={"high": 100})
    while True:
        observation, reward, terminated, _, _ = env.step((observation["low"] + observation["high"]) // 2)
        if terminated:
            break
    assert reward == 0.99 and observation["low"] == observation["high"]
    assert 1 <= target <= 100
    with pytest.raises(EpisodicError):
        env.call_of(101)
    env.close()


def test_derived_actions_of_an_enum(server: Server) -> None:
    env = make(
        "episodic/FrozenLake-v0",
        url=server.url,
        token=server.token,
        params={"slippery": False},
        actions="derived",
        observe=lake,
        observation_space=spaces.Discrete(16),
    )
    assert env.action_space == spaces.Discrete(4)
    env.reset(seed=0)
    left, down, right, _up = range(4)
    positions = [env.step(action)[0] for action in (down, down, right, right, down)]
    assert positions == [4, 8, 9, 10, 14]
    assert env.step(right)[:3] == (15, 1.0, True)
    assert left == 0
    env.close()


def test_derived_actions_of_several_tools(server: Server) -> None:
    env = EpisodicEnv("warehouse", url=server.url, token=server.token, actions="derived")
    assert env.action_space == spaces.Discrete(1 + 4 + 50 + 1 + 1)
    assert env.call_of(0) == ("look", {})
    assert env.call_of(2) == ("move", {"direction": "down"})
    assert env.call_of(5 + 49) == ("pick", {"quantity": 50})
    assert env.call_of(np.int64(56)) == ("recharge", {})
    env.close()


def test_worlds_whose_actions_cannot_be_derived_say_why(server: Server) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("number-guessing", {}, "guess.value"),
        ("frozen-lake", {"bounds": {"move.speed": (1, 2)}}, "move.speed"),
        ("odd-tools", {}, "note.text"),
    ]
    for world, options, why in cases:
        with pytest.raises(EpisodicError, match=why):
            EpisodicEnv(world, url=server.url, token=server.token, actions="derived", **options)
    with pytest.raises(EpisodicError, match="observation_space"):
        EpisodicEnv("frozen-lake", url=server.url, token=server.token, observe=lake)


@pytest.mark.parametrize(
    "made",
    [
        lambda **at: make("episodic/NumberGuessing-v0", **at).unwrapped,
        lambda **at: make("episodic/World-v0", world="warehouse", render_mode="ansi", **at).unwrapped,
        lambda **at: GuessingArrays(high=100, **at),
        lambda **at: EpisodicEnv(
            "frozen-lake", actions="derived", observe=lake, observation_space=spaces.Discrete(16), **at
        ),
        lambda **at: EpisodicEnv("warehouse", actions="derived", **at),
    ],
    ids=["text", "several tools as text", "integer", "enum", "several tools"],
)
def test_gymnasium_finds_no_fault(server: Server, made: Callable[..., Env[Any, Any]]) -> None:
    env = made(url=server.url, token=server.token)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env)
    env.close()
    # Made without `make`, there is no spec, from which it would make the environment in other render modes.
    found = [str(warning.message) for warning in caught if "spec" not in str(warning.message)]
    assert found == []


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vector_environments(server: Server, mode: Any) -> None:
    vector = make_vec(
        "episodic/NumberGuessing-v0",
        3,
        vectorization_mode=mode,
        url=server.url,
        token=server.token,
        limits={"steps": 4},
    )
    observations, infos = vector.reset(seed=1)
    assert len(observations) == 3 and len(set(infos["seed"])) == 3
    for played in range(1, 5):
        observations, rewards, terminated, truncated, infos = vector.step([guess(0)] * 3)
        assert rewards.tolist() == [-0.01] * 3
        assert infos["terms"]["cost"].tolist() == [-0.01] * 3
        assert truncated.tolist() == [played == 4] * 3
        assert not terminated.any()
    assert infos["end"].tolist() == ["step-limit"] * 3
    _, _, _, truncated, _ = vector.step([guess(0)] * 3)
    assert not truncated.any()
    vector.close()


def test_a_time_limit_of_gymnasium_leaves_no_session_open(server: Server) -> None:
    with connect(server.url, server.token) as operator:
        before = operator._call("environment/sessions", {}, True)["total"]
        env = make("episodic/NumberGuessing-v0", url=server.url, token=server.token, max_episode_steps=2)
        for _ in range(3):
            env.reset()
            assert [env.step(guess(0))[3] for _ in range(2)] == [False, True]
        assert operator._call("environment/sessions", {}, True)["total"] == before + 1
        env.close()
        assert operator._call("environment/sessions", {}, True)["total"] == before


def test_success_is_in_the_info_at_the_end(server: Server) -> None:
    ids = register_worlds(server.url, server.token)
    assert "episodic/OddTools-v0" in ids
    env = make("episodic/OddTools-v0", params={"end": 2})
    env.reset()
    one = json.dumps({"tool": "count-up", "arguments": {"by": 1}})
    assert "success" not in env.step(one)[4]
    assert env.step(one)[4]["success"] is True
    env.close()


def test_a_lost_server_is_an_exception(server: Server) -> None:
    env = EpisodicEnv("number-guessing", url=server.url, token=server.token)
    env.reset()
    assert env.episode is not None
    env.connection._call("environment/close", {"session": env.episode._session}, True)
    with pytest.raises(EpisodicError, match="no such session"):
        env.step(guess(1))
    env.reset()
    env.close()


def test_lost_answers_change_no_episode(server: Server, proxy: LossyProxy) -> None:
    def play(url: str) -> list[object]:
        with closing(EpisodicEnv("number-guessing", url=url, token=server.token, params={"high": 100})) as env:
            seen: list[object] = [env.reset(seed=3)[0]]
            for value in range(1, 9):
                seen.append(env.step(guess(value))[:4])
            return seen

    expected = play(server.url)
    proxy.lose_every(3, 1)
    assert play(proxy.url) == expected
    assert proxy.lost > 2
