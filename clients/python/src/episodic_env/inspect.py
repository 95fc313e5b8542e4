"""Evaluates models in the worlds of an Episodic server with Inspect. Needs the extra `inspect`.

Each call of the model is one step at the trainer endpoint, whatever is lost on the way; what the model is shown has no
rewards. The score is what the server's log of the episode says.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams

from .connection import Connection, connect
from .end import End
from .environment_info import ToolInfo
from .episode import Episode
from .errors import EpisodicError
from .json_types import JsonObject
from .played import Played, with_left
from .step import Step
from .task import Task, read_tasks
from .text_action import spoken_action
from .waiting import PATIENCE

__all__ = ["task"]

OVER = "The episode is over."


@dataclass(frozen=True)
class _Outcome:
    episode: Episode
    played: Played
    closed: End | None


def task(
    tasks: str | PathLike[str] | Iterable[Task],
    *,
    url: str = "http://127.0.0.1:7337/env",
    token: str | None = None,
    wait: float = PATIENCE,
    timeout: float = 120.0,
    solver: Solver | None = None,
    **options: Any,
) -> inspect_ai.Task:
    """Returns an Inspect task that plays one episode for each sample.

    Its score has `return` (the sum of the raw terms), `steps`, and `success` where the world judges it. The metadata of
    the score has the sum of each term, the end and the seed. With `epochs`, each sample is played with its seed again.
    A lost server is an error of its sample, which is not scored. Where a limit of Inspect stops the solver, the episode
    is truncated as `closed`, and scored; if the server did not answer when the limit ran out, the sample is an error.

    Args:
        tasks: What to play, or a JSONL file of `episodic dataset generate`.
        url: The trainer endpoint.
        token: The control token; see `episodic_env.connect` for the default.
        wait: Seconds to wait for a server that does not answer; see `episodic_env.connect`.
        timeout: Seconds until a call without an answer counts as lost.
        solver: How the model plays, with the tools of the world in the state. Default: it generates, and its calls are
            played, until it calls no more tools.
        options: Further arguments of `inspect_ai.Task`, such as `epochs` and `message_limit`.
    """
    given = list(read_tasks(tasks)) if isinstance(tasks, (str, PathLike)) else list(tasks)
    connection = connect(url, token, wait=wait, timeout=timeout)
    # By the id of the sample's run. Not in the sample's store, which is logged: a session URL is a secret.
    outcomes: dict[str, _Outcome] = {}
    return inspect_ai.Task(
        dataset=MemoryDataset([_sample(number, each) for number, each in enumerate(given, 1)]),
        solver=_episode(connection, given, outcomes, solver),
        scorer=_returns(outcomes),
        **options,
    )


def _sample(number: int, played: Task) -> Sample:
    return Sample(
        id=played.id or number,
        input=played.prompt or "Play until the episode is over.",
        metadata={
            "task": number - 1,
            "environment": played.environment,
            "params": dict(played.params),
            "seed": played.seed,
            "limits": dict(played.limits),
        },
    )


@solver
def _episode(connection: Connection, tasks: list[Task], outcomes: dict[str, _Outcome], inner: Solver | None) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        played = tasks[state.metadata["task"]]
        # The client blocks, and samples share one event loop.
        episode = await anyio.to_thread.run_sync(connection.open, played)
        playing = _Playing(connection, episode)
        try:
            state.user_prompt.text += f"\n\n{episode.observation.text}"
            state.tools.extend(playing.tools())
            return await (inner(state, generate) if inner else _converse(state, generate, playing))
        finally:
            # Also where a limit of Inspect has cancelled the sample: it is scored all the same.
            with anyio.CancelScope(shield=True):
                if playing.failure is None:
                    outcomes[state.uuid] = await anyio.to_thread.run_sync(_conclude, episode)
                else:
                    await anyio.to_thread.run_sync(_abandon, episode)
            # Also where a solver has caught it: what failed has no score.
            if playing.failure is not None:
                raise playing.failure

    return solve


async def _converse(state: TaskState, generate: Generate, playing: _Playing) -> TaskState:
    """Generates until the model calls no more tools, and where words are a move, until the episode is over."""
    while True:
        state = await generate(state, tool_calls="loop")
        reply = None if state.completed else await playing.say(state.output.completion)
        if reply is None:
            return state
        state.messages.append(ChatMessageUser(content=reply))


class _Playing:
    """The tools of one sample, whose calls are steps at the trainer endpoint."""

    def __init__(self, connection: Connection, episode: Episode) -> None:
        self._connection = connection
        self._episode = episode
        self._one_at_a_time = anyio.Lock()
        self.failure: EpisodicError | None = None

    def tools(self) -> list[Tool]:
        return [self._tool(info) for info in self._episode.info.tools if info.speech is None]

    async def say(self, words: str) -> str | None:
        """Plays words as a move. Returns what answers them; None if they are no move, or the episode is over."""
        spoken = spoken_action(words, self._episode.info.tools)
        if spoken is None or self._episode.end is not None:
            return None
        step = await self._play(*spoken)
        return step.observation.text if step.end is None else None

    def _tool(self, info: ToolInfo) -> Tool:
        async def execute(**kwargs: Any) -> str:
            async with self._one_at_a_time:
                step = await self._play(info.name, kwargs)
            if step.refused is not None:
                raise ToolError(step.observation.text)
            return step.observation.text if step.end is None else f"{step.observation.text}\n{OVER}"

        parameters = ToolParams.model_validate(info.input_schema)
        for name, parameter in parameters.properties.items():
            parameter.description = parameter.description or name
        made = ToolDef(execute, name=info.name, description=info.description or info.name, parameters=parameters)
        return made.as_tool()

    async def _play(self, tool: str, arguments: JsonObject) -> Step:
        if self.failure is not None:
            raise self.failure
        if self._episode.end is not None:
            raise ToolError(f"{OVER} Call no more tools.")
        began = time.monotonic()
        try:
            # A thread is not cancelled: a limit waits for the answer, so that what was played is known.
            step: Step = await anyio.to_thread.run_sync(self._episode.step, tool, arguments)
        except EpisodicError as error:
            self.failure = error
            raise
        try:
            await anyio.lowlevel.checkpoint_if_cancelled()
        except anyio.get_cancelled_exc_class():
            # The model had less time than its limit says.
            if self._connection.last_lost >= began:
                message = "A limit of the sample ran out while the server did not answer."
                self.failure = EpisodicError("connection-failed", message)
            raise
        return step


def _conclude(episode: Episode) -> _Outcome:
    played = episode.played()
    closed = episode.close()
    return _Outcome(episode, with_left(episode.info, played, episode.left), closed)


def _abandon(episode: Episode) -> None:
    with contextlib.suppress(EpisodicError):
        episode._close(retry=False, given_up=True)


@scorer(name="episode", metrics={"*": [mean(), stderr()]})
def _returns(outcomes: dict[str, _Outcome]) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        outcome = outcomes.pop(state.uuid, None)
        if outcome is None:
            raise EpisodicError("not-playing", "The episode of this sample failed, so it has no score.")
        end = outcome.played.end or outcome.closed
        played, episode = outcome.played, outcome.episode
        value: dict[str, Any] = {"return": played.total, "steps": len(played.steps)}
        if episode.info.success:
            value["success"] = bool(episode.success if played.success is None else played.success)
        return Score(
            value=value,
            metadata={
                "terms": dict(played.summed),
                "end": {"kind": end.kind, "reason": end.reason} if end else None,
                "seed": episode.seed,
                "session": episode.id,
                "version": episode.info.version,
            },
        )

    return score
