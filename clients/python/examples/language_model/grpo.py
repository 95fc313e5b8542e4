"""Group relative policy optimization (arXiv 2402.03300), without a penalty for leaving the start.

Each call has an advantage of its own, as in GiGPO (arXiv 2505.10978). The loss is the mean over all drawn tokens, and a
probability may rise further than it may fall, as in DAPO (arXiv 2503.14476).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from credit import Credited
from model import Parameters, Shape, log_probabilities_and_entropy
from padding import padded
from turns import TokenSequence, sequences_of

LOWEST, HIGHEST = 0.8, 1.28
"""Where the ratio of new to old probability stops to be followed."""
ENTROPY_BONUS = 0.03
"""What a nat of entropy is worth for a drawn token, in standard deviations of the advantage: after a few hundred
demonstrated calls, a model is sure of itself where it is wrong, and would not try anything else."""
WARM_UP = 20
"""Updates in which the learning rate rises: Adam's first changes are of full size however small the gradient is."""
ROWS = 32
"""Sequences whose gradient is computed at once."""


class Figures(NamedTuple):
    """What the updates with a batch did."""

    gradient_norm: float
    """The mean over the updates, before clipping."""
    clipped: float
    """The share of tokens whose ratio was no longer followed."""
    entropy: float
    """Minus the mean log-probability of the drawn tokens, when they were drawn."""


class Learner:
    """Parameters, and the state of their optimizer."""

    def __init__(
        self, parameters: Parameters, shape: Shape, learning_rate: float, iterations: int | None, minibatches: int
    ) -> None:
        """Takes the highest learning rate: it rises to it in the first updates, and ends at a tenth.

        Where the number of iterations is not known, because tokens are counted, it stays.
        """
        self.parameters = parameters
        self._minibatches = minibatches
        self.trained_tokens = 0
        """Tokens that gradients were computed of, without padding."""
        if iterations is None:
            rate = optax.linear_schedule(learning_rate / 10, learning_rate, WARM_UP)
        else:
            updates = minibatches * iterations
            rate = optax.warmup_cosine_decay_schedule(
                learning_rate / 10, learning_rate, min(WARM_UP, updates // 2), updates, learning_rate / 10
            )
        self._optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate, b2=0.98))
        self._state = self._optimizer.init(parameters)
        self._order = np.random.default_rng(0)
        self._gradient = jax.jit(jax.grad(partial(_loss, shape=shape), has_aux=True))
        self._apply = jax.jit(self._applied)

    def kept(self) -> tuple[list[np.ndarray], dict[str, Any]]:
        """Returns all that the next update depends on: arrays, and what JSON can hold."""
        arrays = [np.asarray(array) for array in jax.tree.leaves((self.parameters, self._state))]
        return arrays, {"trained_tokens": self.trained_tokens, "order": self._order.bit_generator.state}

    def restore(self, arrays: Sequence[np.ndarray], others: dict[str, Any]) -> None:
        """Goes on from what `kept` returned."""
        known = jax.tree.structure((self.parameters, self._state))
        self.parameters, self._state = jax.tree.unflatten(known, map(jnp.asarray, arrays))
        self.trained_tokens, self._order.bit_generator.state = others["trained_tokens"], others["order"]

    def update(self, episodes: Credited) -> Figures:
        """Improves the parameters with groups of episodes that they have just played."""
        # The gradient of equal sequences is computed once, with the sums of their positive and negative
        # advantages, and their number.
        weights: dict[TokenSequence, np.ndarray] = {}
        drawn, surprise = 0, 0.0
        for rollout, of_calls in episodes:
            first = 0
            for sequence in sequences_of(rollout.turns):
                calls = max(sequence.calls)
                # What leaves of a tree share is learned with one of them.
                learned = np.array(sequence.calls) > max(0, rollout.shared - first)
                of_tokens = learned * np.array([0.0, *of_calls[first : first + calls]])[list(sequence.calls)]
                signs = np.stack([np.maximum(of_tokens, 0.0), np.minimum(of_tokens, 0.0), learned])
                first += calls
                if learned.any():
                    weights[sequence] = weights[sequence] + signs if sequence in weights else signs
                    drawn += int(learned.sum())
                    surprise -= float(learned @ np.array(sequence.log_probabilities))
        sequences = list(weights.items())
        count = min(self._minibatches, len(sequences))
        if count == 0:
            return Figures(0.0, 0.0, surprise / max(drawn, 1))
        norms, clipped = 0.0, 0.0
        for minibatch in np.array_split(self._order.permutation(len(sequences)), count):
            norm, of_minibatch = self._step([sequences[index] for index in minibatch], drawn / count)
            norms += norm / count
            clipped += of_minibatch / drawn
        self.trained_tokens += sum(len(sequence.tokens) for sequence, _ in sequences)
        return Figures(norms, clipped, surprise / drawn)

    def _step(self, minibatch: list[tuple[TokenSequence, np.ndarray]], drawn: float) -> tuple[float, float]:
        """Returns the norm of the gradient, and how many tokens were clipped."""
        ordered = sorted(minibatch, key=lambda item: len(item[0].tokens))
        parts = [_arrays(ordered[start : start + ROWS]) for start in range(0, len(ordered), ROWS)]
        computed = [self._gradient(self.parameters, *part, drawn) for part in parts]
        total, clipped = jax.tree.map(lambda *arrays: sum(arrays[1:], arrays[0]), *computed)
        self.parameters, self._state, norm = self._apply(self.parameters, self._state, total)
        return float(norm), float(clipped)

    def _applied(
        self, parameters: Parameters, state: optax.OptState, gradient: Parameters
    ) -> tuple[Parameters, optax.OptState, jax.Array]:
        changes, state = self._optimizer.update(gradient, state)
        return optax.apply_updates(parameters, changes), state, optax.tree.norm(gradient)


def _arrays(part: Sequence[tuple[TokenSequence, np.ndarray]]) -> tuple[np.ndarray, ...]:
    tokens, _ = padded([sequence.tokens for sequence, _ in part], ROWS)
    old = np.zeros(tokens.shape, dtype=np.float32)
    weights = np.zeros((3, *tokens.shape), dtype=np.float32)
    for row, (sequence, of_sequence) in enumerate(part):
        old[row, : len(sequence.tokens)] = sequence.log_probabilities
        weights[:, row, : len(sequence.tokens)] = of_sequence
    return tokens, old[:, 1:], weights[:2, :, 1:], weights[2, :, 1:]


def _loss(
    parameters: Parameters,
    tokens: jax.Array,
    old: jax.Array,
    weights: jax.Array,
    count: jax.Array,
    drawn: float,
    shape: Shape,
) -> tuple[jax.Array, jax.Array]:
    """Returns the loss, and how many tokens are clipped in it."""
    positive, negative = weights
    # Where there is no weight, there is no old probability.
    weighted = positive > negative
    logs, entropy = log_probabilities_and_entropy(parameters, shape, tokens)
    ratio = jnp.exp(jnp.where(weighted, logs - old, 0.0))
    objective = positive * jnp.minimum(ratio, HIGHEST) + negative * jnp.maximum(ratio, LOWEST)
    clipped = ((positive > 0) & (ratio > HIGHEST)) | ((negative < 0) & (ratio < LOWEST))
    bonus = ENTROPY_BONUS * entropy * count
    return -jnp.sum(objective + bonus) / drawn, jnp.sum(clipped)
