"""Who plays: the model, or chance."""

from __future__ import annotations

import random

import jax
from model import Parameters, Shape
from rollouts import Player
from sampling import Completion, sample
from vocabulary import END, Vocabulary
from worlds import World

LONGEST_CALL = 16
"""Tokens of a call. One that is longer is cut off, and so malformed."""


def model_player(parameters: Parameters, shape: Shape, key: jax.Array) -> Player:
    """Draws calls from the model. The key, the number of an episode and the turn decide what is drawn."""
    return lambda contexts, numbers, turn: sample(
        parameters, shape, contexts, jax.random.fold_in(key, turn), numbers, LONGEST_CALL
    )


def random_player(world: World, vocabulary: Vocabulary, seed: int) -> Player:
    """Makes each valid call of the world with the same probability."""
    calls = [[*vocabulary.encode(call), END] for call in world.calls]
    rng = random.Random(seed)
    return lambda contexts, numbers, turn: [
        Completion(call, [0.0] * len(call)) for call in rng.choices(calls, k=len(contexts))
    ]
