"""Answers of HTTP/1.1, as far as a client of one server needs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MOST_HEAD = 65_536
"""Bytes that the head of an answer may have."""
READ = 65_536

Receive = Callable[[int], bytes]
"""Returns the next bytes of a connection, at most as many as asked for; empty at its end."""


@dataclass(frozen=True)
class Head:
    """The first line and the headers of an answer. Names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    keeps: bool
    """Whether the connection can carry another request."""


def read_head(receive: Receive, received: bytes = b"") -> tuple[Head, bytes]:
    """Returns the head of an answer, and what was received after it. Raises ConnectionError."""
    while (end := received.find(b"\r\n\r\n")) < 0:
        if len(received) > MOST_HEAD:
            raise ConnectionError("the head of the answer does not end")
        received += _some(receive)
    first, *lines = received[:end].decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
        raise ConnectionError(f"not an answer of HTTP/1.1: {first[:80]!r}")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    keeps = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
    return Head(int(rest[:3]), headers, keeps), received[end + 4 :]


def read_answer(receive: Receive) -> tuple[Head, bytes]:
    """Returns the head and the body of an answer. Raises ConnectionError if the connection ends before it does."""
    head, received = read_head(receive)
    while head.status < 200:
        head, received = read_head(receive, received)
    headers = head.headers
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return head, _read_chunks(receive, received)
    length = headers.get("content-length")
    if length is not None and length.isdigit():
        return head, _read(receive, received, int(length))
    while more := receive(READ):
        received += more
    return Head(head.status, headers, False), received


def _read_chunks(receive: Receive, received: bytes) -> bytes:
    body = bytearray()
    while True:
        while (end := received.find(b"\r\n")) < 0:
            received += _some(receive)
        try:
            size = int(received[:end].partition(b";")[0], 16)
        except ValueError:
            raise ConnectionError("a chunk of the answer has no size") from None
        received = received[end + 2 :]
        if size == 0:
            # Headers may follow the last chunk, and an empty line does.
            while not received.startswith(b"\r\n") and b"\r\n\r\n" not in received:
                received += _some(receive)
            return bytes(body)
        chunk = _read(receive, received, size + 2)
        received = received[len(chunk) :] if len(received) > len(chunk) else b""
        body += chunk[:size]


def _read(receive: Receive, received: bytes, size: int) -> bytes:
    """Returns the first `size` bytes of what was received, and of what follows it."""
    if len(received) >= size:
        return received[:size]
    parts, left = [received], size - len(received)
    while left > 0:
        part = receive(min(left, 1 << 20))
        if not part:
            raise ConnectionError("the connection ended within an answer")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _some(receive: Receive) -> bytes:
    more = receive(READ)
    if not more:
        raise ConnectionError("the connection ended before the answer")
    return more
