"""What a player observes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .errors import malformed
from .json_types import JsonObject


@dataclass(frozen=True)
class Observation:
    """What the player sees: a text, the same as data if the environment provides it, and pictures and sounds."""

    text: str
    structured: JsonObject | None
    attachments: tuple[JsonObject, ...] = ()
    """Pictures and sounds: `type` (`image` or `audio`), `mimeType`, and `data` in base64."""


def observation_of(value: Any) -> Observation:
    """Reads `{text, structured}`. Raises `reply-malformed`."""
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise malformed("The server sent an observation without text.")
    return Observation(value["text"], value.get("structured"), tuple(value.get("attachments") or ()))


def answered_observation(result: JsonObject) -> Observation:
    """Reads the observation in a tool's answer: its texts, joined by newlines, and its structured content."""
    content = result.get("content")
    if not isinstance(content, list):
        raise malformed("The answer of a tool has no content.")
    texts = [block["text"] for block in content if block.get("type") == "text" and "text" in block]
    attachments = tuple(block for block in content if block.get("type") in ("image", "audio") and "data" in block)
    return Observation("\n".join(texts), result.get("structuredContent"), attachments)
