"""Environments and datasets for TRL's `GRPOTrainer`. `dataset` needs the extra `trl`.

`environment` makes a class for `environment_factory`: its methods are the tools of a world, with the type hints and the
docstrings from which TRL makes their schemas.
"""

from __future__ import annotations

import inspect
import json
import keyword
import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Optional, Union

from .connection import Connection, connect
from .environment_info import EnvironmentInfo, ToolInfo
from .episode import Episode
from .errors import EpisodicError
from .json_types import Json, JsonObject
from .task import Task, read_tasks

if TYPE_CHECKING:
    import datasets

__all__ = ["WorldEnvironment", "dataset", "environment", "rows"]

log = logging.getLogger("episodic_env")

OVER = "The episode is over."
RESERVED = frozenset({"reset", "get_reward"})
"""Names that mean something else to TRL."""


class WorldEnvironment:
    """Plays one episode after the other, as TRL wants it. Use the classes that `environment` makes."""

    world: ClassVar[str]
    _connection: ClassVar[Connection]

    def __init__(self) -> None:
        self._episode: Episode | None = None
        self._failure: EpisodicError | None = None

    def reset(
        self,
        params: str | JsonObject | None = None,
        seed: str | None = None,
        limits: str | JsonObject | None = None,
        **row: Any,
    ) -> str:
        """Closes the episode before, and opens one with the columns of a row. Returns its first observation.

        `params` and `limits` may be JSON text, because columns of mixed types do not survive Arrow.

        Raises `EpisodicError`, which ends the training: a server that opens no episode needs its operator.
        """
        self._close()
        self._failure = None
        if row.get("environment", self.world) != self.world:
            message = f"The row is for {row['environment']}, and this environment plays {self.world}."
            raise EpisodicError("option-invalid", message, retryable=False)
        self._episode = self._connection.open(self.world, _object(params), seed=seed, limits=_object(limits))
        text = self._episode.observation.text
        # TRL appends it to the prompt as it is.
        return f"\n\n{text}" if row.get("prompt") else text

    def get_reward(self) -> float | None:
        """Returns the return so far: the sum of the raw terms of all steps. None for a failed episode.

        TRL gives a rollout without a reward no advantage; a 0 in its place would be learned from.
        """
        if self._failure is not None or self._episode is None:
            return None
        return self._episode.total

    @property
    def episode(self) -> Episode | None:
        """The episode that is played; None before the first reset."""
        return self._episode

    @property
    def failure(self) -> EpisodicError | None:
        """Why the episode failed; None if it did not."""
        return self._failure

    def _play(self, tool: str, arguments: JsonObject) -> str:
        # What is raised here is shown to the model, which must not see the reason of an end, or an address.
        if self._failure is not None:
            raise RuntimeError("The environment failed. Call no more tools.")
        if self._episode is None:
            raise RuntimeError("No episode is being played.")
        if self._episode.end is not None:
            raise RuntimeError(f"{OVER} Call no more tools.")
        try:
            step = self._episode.step(tool, arguments)
        except EpisodicError as error:
            log.error("an episode of %s failed: %s", self.world, error)
            self._failure = error
            raise RuntimeError("The environment failed. Call no more tools.") from None
        if step.end is None:
            return step.observation.text
        # Nothing tells TRL that it is over.
        return f"{step.observation.text}\n{OVER}"

    def _close(self) -> None:
        if self._episode is not None:
            episode, self._episode = self._episode, None
            try:
                episode.close()
            except EpisodicError as error:
                log.warning("a session of %s was not closed, and expires: %s", self.world, error)


def environment(
    world: str,
    *,
    url: str = "http://127.0.0.1:7337/env",
    token: str | None = None,
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
        name: The name of the class. Default: `NumberGuessing` for `number-guessing`.
    """
    connection = connect(url, token)
    info = connection.environment(world)
    chosen = name or "".join(part.capitalize() for part in re.split(r"\W|_", world))
    members: dict[str, Any] = {"__doc__": info.description, "world": world, "_connection": connection}
    for method in _methods(info):
        members[method.__name__] = method
        method.__qualname__ = f"{chosen}.{method.__name__}"
    made = type(chosen, (WorldEnvironment,), members)
    made.__module__ = sys._getframe(1).f_globals.get("__name__", "__main__")
    return made


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
