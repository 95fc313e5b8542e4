"""Completions of token sequences, drawn from the model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from model import Cache, Parameters, Shape, forward, forward_whole
from padding import padded
from vocabulary import END

ROWS = 64
"""Contexts that are computed at once."""


class Completion(NamedTuple):
    """The drawn tokens, up to `END` or the limit, and their log-probabilities when they were drawn."""

    tokens: list[int]
    log_probabilities: list[float]


def sample(
    parameters: Parameters,
    shape: Shape,
    contexts: Sequence[tuple[int, ...]],
    key: jax.Array,
    numbers: Sequence[int],
    limit: int,
) -> list[Completion]:
    """Draws one completion of each context, at temperature 1, of at most `limit` tokens.

    What is drawn follows from the key and the number of each context, whatever else is in the batch.
    """
    completions: dict[int, Completion] = {}
    # The shortest first, so that few rows are padded to the length of the longest one.
    ordered = sorted(range(len(contexts)), key=lambda index: len(contexts[index]))
    for start in range(0, len(contexts), ROWS):
        part = ordered[start : start + ROWS]
        drawn = _sample_part(
            parameters, shape, [contexts[index] for index in part], key, [numbers[index] for index in part], limit
        )
        completions.update(zip(part, drawn, strict=True))
    return [completions[index] for index in range(len(contexts))]


def _sample_part(
    parameters: Parameters,
    shape: Shape,
    contexts: Sequence[tuple[int, ...]],
    key: jax.Array,
    numbers: Sequence[int],
    limit: int,
) -> list[Completion]:
    # Rows that are left have ended before they begin.
    unused = ROWS - len(contexts)
    tokens, lengths = padded(contexts, ROWS)
    ended = np.arange(ROWS) >= len(contexts)
    drawn, logs = _draw(parameters, shape, tokens, lengths, ended, key, np.array([*numbers, *[0] * unused]), limit)
    rows = zip(np.asarray(drawn).tolist(), np.asarray(logs).tolist(), strict=True)
    return [_until_end(of_tokens, of_logs) for (of_tokens, of_logs), _ in zip(rows, contexts, strict=False)]


def _until_end(tokens: list[int], logs: list[float]) -> Completion:
    length = tokens.index(END) + 1 if END in tokens else len(tokens)
    return Completion(tokens[:length], logs[:length])


@partial(jax.jit, static_argnames=("shape", "limit"))
def _draw(
    parameters: Parameters,
    shape: Shape,
    tokens: jax.Array,
    lengths: jax.Array,
    ended: jax.Array,
    key: jax.Array,
    numbers: jax.Array,
    limit: int,
) -> tuple[jax.Array, jax.Array]:
    rows, length = tokens.shape
    keys = jax.vmap(jax.random.fold_in, (None, 0))(key, numbers)
    logits, known = forward_whole(parameters, shape, tokens)
    cache = jax.tree.map(lambda array: jnp.pad(array, ((0, 0), (0, limit), (0, 0), (0, 0))), known)
    slots = jnp.arange(length + limit)[None, None]
    # What is drawn comes after the padding, which is never seen.
    context = slots < lengths[:, None, None]

    def unfinished(state: _State) -> jax.Array:
        return (state.count < limit) & ~jnp.all(state.ended)

    def draw_next(state: _State) -> _State:
        row_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, state.count)
        token = jax.vmap(jax.random.categorical)(row_keys, state.logits)
        log = jnp.take_along_axis(jax.nn.log_softmax(state.logits), token[:, None], axis=1)[:, 0]
        place = length + state.count
        visible = context | ((slots >= length) & (slots <= place))
        positions = (lengths + state.count)[:, None]
        logits, cache = forward(parameters, shape, token[:, None], positions, visible, state.cache, place)
        return _State(
            state.count + 1,
            state.ended | (token == END),
            state.tokens.at[:, state.count].set(token),
            state.logs.at[:, state.count].set(log),
            logits[:, 0],
            cache,
        )

    start = _State(
        jnp.array(0),
        ended,
        jnp.full((rows, limit), END),
        jnp.zeros((rows, limit)),
        logits[jnp.arange(rows), lengths - 1],
        cache,
    )
    end = jax.lax.while_loop(unfinished, draw_next, start)
    return end.tokens, end.logs


class _State(NamedTuple):
    count: jax.Array
    ended: jax.Array
    tokens: jax.Array
    logs: jax.Array
    logits: jax.Array
    cache: Cache
