"""A causal transformer in plain JAX: RMS norm before each layer, rotary positions, no biases."""

from __future__ import annotations

import hashlib
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

Parameters: TypeAlias = dict[str, jax.Array]
STACKED = ("attention", "attention_out", "hidden", "hidden_out", "norms")
"""The parameters of layers."""


class Shape(NamedTuple):
    """The size of a model. The default has about a million parameters beside the embedding."""

    layers: int = 3
    width: int = 160
    heads: int = 4


class Cache(NamedTuple):
    """Keys and values of the tokens so far: for each layer, of shape (rows, length, heads, width of a head)."""

    keys: tuple[jax.Array, ...]
    values: tuple[jax.Array, ...]


def initial_parameters(key: jax.Array, shape: Shape, tokens: int) -> Parameters:
    """Draws parameters. The matrices of all layers are stacked."""
    layers, width, _ = shape

    def normal(name: int, *size: int, scale: float = 1.0) -> jax.Array:
        return scale * jax.random.normal(jax.random.fold_in(key, name), size) / jnp.sqrt(size[-2])

    out = (2 * layers) ** -0.5
    return {
        "embedding": 0.02 * jax.random.normal(jax.random.fold_in(key, 0), (tokens, width)),
        "attention": normal(1, layers, width, 3 * width),
        "attention_out": normal(2, layers, width, width, scale=out),
        "hidden": normal(3, layers, width, 4 * width),
        "hidden_out": normal(4, layers, 4 * width, width, scale=out),
        "norms": jnp.ones((layers, 2, width)),
        "last_norm": jnp.ones(width),
    }


def empty_cache(shape: Shape, rows: int, length: int) -> Cache:
    """Returns a cache without tokens."""
    size = (rows, length, shape.heads, shape.width // shape.heads)
    zeros = tuple(jnp.zeros(size) for _ in range(shape.layers))
    return Cache(zeros, zeros)


def forward(
    parameters: Parameters, shape: Shape, tokens: jax.Array, cache: Cache, start: jax.Array
) -> tuple[jax.Array, Cache]:
    """Returns the logits of the token after each of `tokens`, and the cache with these tokens.

    Args:
        parameters: Of the model.
        shape: Of the model.
        tokens: Token ids, of shape (rows, n). Padding at the end of a row changes nothing before it.
        cache: What was computed for the tokens before. Its length bounds the sum of both.
        start: How many tokens of each row the cache has.
    """
    rows, count = tokens.shape
    positions = start[:, None] + jnp.arange(count)
    visible = jnp.arange(cache.keys[0].shape[1])[None, None] <= positions[:, :, None]
    row = jnp.arange(rows)[:, None]
    whole = count == cache.keys[0].shape[1]
    head_width = shape.width // shape.heads

    def layer(
        stream: jax.Array, own: Parameters, keys: jax.Array, values: jax.Array
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        projected = _norm(stream, own["norms"][0]) @ own["attention"]
        query, key, value = jnp.split(projected.reshape(rows, count, 3 * shape.heads, head_width), 3, axis=2)
        key = _rotated(key, positions)
        # A sequence from its start fills the cache in one piece, which is cheaper than by indices.
        keys = key if whole else keys.at[row, positions].set(key)
        values = value if whole else values.at[row, positions].set(value)
        scores = jnp.einsum("bqhd,bkhd->bhqk", _rotated(query, positions), keys) / head_width**0.5
        weights = jax.nn.softmax(jnp.where(visible[:, None], scores, -1e9))
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, values).reshape(rows, count, shape.width)
        stream = stream + mixed @ own["attention_out"]
        hidden = jax.nn.gelu(_norm(stream, own["norms"][1]) @ own["hidden"])
        return stream + hidden @ own["hidden_out"], keys, values

    stream = parameters["embedding"][tokens]
    caches = []
    # No scan: with an array for each layer, the loop that draws tokens changes the cache in place.
    for number in range(shape.layers):
        own = {name: parameters[name][number] for name in STACKED}
        stream, *cached = layer(stream, own, cache.keys[number], cache.values[number])
        caches.append(cached)
    keys, values = zip(*caches, strict=True)
    return _norm(stream, parameters["last_norm"]) @ parameters["embedding"].T, Cache(keys, values)


def log_probabilities(parameters: Parameters, shape: Shape, tokens: jax.Array) -> jax.Array:
    """Returns the log-probability of each token but the first, given those before it: shape (rows, length - 1)."""
    rows, length = tokens.shape
    cache = empty_cache(shape, rows, length)
    logits, _ = forward(parameters, shape, tokens, cache, jnp.zeros(rows, int))
    of_all = jax.nn.log_softmax(logits[:, :-1])
    return jnp.take_along_axis(of_all, tokens[:, 1:, None], axis=2)[:, :, 0]


def count_of(parameters: Parameters) -> int:
    """Returns how many numbers the parameters are."""
    return sum(array.size for array in parameters.values())


def hash_of(parameters: Parameters) -> str:
    """Returns the SHA-256 of the parameters' bytes, in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(parameters):
        digest.update(name.encode() + np.asarray(parameters[name]).tobytes())
    return digest.hexdigest()


def _norm(stream: jax.Array, scale: jax.Array) -> jax.Array:
    return scale * stream * jax.lax.rsqrt(jnp.mean(stream**2, axis=-1, keepdims=True) + 1e-6)


def _rotated(heads: jax.Array, positions: jax.Array) -> jax.Array:
    """Rotates pairs of features by angles that grow with the position (RoPE, arXiv 2104.09864)."""
    half = heads.shape[-1] // 2
    angles = positions[:, :, None, None] * 10_000.0 ** (-jnp.arange(half) / half)
    first, second = jnp.split(heads, 2, axis=-1)
    sine, cosine = jnp.sin(angles), jnp.cos(angles)
    return jnp.concatenate([first * cosine - second * sine, first * sine + second * cosine], axis=-1)
