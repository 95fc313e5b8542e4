"""Evaluates models in the worlds of an Episodic server with Inspect. Needs the extra `inspect`.

The model plays over MCP at the URL of its session, where no rewards are; the score comes from the trainer endpoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import anyio
import anyio.to_thread
import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import mcp_connection, mcp_server_http

from .connection import Connection, connect
from .end import End
from .episode import Episode
from .errors import EpisodicError
from .played import Played
from .task import Task, read_tasks

__all__ = ["task"]

TIMEOUT = 120.0
"""Seconds that a call of a tool may take; Inspect's 5 are few for a world that prepares its answers."""


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
    solver: Solver | None = None,
    **options: Any,
) -> inspect_ai.Task:
    """Returns an Inspect task that plays one episode for each sample.

    Its score has `return` (the sum of the raw terms), `steps`, and `success` where the world judges it. The metadata of
    the score has the sum of each term, the end and the seed. With `epochs`, each sample is played with its seed again.
    A lost server is an error of its sample, which is not scored. Where a limit of Inspect stops the solver, the episode
    is truncated as `closed`, and scored.

    Args:
        tasks: What to play, or a JSONL file of `episodic dataset generate`.
        url: The trainer endpoint.
        token: The control token; see `episodic_env.connect` for the default.
        solver: How the model plays, with the tools of the world in the state. Default: it generates, and its calls are
            played, until it calls no more tools.
        options: Further arguments of `inspect_ai.Task`, such as `epochs` and `message_limit`.
    """
    given = list(read_tasks(tasks)) if isinstance(tasks, (str, PathLike)) else list(tasks)
    connection = connect(url, token)
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
        try:
            state.user_prompt.text += f"\n\n{episode.observation.text}"
            server = mcp_server_http(name=played.environment, url=episode.session_url, timeout=TIMEOUT)
            async with mcp_connection(server):
                state.tools.extend(await server.tools())
                return await (inner(state, generate) if inner else generate(state, tool_calls="loop"))
        finally:
            # Also where a limit of Inspect has cancelled the sample: it is scored all the same.
            with anyio.CancelScope(shield=True):
                outcomes[state.uuid] = await anyio.to_thread.run_sync(_conclude, episode)

    return solve


def _conclude(episode: Episode) -> _Outcome:
    played = episode.played()
    return _Outcome(episode, played, episode.close())


@scorer(name="episode", metrics={"*": [mean(), stderr()]})
def _returns(outcomes: dict[str, _Outcome]) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        outcome = outcomes.pop(state.uuid, None)
        if outcome is None:
            raise EpisodicError("not-playing", "The episode of this sample failed, so it has no score.")
        terms = dict.fromkeys(outcome.episode.info.terms, 0.0)
        total = 0.0
        success = outcome.episode.success
        for each in outcome.played.steps:
            total += each.step.reward
            success = each.step.success if each.step.success is not None else success
            for name, term in each.step.terms.items():
                terms[name] += term
        end = outcome.played.end or outcome.closed
        value: dict[str, Any] = {"return": total, "steps": len(outcome.played.steps)}
        if outcome.episode.info.success:
            value["success"] = bool(success)
        return Score(
            value=value,
            metadata={
                "terms": terms,
                "end": {"kind": end.kind, "reason": end.reason} if end else None,
                "seed": outcome.episode.seed,
                "session": outcome.episode.id,
                "version": outcome.episode.info.version,
            },
        )

    return score
