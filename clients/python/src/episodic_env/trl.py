"""Environments and datasets for TRL's `GRPOTrainer`. `dataset` needs the extra `trl`.

`environment` makes a class for `environment_factory`: its methods are the tools of a world, with the type hints and the
docstrings from which TRL makes their schemas.
"""

from __future__ import annotations

import inspect
import json
import keyword
import logging
import os
import re
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Optional, Union

from .connection import Connection, connect
from .environment_info import EnvironmentInfo, ToolInfo
from .episode import Episode
from .errors import EpisodicError
from .json_types import Json, JsonObject
from .task import Task, read_tasks
from .terms import total_of
from .waiting import PATIENCE

if TYPE_CHECKING:
    import datasets

__all__ = ["WorldEnvironment", "dataset", "environment", "reward_columns", "rows"]

log = logging.getLogger("episodic_env")

OVER = "The episode is over."
UNFINISHED = "unfinished"
"""The column of what an episode without an end earns."""
RESERVED = frozenset({"reset", "get_reward"})
"""Names that mean something else to TRL."""


class WorldEnvironment:
    """Plays one episode after the other, as TRL wants it. Use the classes that `environment` makes."""

    world: ClassVar[str]
    _connection: ClassVar[Connection]
    _weights: ClassVar[Mapping[str, float] | None]
    _unfinished: ClassVar[float]

    def __init__(self) -> None:
        # In a list, so that the session can be closed when TRL drops the instance, or the process ends.
        self._opened: list[Episode] = []
        self._failure: EpisodicError | None = None
        weakref.finalize(self, _release, self._opened, self.world, os.getpid())

    def reset(
        self,
        params: str | JsonObject | None = None,
        seed: str | None = None,
        limits: str | JsonObject | None = None,
        **row: Any,
    ) -> str:
        """Closes the episode before, and opens one with the columns of a row. Returns its first observation.

        `params` and `limits` may be JSON text, because columns of mixed types do not survive Arrow. A row with a `line`
        of a run, as its text, goes on from there after `step` steps: see `Connection.continue_episode`.

        Raises `EpisodicError`, which ends the training: a server that opens no episode needs its operator.
        """
        while self._opened:
            _closed(self._opened.pop(), self.world, retry=True)
        self._failure = None
        if row.get("environment", self.world) != self.world:
            message = f"The row is for {row['environment']}, and this environment plays {self.world}."
            raise EpisodicError("option-invalid", message, retryable=False)
        if line := _object(row.get("line")):
            episode = self._connection.continue_episode(line, row["step"], limits=_object(limits))
        else:
            episode = self._connection.open(self.world, _object(params), seed=seed, limits=_object(limits))
        self._opened.append(episode)
        text = episode.observation.text
        # TRL appends it to the prompt as it is.
        return f"\n\n{text}" if row.get("prompt") else text

    def get_reward(self) -> float | None:
        """Returns the return: the weighted sum of the terms of all steps. None for a failed episode.

        TRL gives a rollout without a reward no advantage; a 0 in its place would be learned from.
        """
        columns = self._columns()
        if columns is None or self.episode is None:
            return None
        if self._weights is None:
            return self.episode.total + columns.get(UNFINISHED, 0.0)
        return total_of(columns)

    def _columns(self) -> dict[str, float] | None:
        """Returns what each term earned, by its weight; None for a failed episode."""
        episode = self.episode
        if self._failure is not None or episode is None:
            return None
        if episode.info.judges_left and episode.end is None:
            try:
                episode.close()
            except EpisodicError as error:
                log.error("an episode of %s failed: %s", self.world, error)
                self._failure = error
                return None
        weights = self._weights or {}
        columns = {name: weights.get(name, 1.0) * term for name, term in episode.summed.items()}
        if self._unfinished:
            columns[UNFINISHED] = self._unfinished if episode.end is None or episode.left is not None else 0.0
        return columns

    @property
    def episode(self) -> Episode | None:
        """The episode that is played; None before the first reset."""
        return self._opened[0] if self._opened else None

    @property
    def failure(self) -> EpisodicError | None:
        """Why the episode failed; None if it did not."""
        return self._failure

    def _play(self, tool: str, arguments: JsonObject) -> str:
        # What is raised or returned here is shown to the model, which must not see the reason of an end, or an address.
        if self._failure is not None:
            raise RuntimeError("The environment failed. Call no more tools.")
        if self.episode is None:
            raise RuntimeError("No episode is being played.")
        if self.episode.end is not None:
            return f"{OVER} Call no more tools."
        try:
            step = self.episode.step(tool, arguments)
        except EpisodicError as error:
            log.error("an episode of %s failed: %s", self.world, error)
            self._failure = error
            raise RuntimeError("The environment failed. Call no more tools.") from None
        if step.end is None:
            return step.observation.text
        # Nothing tells TRL that it is over.
        return f"{step.observation.text}\n{OVER}"


def _release(opened: list[Episode], world: str, process: int) -> None:
    """Closes the session of an instance that is gone. After a fork, the sessions are the parent's."""
    while opened and os.getpid() == process:
        _closed(opened.pop(), world, retry=False)


def _closed(episode: Episode, world: str, *, retry: bool) -> None:
    try:
        if retry:
            episode.close()
        else:
            episode._close(retry=False)
    except EpisodicError as error:
        log.warning("a session of %s was not closed, and expires: %s", world, error)


def environment(
    world: str,
    *,
    url: str = "http://127.0.0.1:7337/env",
    token: str | None = None,
    wait: float = PATIENCE,
    timeout: float = 120.0,
    weights: Mapping[str, float] | None = None,
    unfinished: float = 0.0,
    columns: bool = False,
    name: str | None = None,
) -> type[WorldEnvironment]:
    """Makes a class for `environment_factory`, whose public methods are the tools of a world.

    All instances share one connection. Its name is that of the reward column in TRL's logs. Assign it to a variable of
    that name at the top level of a module, and other processes can unpickle it.

    A tool or an argument whose name Python does not allow, or TRL uses, gets a similar one: `count-up` is `count_up`,
    `reset` is `reset_`.

    Args:
        world: The name of the world on the server.
        url: The trainer endpoint.
        token: The control token; see `episodic_env.connect` for the default.
        wait: Seconds to wait for a server that does not answer; see `episodic_env.connect`.
        timeout: Seconds until a call without an answer counts as lost.
        weights: What the reward terms count, by their names; 1 for those that are left out. Default: the return.
        unfinished: Is added to the reward of an episode that has not ended when the model makes no more calls, or made
            none. Below 0, giving up is worse than failing, which many models learn otherwise.
        columns: Leaves `get_reward` out. Give `reward_columns` of the class to the trainer as its `reward_funcs`.
        name: The name of the class. Default: `NumberGuessing` for `number-guessing`.
    """
    connection = connect(url, token, wait=wait, timeout=timeout)
    info = connection.environment(world)
    if unknown := set(weights or {}) - set(info.terms):
        message = f"{world} has no reward term {', '.join(sorted(unknown))}. It has: {', '.join(info.terms)}."
        raise EpisodicError("option-invalid", message, retryable=False)
    chosen = name or "".join(part.capitalize() for part in re.split(r"\W|_", world))
    members: dict[str, Any] = {
        "__doc__": info.description,
        "world": world,
        "_connection": connection,
        "_weights": weights,
        "_unfinished": unfinished,
    }
    if columns:
        members["get_reward"] = None
    for method in _methods(info):
        members[method.__name__] = method
        method.__qualname__ = f"{chosen}.{method.__name__}"
    made = type(chosen, (WorldEnvironment,), members)
    made.__module__ = sys._getframe(1).f_globals.get("__name__", "__main__")
    return made


def reward_columns(*classes: type[WorldEnvironment]) -> list[Callable[..., list[float | None]]]:
    """Returns a reward function for each reward term of classes that `environment` has made with `columns=True`.

    TRL logs each of them under the name of its term, and adds them up. Each is the weight of the term times its sum;
    `unfinished` is one of them where it is given. For an episode of a world without the term it is None.

    Raises `option-invalid` for a class that has `get_reward`: TRL would count its reward twice.
    """
    names: list[str] = []
    for made in classes:
        if made.get_reward is not None:
            message = f"{made.__name__} has get_reward, which TRL adds to the columns. Make it with columns=True."
            raise EpisodicError("option-invalid", message, retryable=False)
        names += made._connection.environment(made.world).terms
        names += [UNFINISHED] if made._unfinished else []
    return [_column(name) for name in dict.fromkeys(names)]


def _column(name: str) -> Callable[..., list[float | None]]:
    def column(environments: list[WorldEnvironment], **_: Any) -> list[float | None]:
        return [(played._columns() or {}).get(name) for played in environments]

    column.__name__ = column.__qualname__ = name
    return column


def rows(tasks: str | PathLike[str] | Iterable[Task]) -> Iterator[dict[str, str | list[dict[str, str]] | None]]:
    """Returns the rows of a prompt dataset: `prompt`, and what `reset` reads of a row."""
    given = read_tasks(tasks) if isinstance(tasks, (str, PathLike)) else tasks
    for task in given:
        yield {
            "prompt": [{"role": "user", "content": task.prompt}],
            "environment": task.environment,
            "params": json.dumps(dict(task.params)),
            "seed": task.seed,
            "limits": json.dumps(dict(task.limits)),
            "task": task.id,
        }


def dataset(tasks: str | PathLike[str] | Iterable[Task]) -> datasets.Dataset:
    """Returns a prompt dataset of tasks, or of a JSONL file of `episodic dataset generate`."""
    try:
        from datasets import Dataset
    except ImportError as cause:
        raise ImportError('Datasets need the extra: pip install "episodic-env[trl]"') from cause
    return Dataset.from_list(list(rows(tasks)))


def _methods(info: EnvironmentInfo) -> list[Callable[..., str]]:
    names = _identifiers([tool.name for tool in info.tools], RESERVED | {"world", "episode", "failure"})
    return [_method(tool, name) for tool, name in zip(info.tools, names, strict=True)]


def _method(tool: ToolInfo, name: str) -> Callable[..., str]:
    properties: Mapping[str, Any] = tool.input_schema.get("properties", {})
    required = set(tool.input_schema.get("required", []))
    originals = dict(zip(_identifiers(list(properties), frozenset({"self"})), properties, strict=True))

    def method(self: WorldEnvironment, *values: Json, **named: Json) -> str:
        given = {**dict(zip(originals.values(), values, strict=False))}
        given |= {originals.get(key, key): value for key, value in named.items()}
        # What is missing or wrong is for the server to refuse: a step like any other. None stands for "left out".
        return self._play(tool.name, {k: v for k, v in given.items() if v is not None or k in required})

    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    annotations: dict[str, Any] = {}
    described: list[str] = []
    # Parameters without a default come first.
    for key, original in sorted(originals.items(), key=lambda pair: pair[1] not in required):
        schema = properties[original]
        needed = original in required
        hint = _hint(schema) if needed else Optional[_hint(schema)]  # noqa: UP045
        default = inspect.Parameter.empty if needed else schema.get("default")
        parameters.append(
            inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=hint)
        )
        annotations[key] = hint
        described.append(f"    {key}: {_line(schema.get('description')) or original}")
    method.__name__ = name
    method.__annotations__ = {**annotations, "return": str}
    method.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    method.__doc__ = _line(tool.description) + ("\n\nArgs:\n" + "\n".join(described) if described else "")
    return method


def _hint(schema: Any) -> Any:
    """Returns the type hint from which TRL makes a schema again."""
    if not isinstance(schema, Mapping):
        return Any
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if choices and all(isinstance(choice, (str, int, bool, type(None))) for choice in choices):
        return Literal[tuple(choices)]
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return Union[tuple(_hint(branch) for branch in branches)]  # noqa: UP007
    match schema.get("type"):
        case "integer":
            return int
        case "number":
            return float
        case "string":
            return str
        case "boolean":
            return bool
        case "null":
            return type(None)
        case "array":
            return list[_hint(schema.get("items"))]  # type: ignore[misc]
        case "object":
            values = schema.get("additionalProperties")
            return dict[str, _hint(values) if isinstance(values, Mapping) else Any]  # type: ignore[misc]
        case _:
            return Any


def _identifiers(names: list[str], taken: frozenset[str]) -> list[str]:
    """Returns a different public identifier for each name."""
    found: list[str] = []
    for name in names:
        identifier = re.sub(r"\W", "_", name, flags=re.ASCII).lstrip("_")
        if not identifier or identifier[0].isdigit():
            identifier = f"tool_{identifier}"
        while identifier in taken or identifier in found or keyword.iskeyword(identifier):
            identifier += "_"
        found.append(identifier)
    return found


def _line(text: Any) -> str:
    # The names of the sections would be read as sections.
    return re.sub(r"\b(Args|Returns|Raises):", r"\1 -", " ".join(str(text or "").split()))


def _object(value: str | JsonObject | None) -> JsonObject:
    if isinstance(value, str):
        read = json.loads(value)
        if not isinstance(read, dict):
            raise EpisodicError("option-invalid", f"Not a JSON object: {value}", retryable=False)
        return read
    return value or {}
