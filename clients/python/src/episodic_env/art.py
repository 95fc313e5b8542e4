"""Rollouts for ART, of OpenPipe. Needs the extra `art`."""

from __future__ import annotations

from typing import Any

import art
from openai import AsyncOpenAI

from .async_connection import AsyncConnection
from .chat_rollout import Message, chat_rollout, chat_tools, first_messages
from .task import Task

__all__ = ["rollout"]


async def rollout(
    connection: AsyncConnection,
    task: Task,
    client: AsyncOpenAI,
    model: str,
    *,
    turns: int = 100,
    **options: Any,
) -> art.Trajectory:
    """Plays a task with a model, and returns the trajectory, whose reward is the sum of the raw terms.

    Its metrics have the sum of each term, the steps, and the success where the world judges it. Play the trajectories
    of a group with one seed. A failed episode is an `EpisodicError`, which ART counts as an exception of its group.

    Args:
        connection: See `episodic_env.connect_async`.
        task: What to play.
        client: That of the model which is trained: `model.openai_client()`.
        model: Its name: `model.get_inference_name()`.
        turns: Answers of the model, at most.
        options: Further parameters of each request, such as `temperature`.
    """
    choices: dict[int, Any] = {}
    async with await connection.open(task) as episode:
        tools: Any = chat_tools(episode.info)

        async def ask(messages: list[Message]) -> Message:
            asked: Any = messages
            answer = await client.chat.completions.create(model=model, messages=asked, tools=tools, **options)
            choices[len(messages)] = answer.choices[0]
            message: Message = answer.choices[0].message.model_dump(exclude_none=True)
            return message

        messages = first_messages(episode, task.prompt)
        await chat_rollout(episode, messages, ask, turns)
    judged = {} if episode.success is None else {"success": episode.success}
    return art.Trajectory(
        # A choice has what the trainer needs of an answer, such as its logprobs.
        messages_and_choices=[choices.get(place, message) for place, message in enumerate(messages)],
        tools=tools,
        reward=episode.total,
        metrics={**episode.summed, "steps": episode.seq, **judged},
        metadata={"seed": episode.seed, "end": episode.end.reason if episode.end else None},
    )
