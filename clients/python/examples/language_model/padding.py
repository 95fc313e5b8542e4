"""Sequences of different lengths as arrays of few different shapes: XLA compiles a program for each shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from vocabulary import PAD


def padded(sequences: Sequence[Sequence[int]], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the sequences as so many rows of one array, and their lengths.

    They are padded to 32, 48, 64, 96, 128 … tokens. Rows that are left have length 1.
    """
    array = np.full((rows, _padded_length(max(map(len, sequences)))), PAD, dtype=np.int32)
    lengths = np.ones(rows, dtype=np.int32)
    for row, sequence in enumerate(sequences):
        array[row, : len(sequence)] = sequence
        lengths[row] = len(sequence)
    return array, lengths


def _padded_length(longest: int) -> int:
    """Returns the next power of two, or three quarters of one, from 32."""
    length = 32
    while length < longest:
        length = length * 3 // 2 if length & (length - 1) == 0 else length * 4 // 3
    return length
