"""Actions that a model writes as text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .environment_info import ToolInfo
from .json_types import JsonObject

LONGEST_NAME = 64
"""Characters of a text that is no call, which are sent as the name of a tool."""


def text_action(text: str, tools: Sequence[ToolInfo]) -> tuple[str, JsonObject]:
    """Returns the tool and the arguments of `{"tool": "guess", "arguments": {"value": 50}}`.

    Any other text is what is said, in a world in which words are a move. Else it is the name of a tool, which the
    server refuses: a step like any other, with its reward.
    """
    try:
        call = json.loads(text)
    except ValueError:
        call = None
    if isinstance(call, dict) and isinstance(call.get("tool"), str):
        arguments = call.get("arguments", {})
        if isinstance(arguments, dict):
            return call["tool"], arguments
    return spoken_action(text, tools) or (text[:LONGEST_NAME], {})


def spoken_action(words: str, tools: Sequence[ToolInfo]) -> tuple[str, JsonObject] | None:
    """Returns words as the call that they are in a world in which words are a move; None in others, and for none."""
    for tool in tools:
        if tool.speech is not None and words:
            return tool.name, {tool.speech: words}
    return None
