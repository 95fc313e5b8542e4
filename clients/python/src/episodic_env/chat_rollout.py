"""An episode that a chat model plays by calls of tools, in the messages of OpenAI's chat completions."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from .async_episode import AsyncEpisode
from .environment_info import EnvironmentInfo
from .json_types import JsonObject
from .text_action import LONGEST_NAME

Message = dict[str, Any]
OVER = "The episode is over."


def chat_tools(info: EnvironmentInfo) -> list[dict[str, Any]]:
    """Returns the tools of a world, as a request of chat completions names them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.input_schema)},
        }
        for tool in info.tools
    ]


def first_messages(episode: AsyncEpisode, prompt: str) -> list[Message]:
    """Returns the conversation before the first answer: the prompt with the first observation."""
    return [{"role": "user", "content": "\n\n".join(filter(None, (prompt, episode.observation.text)))}]


async def chat_rollout(
    episode: AsyncEpisode, messages: list[Message], ask: Callable[[list[Message]], Awaitable[Message]], turns: int
) -> None:
    """Plays an episode until it is over, the model calls no tool, or it has had so many turns.

    Each call of an answer is a step, in their order. Answers and what they are shown are appended to `messages`; what
    the model is shown has no rewards. Arguments that are no JSON object are refused by the server, as a step.
    """
    for _ in range(turns):
        answer = await ask(messages)
        messages.append(answer)
        calls = answer.get("tool_calls") or []
        for call in calls:
            shown = OVER
            if episode.end is None:
                step = await episode.step(*_action_of(call["function"]))
                shown = step.observation.text if step.end is None else f"{step.observation.text}\n{OVER}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": shown})
        if episode.end is not None or not calls:
            return


def account_of(episode: AsyncEpisode) -> JsonObject:
    """Returns how an episode went, for frameworks that keep JSON beside the score of a rollout."""
    return {
        "return": episode.total,
        "terms": dict(episode.summed),
        "steps": episode.seq,
        "success": episode.success,
        "end": episode.end.reason if episode.end else None,
        "seed": episode.seed,
    }


def _action_of(called: JsonObject) -> tuple[str, JsonObject]:
    try:
        arguments = json.loads(called["arguments"] or "{}")
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        return called["name"], arguments
    return f"{called['name']} {called['arguments']}"[:LONGEST_NAME], {}
