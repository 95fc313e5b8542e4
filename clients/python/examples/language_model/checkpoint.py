"""What a killed training goes on from, and ends with equal bits."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

State: TypeAlias = tuple[list[np.ndarray], dict[str, Any]]
"""Arrays, and what JSON can hold."""


class Checkpoint:
    """A file that always holds the latest whole state, whenever the process is killed."""

    def __init__(self, file: Path, settings: str) -> None:
        """Takes what the training depends on: a state of other settings is refused."""
        self._file = file
        self._settings = settings

    def read(self) -> State | None:
        """Returns the arrays and the other values that were written last; None at the start."""
        if not self._file.exists():
            return None
        with np.load(self._file) as kept:
            others = json.loads(str(kept["others"]))
            arrays = [kept[f"array {number}"] for number in range(len(kept.files) - 1)]
        if others.pop("settings") != self._settings:
            raise SystemExit(f"{self._file} is of a training with other settings. Remove it, or choose another --out.")
        return arrays, others

    def write(self, arrays: list[np.ndarray], others: dict[str, Any]) -> None:
        """Replaces the state in one step."""
        new = self._file.with_suffix(".new.npz")
        with new.open("wb") as file:
            text = json.dumps({**others, "settings": self._settings})
            named = {f"array {number}": array for number, array in enumerate(arrays)}
            np.savez(file, others=np.array(text), **named)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._file)

    def remove(self) -> None:
        """Ends it: the same command begins anew."""
        self._file.unlink(missing_ok=True)
