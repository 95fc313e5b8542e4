"""A taskset for verifiers, prime-rl and the Environments Hub. Needs the extra `verifiers`.

Its id is `episodic-taskset`: `vf-eval episodic-taskset --env.taskset.dataset tasks.jsonl`. The model's harness plays
through a tool server that forwards to the session URL of its rollout; rewards come from the trainer endpoint.
"""

# The type parameters of verifiers are invariant, and its own tasksets are refused alike.
# pyright: reportInvalidTypeArguments=false, reportReturnType=false, reportCallIssue=false, reportAttributeAccessIssue=false
# pyright: reportIncompatibleVariableOverride=false

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import verifiers.v1 as vf
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, Tool
from verifiers.v1.harnesses.utils.mcp import mcp_client

from .connection import Connection, connect
from .episode import Episode
from .played import Played
from .task import Task, read_tasks

__all__ = ["EpisodicTaskset"]

TIMEOUT = 120.0
"""Seconds that a call of a tool may take."""


class EpisodicTaskConfig(vf.TaskConfig):
    """Where the worlds are served."""

    url: str = "http://127.0.0.1:7337/env"
    token: str | None = None
    """The control token, which verifiers writes to its files: prefer the variable `EPISODIC_CONTROL_TOKEN`."""


class EpisodicConfig(vf.TasksetConfig):
    """What is played."""

    dataset: Path = Path("tasks.jsonl")
    """A JSONL file of `episodic dataset generate`."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()
    task: EpisodicTaskConfig = EpisodicTaskConfig()


class EpisodicData(vf.TaskData):
    """A row of the dataset."""

    environment: str
    version: str | None
    params: dict[str, Any]
    seed: str
    limits: dict[str, Any]


class EpisodicState(vf.State):
    """What the tool server knows of a rollout."""

    session_url: str = ""
    over: bool = False


class SessionTools(vf.Toolset[vf.SharedToolsetConfig, EpisodicState]):
    """Forwards calls to the session URL of their rollout. One server is shared by all rollouts."""

    TOOL_PREFIX = None

    def register(self, mcp: MCPServer) -> None:
        """Replaces the handlers of the server: each rollout has tools of its own."""
        server = cast(Any, mcp)
        server.list_tools = self._with_state(self.list_tools)
        server.call_tool = self._with_state(self.call_tool)

    async def list_tools(self) -> list[Tool]:
        """Lists the tools of the world."""
        async with mcp_client({"url": self.state.session_url, "timeout": TIMEOUT}) as client:
            return list((await client.list_tools()).tools)

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context | None = None) -> CallToolResult:
        """Plays a step."""
        async with mcp_client({"url": self.state.session_url, "timeout": TIMEOUT}) as client:
            result = await client.call_tool(name, arguments)
        self.state.over = (result.structured_content or {}).get("episode_over") is True
        return cast(CallToolResult, result)


class EpisodicTask(vf.Task[EpisodicData, EpisodicState, EpisodicTaskConfig]):
    """One episode. Failed ones are errors of their rollout, and have no reward."""

    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Opens the episode."""
        connection = _connection(self.config.url, self.config.token)
        episode = await asyncio.to_thread(connection.open, _task_of(self.data))
        _episodes[trace.id] = episode
        # A failed rollout is neither finalized nor scored; its session expires.
        weakref.finalize(trace, _episodes.pop, trace.id, None)
        trace.state.session_url = episode.session_url

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Reads what was played, and closes the episode."""
        episode = _episodes[trace.id]
        _played[trace.id] = await asyncio.to_thread(_conclude, episode)
        weakref.finalize(trace, _played.pop, trace.id, None)

    @vf.stop
    async def episode_over(self, trace: vf.Trace) -> bool:
        """Stops the rollout at the end of its episode."""
        return bool(trace.state.over)

    @vf.reward(weight=1.0)
    async def episode_return(self, trace: vf.Trace) -> float:
        """Returns the sum of the raw terms, and records each of them as a metric."""
        episode, played = _episodes[trace.id], _played[trace.id]
        total = 0.0
        terms = dict.fromkeys(episode.info.terms, 0.0)
        success = episode.success
        for each in played.steps:
            total += each.step.reward
            success = each.step.success if each.step.success is not None else success
            for name, term in each.step.terms.items():
                terms[name] += term
        for name, term in terms.items():
            trace.record_metric(name, term)
        trace.record_metric("steps", float(len(played.steps)))
        if success is not None:
            trace.record_metric("success", float(success))
        end = played.end or episode.end
        trace.info["episodic"] = {
            "end": {"kind": end.kind, "reason": end.reason} if end else None,
            "seed": episode.seed,
            "session": episode.id,
        }
        return total


class EpisodicTaskset(vf.Taskset[EpisodicTask, EpisodicConfig]):
    """The tasks of a dataset."""

    @classmethod
    def toolsets(cls, config: EpisodicConfig) -> list[vf.Toolset]:
        """Returns the tool server."""
        return [SessionTools(config.tools)]

    def load(self) -> Iterator[EpisodicTask]:
        """Yields a task for each row. Its prompt ends with the first observation, which its seed decides."""
        connection = _connection(self.config.task.url, self.config.task.token)
        for number, row in enumerate(read_tasks(self.config.dataset)):
            seeded = row if row.seed is not None else replace(row, seed=f"row {number}")
            with connection.open(seeded) as episode:
                opening = episode.observation.text
            data = EpisodicData(
                id=row.id or None,
                name=f"{row.environment}:{number}",
                prompt=f"{row.prompt}\n\n{opening}".strip(),
                environment=row.environment,
                version=row.version,
                params=dict(row.params),
                seed=seeded.seed or "",
                limits=dict(row.limits),
            )
            yield EpisodicTask(data, self.config.task)


_episodes: dict[str, Episode] = {}
_played: dict[str, Played] = {}


@cache
def _connection(url: str, token: str | None) -> Connection:
    return connect(url, token)


def _task_of(data: EpisodicData) -> Task:
    return Task(data.environment, params=data.params, seed=data.seed, limits=data.limits, version=data.version)


def _conclude(episode: Episode) -> Played:
    played = episode.played()
    episode.close()
    return played


if __name__ == "__main__":
    SessionTools.run()
