"""Calls of tools as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LONGEST_NAME = 128
"""Characters of a malformed call that are sent as the name of a tool."""


def call_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """Returns a call as the model has to write it."""
    return json.dumps({"tool": tool, "arguments": arguments}, separators=(",", ":"))


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Returns the tool and the arguments of a call.

    Nothing is repaired. A text that is no call becomes the name of a tool, which the server refuses: a step like any
    other, with its reward.
    """
    try:
        call = json.loads(text)
    except ValueError:
        call = None
    match call:
        case {"tool": str(tool), "arguments": dict(arguments)}:
            return tool, arguments
    return text[:LONGEST_NAME], {}
