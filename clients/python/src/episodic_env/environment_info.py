"""What a server says about an environment that it serves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import EpisodicError, malformed
from .json_types import Json, JsonObject


@dataclass(frozen=True)
class ToolInfo:
    """A tool as a player sees it. Schemas are JSON Schema 2020-12."""

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None
    sealed: bool = False
    """Whether its calls are sealed, and played when every seat in turn has moved."""
    speech: str | None = None
    """The argument that gets the words of a model's answer without a call, which is a call of this tool; or None."""

    def __repr__(self) -> str:
        arguments = ", ".join(self.input_schema.get("properties", {}))
        return f"<ToolInfo {self.name}({arguments})>"


@dataclass(frozen=True)
class SeatInfo:
    """One seat of an environment that has several."""

    name: str
    tools: tuple[ToolInfo, ...]


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
    seats: tuple[SeatInfo, ...] = ()
    """The seats, in order; empty if there is one."""
    view_schema: JsonObject | None = None
    """What each seat sees as data, as JSON Schema 2020-12; None if there is one seat."""
    judges_left: bool = False
    """Whether what a player leaves before the end is judged, in a last step; see `Episode.close`."""

    def __repr__(self) -> str:
        tools = ", ".join(tool.name for tool in self.tools)
        return f"<EnvironmentInfo {self.name} {self.version}: tools {tools}; terms {', '.join(self.terms)}>"


def environment_info_of(value: Any) -> EnvironmentInfo:
    """Reads one entry of a server's list. Raises `reply-malformed`."""
    try:
        tools = {
            tool["name"]: ToolInfo(
                tool["name"],
                tool["description"],
                tool["inputSchema"],
                tool["outputSchema"],
                tool.get("sealed", False),
                tool.get("speech"),
            )
            for tool in value["tools"]
        }
        return EnvironmentInfo(
            name=value["name"],
            version=value["version"],
            description=value["description"],
            params_schema=value["paramsSchema"],
            tools=tuple(tools.values()),
            terms=tuple(value["terms"]),
            potential=value["potential"],
            success=value.get("success", False),
            legal=value.get("legal", False),
            forkable=value["forkable"],
            limits=value["limits"],
            seats=tuple(
                SeatInfo(seat["name"], tuple(tools[name] for name in seat["tools"])) for seat in value.get("seats", [])
            ),
            view_schema=value.get("viewSchema"),
            judges_left=value.get("judgesLeft", False),
        )
    except (KeyError, TypeError) as cause:
        raise malformed(f"The list of environments is not one: {cause!r}.") from cause


def listed_environments(listed: Json) -> dict[str, EnvironmentInfo]:
    """Reads the answer to `environment/list`, by name. Raises `reply-malformed`."""
    entries = listed.get("environments") if isinstance(listed, dict) else None
    if not isinstance(entries, list):
        raise malformed("The server sent no list of environments.")
    return {info.name: info for info in map(environment_info_of, entries)}


def known_environment(environments: Mapping[str, EnvironmentInfo], name: str) -> EnvironmentInfo:
    """Returns one of the environments of a server. Raises `unknown-environment`."""
    if name not in environments:
        message = f'There is no environment "{name}" here. There is: {", ".join(environments)}.'
        raise EpisodicError("unknown-environment", message, retryable=False)
    return environments[name]
