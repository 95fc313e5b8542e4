"""Tasks: what a row of a dataset asks a player to do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from .errors import EpisodicError
from .json_types import JsonObject


@dataclass(frozen=True)
class Task:
    """What to play. Rows of `episodic dataset generate` have every field."""

    environment: str
    params: JsonObject = field(default_factory=dict)
    seed: str | None = None
    """The same seed, parameters and actions give the same episode. None lets the server draw one."""
    limits: JsonObject = field(default_factory=dict)
    prompt: str = ""
    """The instruction for the player."""
    id: str = ""
    version: str | None = None
    """The version of the environment that must be served. None takes any."""
    split: str = "train"
    difficulty: float = 0.0
    tags: tuple[str, ...] = ()

    @property
    def held_out(self) -> bool:
        """Whether `episodic dataset hold-out` has marked it: no model is to be trained on it."""
        return "held-out" in self.tags


def task_of(row: Mapping[str, Any]) -> Task:
    """Reads a row. Raises `option-invalid` for a row that names no environment."""
    environment = row.get("environment")
    if not isinstance(environment, Mapping) or not isinstance(environment.get("name"), str):
        raise EpisodicError("option-invalid", "A task has no environment: {name, version}.", retryable=False)
    return Task(
        environment=environment["name"],
        version=environment.get("version"),
        params=row.get("params", {}),
        seed=row.get("seed"),
        limits=row.get("limits", {}),
        prompt=row.get("prompt", ""),
        id=row.get("id", ""),
        split=row.get("split", "train"),
        difficulty=row.get("difficulty", 0.0),
        tags=tuple(row.get("tags", ())),
    )


def read_tasks(file: str | PathLike[str]) -> Iterator[Task]:
    """Reads a JSONL dataset, line by line. Raises `option-invalid` with the line that is no task."""
    with open(file, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield task_of(json.loads(line))
            except (ValueError, AttributeError, EpisodicError) as cause:
                message = f"{file}:{number} is no task: {cause}"
                raise EpisodicError("option-invalid", message, retryable=False) from cause
