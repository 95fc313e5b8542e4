"""Values that cross the wire."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A value of JSON: text, number, boolean, None, or a list or object of these."""

JsonObject: TypeAlias = Mapping[str, Json]
"""An object of JSON: parameters, tool arguments, structured observations."""


def by_name(values: JsonObject | None, what: str) -> dict[str, Json]:
    """Returns a copy of values that are given by name, `{}` for None. Raises TypeError for anything else."""
    if values is not None and not isinstance(values, Mapping):
        got = f"{type(values).__name__} {values!r}"
        raise TypeError(f"The {what} are given by name, as a dictionary, and not as {got:.80}.")
    return dict(values or {})
