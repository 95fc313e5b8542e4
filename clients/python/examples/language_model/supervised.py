"""The supervised start: cross-entropy of the calls in demonstrations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from model import Parameters, Shape, log_probabilities
from padding import padded
from turns import TokenSequence

BATCH = 32
"""Most sequences of an update."""
LEARNING_RATE = 2e-3
"""At the start. It ends at 0."""


def train_supervised(
    parameters: Parameters, shape: Shape, sequences: Sequence[TokenSequence], updates: int, seed: int
) -> tuple[Parameters, int]:
    """Updates with sequences that the seed draws. Returns the parameters, and how many tokens were learned from."""
    rows = min(BATCH, len(sequences))
    tokens, _ = padded([sequence.tokens for sequence in sequences], len(sequences))
    calls, _ = padded([sequence.calls for sequence in sequences], len(sequences))
    learned = calls > 0
    rate = optax.cosine_decay_schedule(LEARNING_RATE, updates)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate))
    state = optimizer.init(parameters)

    @jax.jit
    def update(
        parameters: Parameters, state: optax.OptState, tokens: jax.Array, learned: jax.Array
    ) -> tuple[Parameters, optax.OptState]:
        gradient = jax.grad(partial(_loss, shape=shape, tokens=tokens, learned=learned))(parameters)
        changes, state = optimizer.update(gradient, state)
        return optax.apply_updates(parameters, changes), state

    rng = np.random.default_rng(seed)
    trained = 0
    for _ in range(updates):
        drawn = rng.choice(len(sequences), rows, replace=False)
        parameters, state = update(parameters, state, tokens[drawn], learned[drawn])
        trained += sum(len(sequences[row].tokens) for row in drawn)
    return parameters, trained


def _loss(parameters: Parameters, shape: Shape, tokens: jax.Array, learned: jax.Array) -> jax.Array:
    logs = log_probabilities(parameters, shape, tokens)
    return -jnp.sum(logs * learned[:, 1:]) / jnp.sum(learned[:, 1:])
