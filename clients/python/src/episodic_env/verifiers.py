"""A taskset for verifiers, prime-rl and the Environments Hub. Needs the extra `verifiers`.

Its id is `episodic-taskset`: `vf-eval episodic-taskset --env.taskset.dataset tasks.jsonl`. The model's harness plays
through a tool server, which plays each step at the trainer endpoint, once, whatever is lost on the way.
"""

# The type parameters of verifiers are invariant, and its own tasksets are refused alike.
# pyright: reportInvalidTypeArguments=false, reportReturnType=false, reportCallIssue=false, reportAttributeAccessIssue=false
# pyright: reportIncompatibleVariableOverride=false

from __future__ import annotations

import asyncio
import logging
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import verifiers.v1 as vf
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, TextContent, Tool

from .connection import Connection, connect
from .episode import Episode
from .errors import EpisodicError
from .played import Played, with_left
from .step import Step
from .task import Task, read_tasks
from .text_action import spoken_action
from .waiting import PATIENCE

__all__ = ["EpisodicTaskset"]

log = logging.getLogger("episodic_env")

MOST_ROLLOUTS = 4096
"""Rollouts whose latest call the tool server remembers."""
OVER = "The episode is over."


class EpisodicTaskConfig(vf.TaskConfig):
    """Where the worlds are served."""

    url: str = "http://127.0.0.1:7337/env"
    token: str | None = None
    """The control token, which verifiers writes to its files: prefer the variable `EPISODIC_CONTROL_TOKEN`."""
    wait: float = PATIENCE
    """Seconds after the first lost answer in which a call is repeated, before its rollout fails."""
    timeout: float = 120.0
    """Seconds until a call without an answer counts as lost."""


class EpisodicToolsConfig(vf.SharedToolsetConfig):
    """The tool server, which gets the address of the worlds from the taskset."""

    worlds: EpisodicTaskConfig = EpisodicTaskConfig()


class EpisodicConfig(vf.TasksetConfig):
    """What is played."""

    dataset: Path = Path("tasks.jsonl")
    """A JSONL file of `episodic dataset generate`."""
    tools: EpisodicToolsConfig = EpisodicToolsConfig()
    task: EpisodicTaskConfig = EpisodicTaskConfig()


class EpisodicData(vf.TaskData):
    """A row of the dataset."""

    environment: str
    version: str | None
    params: dict[str, Any]
    seed: str
    limits: dict[str, Any]


class EpisodicState(vf.State):
    """What the tool server and the rollout tell each other. verifiers writes it to no file."""

    handle: str = ""
    """The episode's; see `Episode.handle`."""
    turn: int = 0
    """How many answers of the model precede a call. It distinguishes a repeated call from an equal one."""
    failure: str = ""
    """Why the tool server gave up; empty while it has not."""


@dataclass(frozen=True)
class _Call:
    """A call of a harness. It repeats a failed one on a new connection, where request ids begin anew."""

    turn: int
    tool: str
    arguments: dict[str, Any]
    request: int

    def repeats(self, earlier: _Call) -> bool:
        same = (self.turn, self.tool, self.arguments) == (earlier.turn, earlier.tool, earlier.arguments)
        return same and self.request <= earlier.request


class _Player:
    """Plays the calls of one rollout, in order and each once."""

    def __init__(self, connection: Connection, handle: str) -> None:
        self.episode = asyncio.ensure_future(asyncio.to_thread(connection.attach, handle))
        self._latest: tuple[_Call, asyncio.Future[Step]] | None = None

    async def play(self, call: _Call) -> Step:
        """Returns the step of a call. A repeated call gets that of the first one, also while it is under way."""
        earlier, step = self._latest or (None, None)
        if earlier is None or not call.repeats(earlier):
            step = asyncio.ensure_future(self._play(call, step))
        assert step is not None
        # With the request id of the repetition: the calls after it count on from there.
        self._latest = (call, step)
        # A harness that gives up leaves its call to be played: its repetition asks for the answer.
        return await asyncio.shield(step)

    async def _play(self, call: _Call, before: asyncio.Future[Step] | None) -> Step:
        # Nothing follows a call that failed: whether it was played is unknown.
        if before is not None:
            await before
        episode = await self.episode
        return await asyncio.to_thread(episode.step, call.tool, call.arguments)


class SessionTools(vf.Toolset[EpisodicToolsConfig, EpisodicState]):
    """Plays the steps of all rollouts at the trainer endpoint. One server is shared by all of them."""

    TOOL_PREFIX = None

    def __init__(self, config: EpisodicToolsConfig) -> None:
        super().__init__(config)
        self._players: OrderedDict[str, _Player] = OrderedDict()

    def register(self, mcp: MCPServer) -> None:
        """Replaces the handlers of the server: each rollout has tools of its own."""
        server = cast(Any, mcp)
        server.list_tools = self._with_state(self.list_tools)
        server.call_tool = self._with_state(self.call_tool)

    async def list_tools(self) -> list[Tool]:
        """Lists the tools of the world."""
        episode = await asyncio.shield(self._player().episode)
        return [
            Tool(name=tool.name, description=tool.description, input_schema=dict(tool.input_schema))
            for tool in episode.info.tools
        ]

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context | None = None) -> CallToolResult:
        """Plays a step."""
        state = self.state
        number = context.request_context.request_id if context is not None else None
        call = _Call(state.turn, name, arguments, number if isinstance(number, int) else 0)
        try:
            step = await self._player().play(call)
        except EpisodicError as error:
            if error.code == "not-playing":
                return _answer(f"{OVER} Call no more tools.", is_error=True)
            # The rollout reads it before the next answer of the model, and ends as failed.
            state.failure = f"{error.code}: {error}"
            log.error("a step failed, and its rollout with it: %s", error)
            return _answer("The environment failed. Call no more tools.", is_error=True)
        text = step.observation.text
        return _answer(text if step.end is None else f"{text}\n{OVER}", is_error=step.refused is not None)

    def _player(self) -> _Player:
        handle = self.state.handle
        if handle not in self._players:
            self._players[handle] = _Player(_connection(self.config.worlds), handle)
        self._players.move_to_end(handle)
        if len(self._players) > MOST_ROLLOUTS:
            self._players.popitem(last=False)
        return self._players[handle]


class EpisodicTask(vf.Task[EpisodicData, EpisodicState, EpisodicTaskConfig]):
    """One episode. Failed ones are errors of their rollout, and have no reward."""

    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Opens the episode."""
        episode = await asyncio.to_thread(_connection(self.config).open, _task_of(self.data))
        _episodes[trace.id] = episode
        # A failed rollout is neither finalized nor scored; its session expires.
        weakref.finalize(trace, _episodes.pop, trace.id, None)
        trace.state.handle = episode.handle

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Reads what was played, and closes the episode."""
        _check(trace)
        episode = _episodes[trace.id]
        said = trace.assistant_messages[-1:]
        words = (said[0].content or "") if said and not said[0].tool_calls else ""
        _played[trace.id] = await asyncio.to_thread(_conclude, episode, _connection(self.config), words)
        weakref.finalize(trace, _played.pop, trace.id, None)

    @vf.stop
    async def episode_over(self, trace: vf.Trace) -> bool:
        """Stops the rollout at the end of its episode. Raises, and so fails the rollout, if the session is lost."""
        _check(trace)
        trace.state.turn = trace.num_turns
        return await asyncio.to_thread(_episodes[trace.id].ended) is not None

    @vf.reward(weight=1.0)
    async def episode_return(self, trace: vf.Trace) -> float:
        """Returns the sum of the raw terms, and records each of them as a metric."""
        episode, played = _episodes[trace.id], _played[trace.id]
        summed = played.summed
        for name, term in summed.items():
            trace.record_metric(name, term)
        trace.record_metric("steps", float(len(played.steps)))
        success = played.success if played.success is not None else episode.success
        if success is not None:
            trace.record_metric("success", float(success))
        end = played.end or episode.end
        trace.info["episodic"] = {
            "end": {"kind": end.kind, "reason": end.reason} if end else None,
            "seed": episode.seed,
            "session": episode.id,
        }
        return played.total


class EpisodicTaskset(vf.Taskset[EpisodicTask, EpisodicConfig]):
    """The tasks of a dataset."""

    @classmethod
    def toolsets(cls, config: EpisodicConfig) -> list[vf.Toolset]:
        """Returns the tool server."""
        return [SessionTools(config.tools.model_copy(update={"worlds": config.task}))]

    def load(self) -> Iterator[EpisodicTask]:
        """Yields a task for each row. Its prompt ends with the first observation, which its seed decides."""
        connection = _connection(self.config.task)
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


def _connection(config: EpisodicTaskConfig) -> Connection:
    return _connected(config.url, config.token, config.wait, config.timeout)


@cache
def _connected(url: str, token: str | None, wait: float, timeout: float) -> Connection:
    return connect(url, token, wait=wait, timeout=timeout)


def _task_of(data: EpisodicData) -> Task:
    return Task(data.environment, params=data.params, seed=data.seed, limits=data.limits, version=data.version)


def _check(trace: vf.Trace) -> None:
    if trace.state.failure:
        raise RuntimeError(f"The episode failed: {trace.state.failure}")


def _conclude(episode: Episode, connection: Connection, words: str) -> Played:
    spoken = spoken_action(words, episode.info.tools)
    if spoken is not None and episode.ended() is None:
        # What the model says last is its last move. The tool server has played those before.
        connection.attach(episode.handle).step(*spoken)
    played = episode.played()
    episode.close()
    return with_left(episode.info, played, episode.left)


def _answer(text: str, *, is_error: bool) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)


if __name__ == "__main__":
    SessionTools.run()
