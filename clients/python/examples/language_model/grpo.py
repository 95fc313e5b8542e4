"""Group relative policy optimization (arXiv 2402.03300), without a penalty for leaving the start.

The loss is the mean over all drawn tokens, as in DAPO (arXiv 2503.14476), and returns are not divided by their standard
deviation, as in Dr. GRPO (arXiv 2503.20783).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from model import Parameters, Shape, log_probabilities
from padding import padded
from rollouts import Rollout
from turns import TokenSequence, sequences_of

CLIP = 0.2
"""How far the ratio of new to old probability may leave 1 before it stops to be followed."""
EPOCHS = 1
"""How often each batch of episodes is learned from."""
MINIBATCHES = 4
"""Updates in each epoch, each with a part of the batch. The later ones are clipped against the start of the batch."""
INVALID_COST = 0.2
"""What an invalid call costs beside its reward: a world may charge little, and then nothing keeps the format."""
ROWS = 32
"""Sequences whose gradient is computed at once."""

Weights: TypeAlias = tuple[float, float]
"""The sum of the positive advantages of equal sequences, and that of the negative ones."""


def advantages(rollouts: Sequence[Rollout]) -> list[tuple[Rollout, float]]:
    """Returns each episode with its advantage: its return less the cost of its invalid calls, less its group's mean.

    A group is the episodes of one seed. A failed episode has no return and is in no mean. Where all returns are equal
    there is nothing to learn, and the episodes are left out. In standard deviations, a group in which all succeed, one
    of them a step sooner by luck, would count as much as one in which half of them fail.
    """
    groups: dict[str, list[tuple[Rollout, float]]] = defaultdict(list)
    for rollout in rollouts:
        if rollout.total is not None:
            groups[rollout.seed].append((rollout, rollout.total - INVALID_COST * rollout.invalid))
    found = []
    for group in groups.values():
        returns = np.array([total for _, total in group])
        if np.ptp(returns) > 1e-9:
            centred = returns - returns.mean()
            found += [(rollout, float(value)) for (rollout, _), value in zip(group, centred, strict=True)]
    return found


class Learner:
    """Parameters, and the state of their optimizer."""

    def __init__(self, parameters: Parameters, shape: Shape, learning_rate: float, iterations: int) -> None:
        """Takes the highest learning rate: it is reached after a fifth of the iterations, and ends at 0."""
        self.parameters = parameters
        self.trained_tokens = 0
        """Tokens that gradients were computed of, without padding."""
        # Adam's first changes are of full size however small the gradient is.
        updates = EPOCHS * MINIBATCHES * iterations
        rate = optax.warmup_cosine_decay_schedule(learning_rate / 10, learning_rate, updates // 5, updates)
        self._optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate))
        self._state = self._optimizer.init(parameters)
        self._order = np.random.default_rng(0)
        self._gradient = jax.jit(jax.grad(partial(_loss, shape=shape)))
        self._apply = jax.jit(self._applied)

    def update(self, rollouts: Sequence[Rollout]) -> None:
        """Improves the parameters with groups of episodes that they have just played."""
        weights: dict[TokenSequence, Weights] = defaultdict(lambda: (0.0, 0.0))
        drawn = 0
        for rollout, advantage in advantages(rollouts):
            for sequence in sequences_of(rollout.turns):
                # The gradient of equal sequences is computed once, with the sum of their weights.
                positive, negative = weights[sequence]
                weights[sequence] = (positive + max(advantage, 0.0), negative + min(advantage, 0.0))
                drawn += sum(sequence.learned)
        if not weights:
            return
        sequences = list(weights.items())
        count = min(MINIBATCHES, len(sequences))
        for _ in range(EPOCHS):
            for minibatch in np.array_split(self._order.permutation(len(sequences)), count):
                self._step([sequences[index] for index in minibatch], drawn / count)
            self.trained_tokens += sum(len(sequence.tokens) for sequence in weights)

    def _step(self, minibatch: list[tuple[TokenSequence, Weights]], drawn: float) -> None:
        ordered = sorted(minibatch, key=lambda item: len(item[0].tokens))
        parts = [_arrays(ordered[start : start + ROWS]) for start in range(0, len(ordered), ROWS)]
        gradients = [self._gradient(self.parameters, *part, drawn) for part in parts]
        total = jax.tree.map(lambda *arrays: sum(arrays[1:], arrays[0]), *gradients)
        self.parameters, self._state = self._apply(self.parameters, self._state, total)

    def _applied(
        self, parameters: Parameters, state: optax.OptState, gradient: Parameters
    ) -> tuple[Parameters, optax.OptState]:
        changes, state = self._optimizer.update(gradient, state)
        return optax.apply_updates(parameters, changes), state


def _arrays(part: Sequence[tuple[TokenSequence, Weights]]) -> tuple[np.ndarray, ...]:
    tokens, _ = padded([sequence.tokens for sequence, _ in part], ROWS)
    learned = np.zeros(tokens.shape, dtype=np.float32)
    old = np.zeros(tokens.shape, dtype=np.float32)
    weights = np.zeros((ROWS, 2), dtype=np.float32)
    for row, (sequence, of_sequence) in enumerate(part):
        learned[row, : len(sequence.tokens)] = sequence.learned
        old[row, : len(sequence.tokens)] = sequence.log_probabilities
        weights[row] = of_sequence
    return tokens, learned[:, 1:], old[:, 1:], weights


def _loss(
    parameters: Parameters,
    tokens: jax.Array,
    learned: jax.Array,
    old: jax.Array,
    weights: jax.Array,
    drawn: float,
    shape: Shape,
) -> jax.Array:
    ratio = jnp.exp((log_probabilities(parameters, shape, tokens) - old) * learned)
    positive, negative = weights[:, :1], weights[:, 1:]
    objective = positive * jnp.minimum(ratio, 1 + CLIP) + negative * jnp.maximum(ratio, 1 - CLIP)
    return -jnp.sum(objective * learned) / drawn
