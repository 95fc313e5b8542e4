"""The classics, step for step beside Gymnasium's own environments."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.toy_text.blackjack import draw_card, is_bust, sum_hand
from gymnasium.utils.env_checker import check_env
from serving import ROOT, Server

import episodic_env.classics  # noqa: F401

Pair = tuple[Any, Any]
"""Ours, and Gymnasium's."""
Open = Callable[..., Pair]

NAMES = (
    "CartPole-v1",
    "MountainCar-v0",
    "Taxi-v4",
    "CliffWalking-v1",
    "FrozenLake-v1",
    "FrozenLake8x8-v1",
    "Blackjack-v1",
)


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


def state_of(ours: Any) -> dict[str, Any]:
    return dict(ours.unwrapped.episode.observation.structured)


def test_an_id_with_its_module_is_known_to_a_process_that_has_not_imported_it(server: Server) -> None:
    program = f"""
import gymnasium
env = gymnasium.make("episodic_env.classics:episodic-classics/CartPole-v1", url="{server.url}", token="{server.token}")
print(env.reset(seed=7)[0].shape)
env.close()
"""
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src")}
    result = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True)
    assert result.stdout == "(4,)\n", result.stderr


@pytest.mark.parametrize("name", NAMES)
def test_spaces_are_gymnasiums(both: Open, name: str) -> None:
    ours, theirs = both(name)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    if name != "CartPole-v1":
        # It warns of bounds that are infinite, in both.
        check_env(ours.unwrapped, skip_render_check=True)


@pytest.mark.parametrize(
    ("name", "fields", "episodes", "act"),
    [
        (
            "CartPole-v1",
            ("position", "velocity", "angle", "angularVelocity"),
            40,
            lambda seen, draws: draws.randrange(2),
        ),
        # Balances for all 500 steps.
        (
            "CartPole-v1",
            ("position", "velocity", "angle", "angularVelocity"),
            1,
            lambda seen, draws: int(0.1 * seen[0] + 0.3 * seen[1] + seen[2] + 0.5 * seen[3] > 0),
        ),
        ("MountainCar-v0", ("position", "velocity"), 2, lambda seen, draws: draws.randrange(3)),
        # Swings up, and arrives after about 120 steps.
        ("MountainCar-v0", ("position", "velocity"), 8, lambda seen, draws: 2 if seen[1] >= 0 else 0),
    ],
)
def test_movement_is_gymnasiums(both: Open, name: str, fields: tuple[str, ...], episodes: int, act: Any) -> None:
    ours, theirs = both(name)
    draws = random.Random(0)
    for seed in range(episodes):
        seen, _ = theirs.reset(seed=seed)
        start = dict(zip(fields, map(float, theirs.unwrapped.state), strict=True))
        observation, _ = ours.reset(options={"start": start})
        over = False
        while not over:
            assert observation.dtype == seen.dtype and observation in ours.observation_space
            # Rounded to 32 bits, the last bit may differ where sine and cosine differ in the last of 64.
            np.testing.assert_array_max_ulp(observation, seen, maxulp=1, dtype=np.float32)
            exact = [state_of(ours)[field] for field in fields]
            np.testing.assert_allclose(exact, theirs.unwrapped.state, rtol=0, atol=1e-12)
            action = act(seen, draws)
            seen, reward, terminated, truncated, _ = theirs.step(action)
            observation, *rest = ours.step(action)
            assert rest[:3] == [reward, terminated, truncated and not terminated]
            over = terminated or truncated


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


@pytest.mark.parametrize(
    "arguments",
    [{}, {"sab": False, "natural": True}, {"sab": False, "natural": False}],
    ids=["sab", "natural", "neither"],
)
def test_hands_of_blackjack_are_gymnasiums(both: Open, arguments: dict[str, bool]) -> None:
    ours, theirs = both("Blackjack-v1", **arguments)
    table = theirs.unwrapped
    draws = random.Random(0)
    rewards = set()
    for seed in range(60):
        observation, _ = ours.reset(seed=seed)
        theirs.reset(seed=seed)
        hole = ours.unwrapped.episode.state()["private"]["hole"]
        table.player, table.dealer = first_cards(observation), [observation[1], hole]
        assert table._get_obs() == observation
        terminated = False
        while not terminated:
            hit = draws.random() < (0.7 if observation[0] < 17 else 0.1)
            player, dealer = list(table.player), list(table.dealer)
            observation, reward, terminated, truncated, info = ours.step(int(hit))
            # The text of the server says what it drew. Gymnasium draws the same: a card, or cards that lead to a sum.
            said = info["text"]
            cards = (
                [next(card for card in range(1, 11) if shown([*player, card]) == (observation[0], observation[2]))]
                if hit
                else cards_to(dealer, None if "goes over" in said else int(re.findall(r"ends with (\d+)", said)[0]))
            )
            table.np_random = Deck(cards)
            assert (observation, reward, terminated, truncated) == theirs.step(int(hit))[:4]
            assert table.np_random.cards == []
        rewards.add(reward)
    assert {-1.0, 0.0, 1.0} <= rewards
    assert (1.5 in rewards) == (arguments == {"sab": False, "natural": True})


class Deck(np.random.Generator):
    """Draws the given cards."""

    def __init__(self, cards: list[int]) -> None:
        super().__init__(np.random.PCG64())
        self.cards = list(cards)

    def choice(self, deck: Any, *_: Any, **__: Any) -> Any:
        assert self.cards[0] in deck
        return self.cards.pop(0)


def shown(hand: list[int]) -> tuple[int, int]:
    return sum_hand(hand), int(1 in hand and sum(hand) + 10 <= 21)


def first_cards(observation: tuple[int, int, int]) -> list[int]:
    """Returns two cards that are seen so."""
    total, _, usable = observation
    low, high = next(
        (low, high) for low in range(1, 11) for high in range(low, 11) if shown([low, high]) == (total, usable)
    )
    return [low, high]


def cards_to(dealer: list[int], total: int | None) -> list[int]:
    """Returns cards with which Gymnasium's dealer ends with a sum; None: goes over 21."""
    hands: list[list[int]] = [[]]
    while hands:
        drawn = hands.pop(0)
        hand = [*dealer, *drawn]
        if sum_hand(hand) < 17:
            hands.extend([*drawn, card] for card in range(1, 11))
        elif is_bust(hand) if total is None else sum_hand(hand) == total:
            return drawn
    raise AssertionError(f"Gymnasium's dealer does not come from {dealer} to {total}.")


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


def test_the_deck_draws_as_gymnasium_asks() -> None:
    assert [draw_card(Deck([card])) for card in (1, 10)] == [1, 10]
