"""What a server says about an environment that it serves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .errors import malformed
from .json_types import JsonObject


@dataclass(frozen=True)
class ToolInfo:
    """A tool as a player sees it. Schemas are JSON Schema 2020-12."""

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None


@dataclass(frozen=True)
class EnvironmentInfo:
    """An environment that a server can open."""

    name: str
    version: str
    description: str
    params_schema: JsonObject
    tools: tuple[ToolInfo, ...]
    terms: tuple[str, ...]
    """Names of the reward terms, in the order in which they are summed."""
    potential: bool
    """Whether the environment defines a potential."""
    success: bool
    """Whether the environment judges success at the end of an episode."""
    legal: bool
    """Whether the environment lists its legal actions."""
    forkable: bool
    """Whether its sessions can be snapshotted, restored and forked."""
    limits: JsonObject
    """The limits of an episode that sets none: `steps`, `seconds`, `bytes`."""


def environment_info_of(value: Any) -> EnvironmentInfo:
    """Reads one entry of a server's list. Raises `reply-malformed`."""
    try:
        return EnvironmentInfo(
            name=value["name"],
            version=value["version"],
            description=value["description"],
            params_schema=value["paramsSchema"],
            tools=tuple(
                ToolInfo(tool["name"], tool["description"], tool["inputSchema"], tool["outputSchema"])
                for tool in value["tools"]
            ),
            terms=tuple(value["terms"]),
            potential=value["potential"],
            success=value.get("success", False),
            legal=value.get("legal", False),
            forkable=value["forkable"],
            limits=value["limits"],
        )
    except (KeyError, TypeError) as cause:
        raise malformed(f"The list of environments is not one: {cause!r}.") from cause
