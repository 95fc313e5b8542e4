"""The classics, step for step beside Gymnasium's own environments."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from serving import ROOT, Server

import episodic_env.classics  # noqa: F401

Pair = tuple[Any, Any]
"""Ours, and Gymnasium's."""
Open = Callable[..., Pair]

NAMES = ("Taxi-v4", "CliffWalking-v1", "FrozenLake-v1", "FrozenLake8x8-v1")


@pytest.fixture
def both(server: Server) -> Iterator[Open]:
    made: list[Any] = []

    def both(name: str, limit: int | None = None, **arguments: Any) -> Pair:
        ours = gymnasium.make(f"episodic-classics/{name}", url=server.url, token=server.token, **arguments)
        made.append(ours)
        return ours, gymnasium.make(name, max_episode_steps=limit, **arguments)

    yield both
    for env in made:
        env.close()


def test_an_id_with_its_module_is_known_to_a_process_that_has_not_imported_it(server: Server) -> None:
    program = f"""
import gymnasium
env = gymnasium.make("episodic_env.classics:episodic-classics/Taxi-v4", url="{server.url}", token="{server.token}")
print(env.observation_space)
env.close()
"""
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src")}
    result = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True)
    assert result.stdout == "Discrete(500)\n", result.stderr


@pytest.mark.parametrize("name", NAMES)
def test_spaces_are_gymnasiums(both: Open, name: str) -> None:
    ours, theirs = both(name)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    check_env(ours.unwrapped, skip_render_check=True)


def set_start(env: Any, observation: int) -> None:
    """Sets Gymnasium's environment to the start that the server has drawn, which must be a possible one."""
    env.reset(seed=0)
    assert env.unwrapped.initial_state_distrib[observation] > 0
    env.unwrapped.s = observation


@pytest.mark.parametrize(
    ("name", "episodes", "arguments"),
    [
        ("Taxi-v4", 50, {}),
        ("CliffWalking-v1", 40, {}),
        ("FrozenLake-v1", 40, {"is_slippery": False}),
        ("FrozenLake8x8-v1", 20, {"is_slippery": False}),
    ],
)
def test_steps_without_chance_are_gymnasiums(both: Open, name: str, episodes: int, arguments: dict[str, Any]) -> None:
    ours, theirs = both(name, limit=200 if name == "CliffWalking-v1" else None, **arguments)
    best = best_actions(theirs.unwrapped.P)
    draws = random.Random(0)
    ends = set()
    for seed in range(episodes):
        observation, _ = ours.reset(seed=seed)
        set_start(theirs, observation)
        # One episode in twenty is played at random to its limit.
        chance = 1.0 if seed % 20 == 0 else 0.15
        over = False
        while not over:
            action = draws.randrange(theirs.action_space.n) if draws.random() < chance else best[observation]
            seen, reward, terminated, truncated, _ = theirs.step(action)
            observation, *rest = ours.step(action)
            assert observation == seen and rest[:3] == [reward, terminated, truncated and not terminated]
            over = terminated or truncated
        ends.add((terminated, truncated))
    assert (True, False) in ends


@pytest.mark.parametrize(
    ("name", "episodes", "arguments"),
    [
        ("Taxi-v4", 20, {"is_rainy": True}),
        ("CliffWalking-v1", 12, {"is_slippery": True}),
        ("FrozenLake-v1", 40, {}),
        ("FrozenLake8x8-v1", 10, {}),
    ],
)
def test_steps_with_chance_are_among_gymnasiums(
    both: Open, name: str, episodes: int, arguments: dict[str, Any]
) -> None:
    """Each is a row of Gymnasium's table, with its reward and its end; that the chances are equal, other tests show."""
    ours, theirs = both(name, limit=200 if name == "CliffWalking-v1" else None, **arguments)
    table = theirs.unwrapped.P
    best = best_actions(table)
    draws = random.Random(0)
    met = set()
    for seed in range(episodes):
        observation, _ = ours.reset(seed=seed)
        set_start(theirs, observation)
        over = False
        while not over:
            action = draws.randrange(theirs.action_space.n) if draws.random() < 0.15 else best[observation]
            rows = {(int(after), float(reward), bool(done)) for _, after, reward, done in table[observation][action]}
            *_, truncated, _ = theirs.step(action)
            before = observation
            observation, reward, terminated, ended, _ = ours.step(action)
            assert (observation, reward, terminated) in rows
            assert ended == (truncated and not terminated)
            if len(rows) > 1:
                met.add((before, action, observation))
            theirs.unwrapped.s = observation
            over = terminated or ended
    # Moves do go astray.
    assert len({(before, action) for before, action, _ in met}) < len(met)


def best_actions(table: dict[int, dict[int, list[tuple[float, int, float, bool]]]]) -> list[int]:
    """Returns an action of highest value for each state, by value iteration over Gymnasium's own table."""
    values = np.zeros(len(table))

    def value(rows: list[tuple[float, int, float, bool]]) -> float:
        return sum(chance * (reward + 0.99 * values[after] * (not done)) for chance, after, reward, done in rows)

    for _ in range(300):
        new = np.array([max(value(rows) for rows in table[state].values()) for state in table])
        if np.abs(new - values).max() < 1e-9:
            break
        values = new
    return [max(table[state], key=lambda action: value(table[state][action])) for state in table]
