"""Actions that a model writes as text."""

from __future__ import annotations

import json

from .json_types import JsonObject

LONGEST_NAME = 64
"""Characters of a text that is no call, which are sent as the name of a tool."""


def text_action(text: str) -> tuple[str, JsonObject]:
    """Returns the tool and the arguments of `{"tool": "guess", "arguments": {"value": 50}}`.

    Any other text is the name of a tool, which the server refuses: a step like any other, with its reward.
    """
    try:
        call = json.loads(text)
    except ValueError:
        call = None
    if isinstance(call, dict) and isinstance(call.get("tool"), str):
        arguments = call.get("arguments", {})
        if isinstance(arguments, dict):
            return call["tool"], arguments
    return text[:LONGEST_NAME], {}
