"""Numbers for tool calls, where the arguments of every tool are finite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .environment_info import ToolInfo
from .errors import EpisodicError
from .json_types import Json, JsonObject

WIDEST = 1 << 32
"""Values of one argument; a schema's bounds beyond it are those of the number type, and not of the world."""

MOST_NUMBERED = 4_096
"""Calls in one Discrete space."""

Bounds = Mapping[str, tuple[int, int]]
"""The least and the greatest value of an integer argument, by `tool.argument`."""


@dataclass(frozen=True)
class FiniteArgument:
    """An argument with finitely many values, numbered from 0."""

    name: str
    values: Sequence[Json]


@dataclass(frozen=True)
class FiniteTool:
    """A tool with finitely many calls, numbered from 0. The last argument changes fastest."""

    name: str
    arguments: tuple[FiniteArgument, ...]

    @property
    def calls(self) -> int:
        """How many different calls there are."""
        return math.prod(len(argument.values) for argument in self.arguments)

    def arguments_of(self, number: int) -> dict[str, Json]:
        """Returns the arguments of a call."""
        given: dict[str, Json] = {}
        for argument in reversed(self.arguments):
            number, index = divmod(number, len(argument.values))
            given[argument.name] = argument.values[index]
        return dict(reversed(given.items()))


def numbered_call(tools: Sequence[FiniteTool], number: int) -> tuple[str, JsonObject]:
    """Returns the tool and the arguments of a call; the calls of all tools are numbered from 0, tool by tool."""
    for tool in tools:
        if 0 <= number < tool.calls:
            return tool.name, tool.arguments_of(number)
        number -= tool.calls
    raise EpisodicError("option-invalid", f"There is no call with the number {number}.", retryable=False)


def finite_tools(tools: Sequence[ToolInfo], bounds: Bounds) -> tuple[FiniteTool, ...]:
    """Reads the input schemas: bounded integers, enums and booleans. Arguments of other types that may be left out are.

    Raises `option-invalid` for a required argument of another type, and for bounds of an argument that is not there.
    """
    found = tuple(FiniteTool(tool.name, tuple(_arguments(tool.name, tool.input_schema, bounds))) for tool in tools)
    known = {f"{tool.name}.{argument.name}" for tool in found for argument in tool.arguments}
    if unknown := set(bounds) - known:
        raise EpisodicError(
            "option-invalid",
            f"bounds name {', '.join(sorted(unknown))}. There is: {', '.join(sorted(known)) or 'none'}.",
            retryable=False,
        )
    return found


def _arguments(tool: str, schema: JsonObject, bounds: Bounds) -> list[FiniteArgument]:
    arguments: list[FiniteArgument] = []
    for name, given in schema.get("properties", {}).items():
        values = _values(given, bounds.get(f"{tool}.{name}"))
        if values is not None:
            arguments.append(FiniteArgument(name, values))
        elif name in schema.get("required", []):
            raise EpisodicError(
                "option-invalid",
                f"{tool}.{name} has no finite values: it is no bounded integer, enum or boolean. "
                f"Give bounds={{'{tool}.{name}': (least, greatest)}} for an integer, or use text actions.",
                retryable=False,
            )
    return arguments


def _values(schema: Any, bounds: tuple[int, int] | None) -> Sequence[Json] | None:
    if not isinstance(schema, Mapping):
        return None
    if "const" in schema:
        return [schema["const"]]
    if isinstance(schema.get("enum"), list):
        return list(schema["enum"])
    if schema.get("type") == "boolean":
        return [False, True]
    if schema.get("type") != "integer":
        return None
    least, greatest = bounds or (schema.get("minimum"), schema.get("maximum"))
    if not isinstance(least, int) or not isinstance(greatest, int) or not 0 <= greatest - least < WIDEST:
        return None
    return range(least, greatest + 1)
