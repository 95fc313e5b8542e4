"""Gymnasium's classic environments, played on an Episodic server that serves `@episodic/classics`.

Importing this module registers `episodic-classics/Taxi-v4`, `CliffWalking-v1`, `FrozenLake-v1` and
`FrozenLake8x8-v1`. Spaces, observations, rewards, ends and limits are those of Gymnasium's environments of the same
names, and so are the arguments; the others are those of `episodic_env.gymnasium.EpisodicEnv`. Starts and chances are
drawn by the server, so that a seed gives other episodes.

Differences: `CliffWalking-v1` is truncated after 200 steps. A step that ends an episode by the rules is never truncated
too. `info` is that of `EpisodicEnv`. Needs the extra `gymnasium`.
"""

from __future__ import annotations

from typing import Any, Literal

import gymnasium
from gymnasium import spaces

from .gymnasium import EpisodicEnv
from .json_types import JsonObject
from .observation import Observation

__all__ = ["cliff_walking", "frozen_lake", "taxi"]

PASSENGERS = ("R", "G", "Y", "B", "taxi")
"""Where a passenger is, in the order of Gymnasium's numbers."""


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
    ("Taxi-v4", "taxi", {}),
    ("CliffWalking-v1", "cliff_walking", {}),
    ("FrozenLake-v1", "frozen_lake", {"map_name": "4x4"}),
    ("FrozenLake8x8-v1", "frozen_lake", {"map_name": "8x8"}),
):
    gymnasium.register(f"episodic-classics/{_name}", f"episodic_env.classics:{_entry}", kwargs=_arguments)
