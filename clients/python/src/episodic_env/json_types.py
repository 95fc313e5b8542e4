"""Values that cross the wire."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A value of JSON: text, number, boolean, None, or a list or object of these."""

JsonObject: TypeAlias = Mapping[str, Json]
"""An object of JSON: parameters, tool arguments, structured observations."""
