"""Datasets that Python writes, as `episodic serve --tasks` and `episodic run` read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING

from .canonical_json import content_id
from .errors import EpisodicError
from .json_types import Json
from .task import Task

if TYPE_CHECKING:
    from .connection import Connection


def write_tasks(file: str | PathLike[str], tasks: Iterable[Task], connection: Connection) -> list[Task]:
    """Writes a JSONL dataset, one task a line, and returns its tasks as they were written.

    What a row needs and a task lacks is filled in: the version and the tools of the environment, which the connection
    knows, a seed (the number of the row) and the id. The id is the hash of what is played, so an `id` of yours is
    replaced. Replaces the file.

    Raises `unknown-environment`, and `option-invalid` for another version than the served one, a task that is not JSON,
    or one that is played like an earlier one. It writes nothing then.
    """
    rows: dict[str, dict[str, Json]] = {}
    written: list[Task] = []
    for number, task in enumerate(tasks):
        row = _row(task, number, connection)
        if row["id"] in rows:
            message = f"Task {number} is played like an earlier one: give it another seed."
            raise EpisodicError("option-invalid", message, retryable=False)
        rows[row["id"]] = row
        written.append(
            Task(
                task.environment,
                params=task.params,
                seed=row["seed"],
                limits=task.limits,
                prompt=task.prompt,
                id=row["id"],
                version=row["environment"]["version"],
                split=task.split,
                difficulty=task.difficulty,
                tags=task.tags,
            )
        )
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")) for row in rows.values()]
    with open(file, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in lines)
    return written


def _row(task: Task, number: int, connection: Connection) -> dict[str, Json]:
    info = connection.environment(task.environment)
    if task.version not in (None, info.version):
        message = f"Task {number} is of {info.name} {task.version}, and the server has {info.version}."
        raise EpisodicError("option-invalid", message, retryable=False)
    tools = [tool.name for tool in info.tools]
    played: dict[str, Json] = {
        "environment": {"name": info.name, "version": info.version},
        "params": dict(task.params),
        "seed": str(number) if task.seed is None else task.seed,
        "limits": dict(task.limits),
        "tools": tools,
        "prompt": task.prompt,
    }
    described = {"hints": [], "difficulty": task.difficulty, "split": task.split, "tags": list(task.tags)}
    described["metadata"] = {}
    # The order in which a world lists its tools changes nothing.
    return {"id": content_id({**played, "tools": sorted(tools)}), **played, **described}
