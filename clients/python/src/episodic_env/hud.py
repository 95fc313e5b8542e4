"""Environments for HUD. Needs the extra `hud`."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Iterable, Iterator
from os import PathLike
from typing import Any

import hud.eval
import uvicorn
from hud.environment import Capability, Environment
from hud.environment.env import current_session_id
from hud.graders.results import EvaluationResult
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import CallToolResult, TextContent, Tool

from .async_connection import AsyncConnection, connect_async
from .async_episode import AsyncEpisode
from .chat_rollout import OVER, account_of, first_messages
from .errors import EpisodicError
from .task import Task, read_tasks
from .waiting import PATIENCE

__all__ = ["environment", "rows"]

NAME = "episodic"
ARGUMENTS = ("params", "seed", "limits", "prompt", "version")
"""What a template takes of a task."""


def rows(tasks: str | PathLike[str] | Iterable[Task]) -> list[hud.eval.Task]:
    """Returns a task of HUD for each task, or for each line of a JSONL file of `episodic dataset generate`."""
    given = read_tasks(tasks) if isinstance(tasks, (str, PathLike)) else tasks
    return [
        hud.eval.Task(env=NAME, id=task.environment, args={name: getattr(task, name) for name in ARGUMENTS})
        for task in given
    ]


def environment(
    *worlds: str,
    url: str = "http://127.0.0.1:7337/env",
    token: str | None = None,
    wait: float = PATIENCE,
    timeout: float = 120.0,
) -> Environment:
    """Returns an environment of HUD, with a template for each world, for the runtimes of HUD.

    A template takes `params`, `seed`, `limits`, `prompt` and `version`. Its prompt ends with the first observation. An
    agent plays by the tools of the capability `world`, each call a step; what it is shown has no rewards. The score is
    the sum of the raw terms, and `info` the account of the episode: `return`, `terms`, `steps`, `success`, `end`,
    `seed`. An episode that the agent leaves has what it earned so far.

    A lost server is an error of its run, which HUD does not score.

    Args:
        worlds: Their names.
        url: See `episodic_env.connect`, as for the other arguments.
        token: The control token.
        wait: Seconds for which a call is repeated that is not answered.
        timeout: Seconds until a call without an answer counts as lost.
    """
    made = Environment(NAME)
    rollouts: dict[str, _Rollout] = {}
    connection: AsyncConnection
    tools: _ToolServer

    @made.initialize
    async def start() -> None:
        nonlocal connection, tools
        connection = connect_async(url, token, wait=wait, timeout=timeout)
        tools = _ToolServer(rollouts)
        made.add_capability(_OfSession("world", "mcp/2025-11-25", tools.url))

    @made.shutdown
    async def stop() -> None:
        await tools.stop()
        await connection.close()

    def add(world: str) -> None:
        @made.template(id=world, description=f"An episode of {world}.")
        async def play(
            params: dict[str, Any] | None = None,
            seed: str | int | None = None,
            limits: dict[str, Any] | None = None,
            prompt: str = "",
            version: str | None = None,
        ) -> AsyncGenerator[Any, Any]:
            session = str(current_session_id.get())
            task = Task(world, params or {}, limits=limits or {}, version=version)
            async with await connection.open(task, seed=seed) as episode:
                rollout = rollouts[session] = _Rollout(episode)
                try:
                    yield first_messages(episode, prompt)
                    await rollout.conclude()
                    yield EvaluationResult(reward=episode.total, info=account_of(episode))
                finally:
                    del rollouts[session]

    for world in worlds:
        add(world)
    return made


class _OfSession(Capability):
    """A tool server with a path for each session: a tunnel of HUD does not say whose it is, and keeps the path."""

    def to_manifest(self) -> dict[str, Any]:
        return {**super().to_manifest(), "url": f"{self.url}/{current_session_id.get()}"}


class _Rollout:
    """One episode, by the calls of an agent."""

    def __init__(self, episode: AsyncEpisode) -> None:
        self.episode = episode
        self._failure: EpisodicError | None = None
        self._turn = asyncio.Lock()

    async def play(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Plays a step. Calls that come at once are played one after the other."""
        # A call that an agent does not wait for is played, and counted.
        return await asyncio.shield(asyncio.ensure_future(self._play(tool, arguments)))

    async def _play(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        async with self._turn:
            try:
                if self._failure is None:
                    step = await self.episode.step(tool, arguments)
                    text = step.observation.text
                    return _answer(text if step.end is None else f"{text}\n{OVER}", is_error=step.refused is not None)
            except EpisodicError as error:
                if error.code == "not-playing":
                    return _answer(f"{OVER} Call no more tools.", is_error=True)
                self._failure = error
            return _answer("The environment failed. Call no more tools.", is_error=True)

    async def conclude(self) -> None:
        """Closes the episode. Raises what it failed with."""
        async with self._turn:
            if self._failure is not None:
                raise self._failure
            await self.episode.close()


class _ToolServer(uvicorn.Server):
    """The tools of all rollouts, at a port of this machine. It lives as long as its environment is served."""

    def __init__(self, rollouts: dict[str, _Rollout]) -> None:
        server: Any = Server(NAME)

        def rollout() -> _Rollout:
            return rollouts[server.request_context.request.url.path.rpartition("/")[2]]

        @server.list_tools()
        async def list_tools() -> list[Tool]:
            return [
                Tool(name=tool.name, description=tool.description, inputSchema=dict(tool.input_schema))
                for tool in rollout().episode.info.tools
            ]

        @server.call_tool(validate_input=False)
        async def call_tool(name: str, arguments: dict[str, Any]) -> CallToolResult:
            return await rollout().play(name, arguments)

        self._manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        super().__init__(
            uvicorn.Config(self._manager.handle_request, interface="asgi3", lifespan="off", log_level="warning")
        )
        self._serving = asyncio.create_task(self._run(listening))

    async def stop(self) -> None:
        self.should_exit = True
        await self._serving

    async def _run(self, listening: socket.socket) -> None:
        async with self._manager.run():
            await self.serve([listening])

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # They are HUD's.
        yield


def _answer(text: str, *, is_error: bool) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], isError=is_error)
