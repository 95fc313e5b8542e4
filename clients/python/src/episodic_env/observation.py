"""What a player observes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .errors import malformed
from .json_types import JsonObject
from .notebook import html_text
from .rpc import TOOLS


@dataclass(frozen=True)
class Observation:
    """What the player sees: a text, the same as data if the environment provides it, and pictures, sounds and files."""

    text: str
    structured: JsonObject | None
    attachments: tuple[JsonObject, ...] = ()
    """Pictures and sounds: `type` (`image` or `audio`), `mimeType`, and `data` in base64. Files and others that are
    resources of MCP: `type` (`resource`), and `resource` with `uri`, `mimeType` and `blob` in base64."""
    tools: tuple[str, ...] | None = None
    """The names of the tools that the player has now; `None` for all of its seat."""

    def _repr_html_(self) -> str:
        return html_text(self.text)


def observation_of(value: Any) -> Observation:
    """Reads `{text, structured}`. Raises `reply-malformed`."""
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise malformed("The server sent an observation without text.")
    attachments = tuple(value.get("attachments") or ())
    return Observation(value["text"], value.get("structured"), attachments, _names(value.get("tools")))


def answered_observation(result: JsonObject) -> Observation:
    """Reads the observation in a tool's answer.

    It has the texts of the answer and of its resources, joined by newlines, and its structured content.
    """
    content = result.get("content")
    if not isinstance(content, list):
        raise malformed("The answer of a tool has no content.")
    texts = [text for block in content if (text := _text_of(block)) is not None]
    attachments = tuple(block for block in content if "data" in block or "blob" in (block.get("resource") or {}))
    tools = _names((result.get("_meta") or {}).get(TOOLS))
    return Observation("\n".join(texts), result.get("structuredContent"), attachments, tools)


def _names(tools: Any) -> tuple[str, ...] | None:
    return None if tools is None else tuple(tools)


def _text_of(block: JsonObject) -> str | None:
    """The text of a block, or a note of a link; `None` for a block of bytes."""
    if block.get("type") == "resource_link":
        return f"[resource_link {block.get('name')} {block.get('uri')}]"
    text = block.get("text", (block.get("resource") or {}).get("text"))
    return text if isinstance(text, str) else None
