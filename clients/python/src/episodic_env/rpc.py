"""JSON-RPC messages of the stateless version of MCP, as the trainer endpoint takes them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection
from typing import Any, Protocol

from .errors import WIRE_CODES, EpisodicError, malformed
from .json_types import Json, JsonObject

PROTOCOL_VERSION = "2026-07-28"
CLIENT = {"name": "episodic-env", "version": "0.1.0"}

SENDER = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": CLIENT,
}
"""Keys in `_meta` with which each request names its sender, because there is no handshake."""

SESSION = "dev.episodic/session"
SEQ = "dev.episodic/seq"
EPOCH = "dev.episodic/epoch"
SEAT = "dev.episodic/seat"
STEP = "dev.episodic/step"
REPLAYED = "dev.episodic/replayed"
TOOLS = "dev.episodic/tools"

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
"""The parameters of `initialize`, with which a WebSocket names its sender once."""

UNAUTHORIZED = 401
"""The status for a control token that the server does not know."""
AWAY = frozenset({502, 503, 504})
"""Statuses of a gateway, or of a server that starts or stops: a retry may succeed."""


class Channel(Protocol):
    """Carries calls to one server. Calls may come from several threads at the same time."""

    def call(self, method: str, params: JsonObject) -> Json:
        """Returns the result. Raises `EpisodicError`: `connection-failed` if no answer came."""

    def close(self) -> None:
        """Releases the connections. Safe to call twice."""


def encode(message: JsonObject) -> bytes:
    """Returns a message as UTF-8 JSON, with U+FFFD for half of a surrogate pair.

    Raises `option-invalid` for what JSON cannot express.
    """
    try:
        return _well_formed(json.dumps(message, allow_nan=False, separators=(",", ":"), ensure_ascii=False)).encode()
    except (TypeError, ValueError) as cause:
        raise EpisodicError("option-invalid", f"Only JSON can be sent: {cause}", retryable=False) from cause


def _well_formed(text: str) -> str:
    """Returns a text with U+FFFD for half of a surrogate pair.

    A model that is cut off in the middle of a character writes one half of it.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _HALF.search(text) else text


_HALF = re.compile("[\ud800-\udfff]")


def decode(body: bytes | str) -> dict[str, Any] | None:
    """Returns the JSON object in an answer; None if it is anything else."""
    try:
        message = json.loads(body)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def answered_call(message: dict[str, Any], waiting: Collection[int]) -> int | None:
    """Returns which of the waiting calls a message answers; None if it answers none of them.

    A server that could not read a call refuses it without its number: it is the only one that waits, if one waits.
    """
    number = message.get("id")
    if number is None and "error" in message and len(waiting) == 1:
        return next(iter(waiting))
    return number if isinstance(number, int) and number in waiting else None


def result_of(message: dict[str, Any], method: str, *, retryable: bool = False, retry_after: float = 0.0) -> Json:
    """Returns the result in an answer, or raises its error. `retryable` is for errors that are not of the protocol."""
    error = message.get("error")
    if isinstance(error, dict) and isinstance(error.get("code"), int) and isinstance(error.get("message"), str):
        code = WIRE_CODES.get(error["code"])
        data = error.get("data")
        details = data if isinstance(data, dict) else {}
        if code is not None:
            # Nothing was applied when the store did not answer. Every other answer is final.
            raise EpisodicError(code, error["message"], details=details, retryable=code == "store-unavailable")
        text = f"The server refused {method}: {error['message']} ({error['code']})"
        raise EpisodicError("connection-failed", text, details=details, retryable=retryable, retry_after=retry_after)
    if "result" not in message:
        raise malformed(f"The answer to {method} is not a JSON-RPC answer to it.")
    return message["result"]


def header_value(text: str) -> str:
    """Returns a text as the value of a header: in Base64 if it is not printable ASCII."""
    if re.fullmatch(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", text) and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(_well_formed(text).encode()).decode()}?="
