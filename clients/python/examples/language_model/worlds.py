"""The environments that are learned, and how.

Hyperparameters were chosen in trials with seed 101 and other held-out seeds, before the runs of docs/play/train.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calls import call_text


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
    """Episodes of the solver for the supervised start: few, so that something is left to learn."""
    supervised_updates: int
    iterations: int
    groups: int
    """Tasks in an iteration. With few of them, GRPO learns what is peculiar to these, such as the number to guess."""
    minibatches: int
    """Updates with each batch of episodes, each with a part of it. The later ones are clipped against the start of the
    batch. Longer episodes have more calls to learn from."""
    learning_rate: float
    """Of GRPO, at its highest."""
    group_size: int = 8
    """Episodes of each task."""
    held_out: int = 256
    """Seeds on which players are evaluated."""


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
    )
}
