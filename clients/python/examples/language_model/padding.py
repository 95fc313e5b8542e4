"""Sequences of different lengths as arrays of few different shapes: XLA compiles a program for each shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from vocabulary import PAD


def padded(sequences: Sequence[Sequence[int]], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the sequences as so many rows of one array, and their lengths.

    They are padded to a multiple of 64 tokens. Rows that are left have length 1.
    """
    longest = max(map(len, sequences))
    array = np.full((rows, -(-longest // 64) * 64), PAD, dtype=np.int32)
    lengths = np.ones(rows, dtype=np.int32)
    for row, sequence in enumerate(sequences):
        array[row, : len(sequence)] = sequence
        lengths[row] = len(sequence)
    return array, lengths
