"""Numbers for what a seat sees, where every part of it has bounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import EpisodicError
from .json_types import Json, JsonObject

WIDEST = 1 << 32
"""A range of numbers that is wider is that of the number type, and not of the world."""
LAST_CHARACTER = 0x10FFFF
MOST_NUMBERS = 1 << 16


@dataclass(frozen=True)
class Numbers:
    """A fixed count of numbers for one part of a view."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    read: Callable[[Any], list[float]]
    """Returns the numbers of a value."""


def numbers_of(schema: JsonObject) -> Numbers:
    """Returns how the values of a JSON Schema become numbers. The order is that of the schema.

    - A number or an integer with bounds is itself, a boolean is 0 or 1.
    - One of several values (an enum) is one flag for each of them, and a set of such values too.
    - A string of at most n characters is n code points, with 0 after its end.
    - What may be missing or null has a flag before it, and is 0 if it is. So are the places of a list after its end.

    Raises `option-invalid` with the part that has no bounds.
    """
    return _numbers(schema, "the view")


def _numbers(schema: Any, path: str) -> Numbers:
    if not isinstance(schema, Mapping):
        raise _unbounded(path)
    if "const" in schema:
        return Numbers((), (), lambda _: [])
    if isinstance(schema.get("enum"), list):
        return _flags(schema["enum"])
    if isinstance(schema.get("anyOf"), list):
        return _nullable(schema["anyOf"], path)
    match schema.get("type"):
        case "boolean":
            return Numbers((0.0,), (1.0,), lambda value: [float(value)])
        case "integer" | "number":
            return _number(schema, path)
        case "string":
            return _text(schema, path)
        case "array":
            return _list(schema, path)
        case "object":
            return _object(schema, path)
        case _:
            raise _unbounded(path)


def _flags(values: Sequence[Json]) -> Numbers:
    if len(values) == 1:
        return Numbers((), (), lambda _: [])
    keys = [json.dumps(value) for value in values]
    return Numbers((0.0,) * len(keys), (1.0,) * len(keys), lambda value: [float(json.dumps(value) == k) for k in keys])


def _number(schema: JsonObject, path: str) -> Numbers:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if not isinstance(low, (int, float)) or not isinstance(high, (int, float)) or high - low >= WIDEST:
        raise _unbounded(path)
    return Numbers((float(low),), (float(high),), lambda value: [float(value)])


def _text(schema: JsonObject, path: str) -> Numbers:
    length = schema.get("maxLength")
    if not isinstance(length, int):
        raise _unbounded(path)

    def read(value: str) -> list[float]:
        return [float(ord(character)) for character in value] + [0.0] * (length - len(value))

    return Numbers((0.0,) * length, (float(LAST_CHARACTER),) * length, read)


def _nullable(branches: Sequence[Any], path: str) -> Numbers:
    others = [branch for branch in branches if branch != {"type": "null"}]
    if len(others) != 1 or len(branches) != 2:
        raise _unbounded(path)
    return _optional(_numbers(others[0], path))


def _optional(numbers: Numbers) -> Numbers:
    """Puts a flag before numbers that may be missing."""
    absent = [0.0] * (len(numbers.low) + 1)
    low = (0.0, *(min(0.0, bound) for bound in numbers.low))
    high = (1.0, *(max(0.0, bound) for bound in numbers.high))
    return Numbers(low, high, lambda value: absent if value is None else [1.0, *numbers.read(value)])


def _list(schema: JsonObject, path: str) -> Numbers:
    items = schema.get("items")
    if schema.get("uniqueItems") and isinstance(items, Mapping) and isinstance(items.get("enum"), list):
        # A set: its order says nothing.
        keys = items["enum"]
        return Numbers((0.0,) * len(keys), (1.0,) * len(keys), lambda value: [float(key in value) for key in keys])
    if isinstance(schema.get("prefixItems"), list) and not items:
        places = [_numbers(item, f"{path}[{place}]") for place, item in enumerate(schema["prefixItems"])]
    else:
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        if not isinstance(most, int):
            raise _unbounded(path)
        item = _numbers(items, f"{path}[]")
        if most * (len(item.low) + 1) > MOST_NUMBERS:
            raise _unbounded(path)
        places = [item if place < least else _optional(item) for place in range(most)]

    def read(value: Sequence[Any]) -> list[float]:
        given = [*value, *[None] * (len(places) - len(value))]
        return [number for place, item in zip(places, given, strict=True) for number in place.read(item)]

    return _joined(places, read)


def _object(schema: JsonObject, path: str) -> Numbers:
    properties: Mapping[str, Any] = schema.get("properties", {})
    if schema.get("additionalProperties", False) is not False:
        raise _unbounded(path)
    required = schema.get("required", [])
    parts = {
        name: _numbers(part, name if path == "the view" else f"{path}.{name}") for name, part in properties.items()
    }
    fields = {name: part if name in required else _optional(part) for name, part in parts.items()}

    def read(value: Mapping[str, Any]) -> list[float]:
        return [number for name, field in fields.items() for number in field.read(value.get(name))]

    return _joined(list(fields.values()), read)


def _joined(parts: Sequence[Numbers], read: Callable[[Any], list[float]]) -> Numbers:
    low = tuple(bound for part in parts for bound in part.low)
    high = tuple(bound for part in parts for bound in part.high)
    return Numbers(low, high, read)


def _unbounded(path: str) -> EpisodicError:
    return EpisodicError(
        "option-invalid",
        f"No numbers can be derived of {path}: it is no bounded number, enum, boolean, or string, list or object of a "
        "bounded size. Bound it in the schema of the state, or give observe and observation_space.",
        retryable=False,
    )
