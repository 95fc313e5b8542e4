"""Rollouts for eval-protocol's `evaluation_test`. Needs the extra `eval-protocol`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from os import PathLike
from typing import Any

from eval_protocol.mcp.execution.policy import LiteLLMPolicy
from eval_protocol.models import EvaluationRow, InputMetadata, Message
from eval_protocol.pytest.rollout_processor import RolloutProcessor
from eval_protocol.pytest.types import RolloutProcessorConfig

from .async_connection import AsyncConnection, connect_async
from .chat_rollout import Message as ChatMessage
from .chat_rollout import account_of, chat_rollout, chat_tools, first_messages
from .task import Task, read_tasks
from .waiting import PATIENCE

__all__ = ["WorldRollouts", "rows"]

TASK = "episodic"
"""Where a row keeps its task, in `dataset_info`, and a finished one its account, in `execution_metadata.extra`."""


def rows(tasks: str | PathLike[str] | Iterable[Task]) -> list[EvaluationRow]:
    """Returns a row for each task, or for each line of a JSONL file of `episodic dataset generate`."""
    given = read_tasks(tasks) if isinstance(tasks, (str, PathLike)) else tasks
    return [
        EvaluationRow(
            messages=[Message(role="user", content=task.prompt)],
            input_metadata=InputMetadata(row_id=task.id or None, dataset_info={TASK: vars(task)}),
        )
        for task in given
    ]


class WorldRollouts(RolloutProcessor):
    """Plays an episode for each row of `rows`, by the model of the test, through LiteLLM.

    A finished row has the conversation, and in `execution_metadata.extra["episodic"]` the account of the episode:
    `return` (the sum of the raw terms), `terms`, `steps`, `success`, `end`, `seed`. A lost server is an exception of
    its row, which eval-protocol does not score.

    Args are those of `episodic_env.connect`.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:7337/env",
        token: str | None = None,
        *,
        wait: float = PATIENCE,
        timeout: float = 120.0,
    ) -> None:
        self._options: dict[str, Any] = {"url": url, "token": token, "wait": wait, "timeout": timeout}

    def __call__(self, rows: list[EvaluationRow], config: RolloutProcessorConfig) -> list[asyncio.Task[EvaluationRow]]:
        """Returns a task for each row."""
        connection = connect_async(**self._options)

        async def play(row: EvaluationRow) -> EvaluationRow:
            async with config.semaphore:
                return await _played(connection, row, config)

        async def close(played: list[asyncio.Task[EvaluationRow]]) -> None:
            await asyncio.wait(played)
            await connection.close()

        played = [asyncio.create_task(play(row)) for row in rows]
        if played:
            self._closing = asyncio.create_task(close(played))
        return played


async def _played(connection: AsyncConnection, row: EvaluationRow, config: RolloutProcessorConfig) -> EvaluationRow:
    task = Task(**row.input_metadata.dataset_info[TASK])
    params = dict(row.input_metadata.completion_params or config.completion_params)
    policy = LiteLLMPolicy(model_id=params.pop("model"), **params)
    async with await connection.open(task) as episode:
        tools = chat_tools(episode.info)

        async def ask(messages: list[ChatMessage]) -> ChatMessage:
            answer = await policy._make_llm_call(messages, tools)
            message: ChatMessage = answer["choices"][0]["message"]
            return {key: value for key, value in message.items() if value is not None}

        messages = first_messages(episode, task.prompt)
        await chat_rollout(episode, messages, ask, config.steps)
    row.messages = [Message.model_validate(message) for message in messages]
    row.tools = tools
    row.execution_metadata.extra = {TASK: account_of(episode)}
    return row
