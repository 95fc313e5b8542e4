"""Gymnasium's classic environments, played on an Episodic server that serves `@episodic/classics`.

Importing this module registers `episodic-classics/CartPole-v1`, `MountainCar-v0`, `Taxi-v4`, `CliffWalking-v1`,
`FrozenLake-v1`, `FrozenLake8x8-v1` and `Blackjack-v1`. Spaces, observations, rewards, ends and limits are those of
Gymnasium's environments of the same names, and so are the arguments; the others are those of
`episodic_env.gymnasium.EpisodicEnv`. Starts and chances are drawn by the server, so that a seed gives other episodes.

Differences: `CliffWalking-v1` is truncated after 200 steps. A step that ends an episode by the rules is never truncated
too. `info` is that of `EpisodicEnv`. Needs the extra `gymnasium`.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces

from .gymnasium import EpisodicEnv
from .json_types import JsonObject
from .observation import Observation

__all__ = ["blackjack", "cart_pole", "cliff_walking", "frozen_lake", "mountain_car", "taxi"]

PASSENGERS = ("R", "G", "Y", "B", "taxi")
"""Where a passenger is, in the order of Gymnasium's numbers."""


def cart_pole(**options: Any) -> EpisodicEnv:
    """Returns `CartPole-v1`. `reset(options={"start": {...}})` gives the start: `position`, `velocity`, and so on."""

    def observe(observation: Observation) -> Any:
        cart = _state(observation)
        return np.array(
            [cart["position"], cart["velocity"], cart["angle"], cart["angularVelocity"]],
            np.float32,
        )

    # Twice what ends an episode, as in Gymnasium.
    high = np.array([2 * 2.4, np.inf, 2 * 12 * 2 * math.pi / 360, np.inf], np.float32)
    return _env("cart-pole", observe, spaces.Box(-high, high, dtype=np.float32), {}, options)


def mountain_car(**options: Any) -> EpisodicEnv:
    """Returns `MountainCar-v0`. `reset(options={"start": {...}})` gives the start: `position` and `velocity`."""

    def observe(observation: Observation) -> Any:
        car = _state(observation)
        return np.array([car["position"], car["velocity"]], np.float32)

    low, high = np.array([-1.2, -0.07], np.float32), np.array([0.6, 0.07], np.float32)
    return _env("mountain-car", observe, spaces.Box(low, high, dtype=np.float32), {}, options)


def taxi(*, is_rainy: bool = False, **options: Any) -> EpisodicEnv:
    """Returns `Taxi-v4`."""

    def observe(observation: Observation) -> int:
        town = _state(observation)
        passenger, destination = PASSENGERS.index(town["passenger"]), PASSENGERS.index(town["destination"])
        return int(((town["row"] * 5 + town["column"]) * 5 + passenger) * 4 + destination)

    return _env("taxi", observe, spaces.Discrete(500), {"rainy": is_rainy}, options)


def cliff_walking(*, is_slippery: bool = False, **options: Any) -> EpisodicEnv:
    """Returns `CliffWalking-v1`, with a limit of 200 steps."""
    return _env("cliff-walking", _position, spaces.Discrete(48), {"slippery": is_slippery}, options)


def frozen_lake(*, map_name: Literal["4x4", "8x8"] = "4x4", is_slippery: bool = True, **options: Any) -> EpisodicEnv:
    """Returns `FrozenLake-v1` or `FrozenLake8x8-v1`."""
    squares = spaces.Discrete(16 if map_name == "4x4" else 64)
    return _env("frozen-lake", _position, squares, {"map": map_name, "slippery": is_slippery}, options)


def blackjack(*, natural: bool = False, sab: bool = True, **options: Any) -> EpisodicEnv:
    """Returns `Blackjack-v1`. `sab` is on, as it is registered in Gymnasium; `natural` counts without it alone."""

    def observe(observation: Observation) -> tuple[int, int, int]:
        hand = _state(observation)
        return hand["sum"], hand["dealer"], int(hand["usableAce"])

    space = spaces.Tuple((spaces.Discrete(32), spaces.Discrete(11), spaces.Discrete(2)))
    return _env("blackjack", observe, space, {"naturals": "win" if sab else "pay" if natural else "count"}, options)


def _env(
    world: str, observe: Any, space: spaces.Space[Any], params: JsonObject, options: dict[str, Any]
) -> EpisodicEnv:
    return EpisodicEnv(world, params=params, actions="derived", observe=observe, observation_space=space, **options)


def _position(observation: Observation) -> int:
    return int(_state(observation)["position"])


def _state(observation: Observation) -> JsonObject:
    assert observation.structured is not None
    return observation.structured


for _name, _entry, _arguments in (
    ("CartPole-v1", "cart_pole", {}),
    ("MountainCar-v0", "mountain_car", {}),
    ("Taxi-v4", "taxi", {}),
    ("CliffWalking-v1", "cliff_walking", {}),
    ("FrozenLake-v1", "frozen_lake", {"map_name": "4x4"}),
    ("FrozenLake8x8-v1", "frozen_lake", {"map_name": "8x8"}),
    ("Blackjack-v1", "blackjack", {"sab": True, "natural": False}),
):
    gymnasium.register(f"episodic-classics/{_name}", f"episodic_env.classics:{_entry}", kwargs=_arguments)
