"""The environments that are learned, and how.

Hyperparameters were chosen in trials with seed 101 and other held-out seeds, before the runs of docs/play/train.md.
Those of frozen-lake, for all three credits at once: rates of 5e-4, 2e-3 and 4e-3 were tried, the last one with seed
102, and states with and without the advantage of the episode. Its runs have the seeds 31 to 35.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calls import call_text
from model import Shape


@dataclass(frozen=True)
class World:
    """An environment with its parameters, and the size of the training."""

    name: str
    module: str
    """What the command `episodic` loads."""
    params: Mapping[str, Any]
    prompt: str
    calls: tuple[str, ...]
    """All calls that can be valid, for the random player."""
    success: str
    """The reason of an end that is a success."""
    remembers: bool
    """Whether the model is shown the whole episode, or the latest observation alone."""
    longest_observation: int
    """Tokens of an observation that the model is shown: as many as those have that refuse nothing."""
    limits: Mapping[str, int]
    demonstrations: int
    """Episodes for the supervised start: few, so that something is left to learn."""
    supervised_updates: int
    iterations: int | None
    """Batches of episodes; None where the training ends after so many `tokens`."""
    groups: int
    """Tasks in an iteration. With few of them, GRPO learns what is peculiar to these, such as the number to guess."""
    minibatches: int
    """Updates with each batch of episodes, each with a part of it. The later ones are clipped against the start of the
    batch. Longer episodes have more calls to learn from."""
    learning_rate: float
    """Of GRPO, at its highest."""
    group_size: int = 8
    """Episodes of each task: in a tree, its leaves."""
    demonstrator: str = "solver"
    """The policy of the demonstrations, as `episodic run` knows it."""
    tokens: int = 0
    """Sampled tokens, the same for each method, in tenths of which the model is evaluated on held-out seeds."""
    held_out: int = 256
    """Seeds on which players are evaluated."""
    shape: Shape = field(default_factory=Shape)


WORLDS = {
    world.name: world
    for world in (
        World(
            name="number-guessing",
            module="number-guessing",
            params={"low": 1, "high": 15, "maxGuesses": 4},
            prompt="Find the number.",
            calls=tuple(call_text("guess", {"value": value}) for value in range(1, 16)),
            success="solved",
            remembers=True,
            longest_observation=16,
            limits={"steps": 6},
            demonstrations=16,
            supervised_updates=50,
            iterations=100,
            groups=16,
            minibatches=2,
            learning_rate=5e-4,
        ),
        World(
            name="warehouse",
            module="warehouse",
            params={"size": 3, "articles": 1, "bins": 1, "orders": 1, "capacity": 4, "battery": 20},
            prompt="Deliver the order.",
            calls=(
                *(call_text("move", {"direction": direction}) for direction in ("up", "down", "left", "right")),
                *(call_text("pick", {"quantity": quantity}) for quantity in range(1, 5)),
                *(call_text(tool, {}) for tool in ("look", "deliver", "recharge")),
            ),
            success="all-delivered",
            remembers=False,
            longest_observation=40,
            limits={"steps": 16},
            demonstrations=64,
            supervised_updates=200,
            iterations=80,
            groups=16,
            minibatches=8,
            learning_rate=5e-4,
        ),
        World(
            name="frozen-lake",
            module="frozen-lake",
            params={"map": "4x4", "slippery": False},
            prompt="Reach the goal.",
            calls=tuple(call_text("move", {"direction": direction}) for direction in ("left", "down", "right", "up")),
            success="goal",
            remembers=False,
            longest_observation=20,
            limits={"steps": 16},
            demonstrations=64,
            demonstrator="random",
            supervised_updates=100,
            iterations=None,
            tokens=40_000,
            groups=8,
            group_size=16,
            minibatches=2,
            learning_rate=2e-3,
            held_out=128,
            shape=Shape(layers=2, width=64, heads=2),
        ),
    )
}
