"""Messages of a WebSocket (RFC 6455) as bytes, and how a client opens one."""

from __future__ import annotations

import base64
import hashlib
import os
import struct

from .errors import EpisodicError, unauthorized
from .http_answer import Head
from .rpc import AWAY, UNAUTHORIZED
from .server_address import ServerAddress

LONGEST = 128 * 1024 * 1024
"""Bytes of the longest message: a session may allow 64 MiB for one answer."""
CONTINUED, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10


class Opening:
    """The request that opens a WebSocket, and the check of its answer."""

    def __init__(self, address: ServerAddress) -> None:
        self._url = address.url
        key = base64.b64encode(os.urandom(16)).decode()
        accepted = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode(), usedforsecurity=False)
        self._accepted = base64.b64encode(accepted.digest()).decode()
        head = address.head(
            "GET",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Protocol: episodic",
        )
        self.request = f"{head}\r\n".encode("ascii")

    def check(self, head: Head) -> None:
        """Raises `unauthorized` or `connection-failed` for an answer that opens none."""
        if head.status == UNAUTHORIZED:
            raise unauthorized(self._url)
        if head.status != 101 or head.headers.get("sec-websocket-accept") != self._accepted:
            message = f"Cannot connect to {self._url}: it answered with HTTP status {head.status}."
            raise EpisodicError("connection-failed", message, retryable=head.status in AWAY)


def frame(opcode: int, payload: bytes) -> bytes:
    """Returns a frame of a client, which is masked."""
    first, size = 0x80 | opcode, len(payload)
    if size < 126:
        head = bytes((first, 0x80 | size))
    elif size < 65_536:
        head = struct.pack("!BBH", first, 0x80 | 126, size)
    else:
        head = struct.pack("!BBQ", first, 0x80 | 127, size)
    mask = os.urandom(4)
    key = (mask * (size // 4 + 1))[:size]
    masked = int.from_bytes(payload, "little") ^ int.from_bytes(key, "little")
    return head + mask + masked.to_bytes(size, "little")


class FrameReader:
    """The messages of a server, out of bytes as they arrive."""

    def __init__(self) -> None:
        self._received = b""
        self._needed = 2
        self._begun: list[bytes] = []

    def messages(self, data: bytes) -> list[tuple[int, bytes]]:
        """Returns the opcode and the payload of each message that is complete. Raises ConnectionError."""
        received = self._received + data if self._received else data
        found: list[tuple[int, bytes]] = []
        at, end = 0, len(received)
        while end - at >= self._needed:
            first, size, start = received[at], received[at + 1], at + 2
            if size == 126 or size == 127:
                start += 2 if size == 126 else 8
                if end < start:
                    self._needed = start - at
                    break
                size = int.from_bytes(received[at + 2 : start], "big")
            if first & 0x70 or size > LONGEST:
                raise ConnectionError("the server sent a frame that is none, or too long")
            if end - start < size:
                self._needed = start + size - at
                break
            self._needed = 2
            at = start + size
            self._found(first, received[start:at], found)
        self._received = received[at:]
        return found

    def _found(self, first: int, payload: bytes, found: list[tuple[int, bytes]]) -> None:
        opcode = first & 0x0F
        if opcode >= CLOSE or (first & 0x80 and not self._begun):
            found.append((opcode, payload))
            return
        self._begun.append(payload)
        if first & 0x80:
            found.append((TEXT, b"".join(self._begun)))
            self._begun = []
