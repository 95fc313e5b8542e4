"""Calls as HTTP requests, with the standard library alone."""

from __future__ import annotations

import itertools
import os
import socket
import threading

from .errors import EpisodicError, malformed, unauthorized
from .http_answer import Head, read_answer
from .json_types import Json, JsonObject
from .rpc import AWAY, PROTOCOL_VERSION, SENDER, UNAUTHORIZED, decode, encode, header_value, result_of
from .server_address import ServerAddress

MOST_IDLE = 64
"""Connections without a call that are kept open."""


class HttpChannel:
    """Sends each call as one POST. Threads call at the same time, each over a connection of its own."""

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        self._head = address.head(
            "POST",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"MCP-Protocol-Version: {PROTOCOL_VERSION}",
        )
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._idle: list[socket.socket] = []
        self._process = os.getpid()
        self._closed = False

    def call(self, method: str, params: JsonObject) -> Json:
        """See `Channel`."""
        identifier = next(self._ids)
        sent = {**params, "_meta": {**SENDER, **params.get("_meta", {})}}
        body = encode({"jsonrpc": "2.0", "id": identifier, "method": method, "params": sent})
        named = f"Mcp-Name: {header_value(params['name'])}\r\n" if method == "tools/call" else ""
        head = f"{self._head}Mcp-Method: {method}\r\n{named}Content-Length: {len(body)}\r\n\r\n"
        answer, text = self._post(method, head.encode("ascii") + body)
        url, status = self._address.url, answer.status
        if status == UNAUTHORIZED:
            raise unauthorized(url)
        after = answer.headers.get("retry-after", "")
        retry_after = float(after) if after.isdigit() else 0.0
        message = decode(text)
        # The id is null if the server could not read the request.
        if message is not None and message.get("id") in (identifier, None) and message.keys() & {"error", "result"}:
            return result_of(message, method, retryable=status in AWAY, retry_after=retry_after)
        if 200 <= status < 300:
            raise malformed(f"The answer to {method} is not a JSON-RPC answer to it.")
        raise EpisodicError(
            "connection-failed",
            f"{url} answered {method} with HTTP status {status}.",
            retryable=status in AWAY,
            retry_after=retry_after,
        )

    def close(self) -> None:
        """See `Channel`."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        # A connection that nobody closed, such as one of a class.
        if hasattr(self, "_idle"):
            self.close()

    def _post(self, method: str, request: bytes) -> tuple[Head, bytes]:
        connection: socket.socket | None = None
        try:
            connection = self._take()
            connection.sendall(request)
            answer = read_answer(connection.recv)
        except BaseException as cause:
            # An interrupted call leaves its answer on the connection.
            if connection is not None:
                connection.close()
            if not isinstance(cause, OSError):
                raise
            message = f"No answer from {self._address.url} to {method}: {cause!r}"
            raise EpisodicError("connection-failed", message) from cause
        self._give_back(connection, keep=answer[0].keeps)
        return answer

    def _take(self) -> socket.socket:
        with self._lock:
            if self._closed:
                raise EpisodicError("connection-failed", "The connection is closed. Open another.", retryable=False)
            if self._process != os.getpid():
                # After a fork, the sockets belong to the parent too, and answers would reach either process.
                self._idle = []
                self._process = os.getpid()
            if self._idle:
                return self._idle.pop()
        return self._address.connected()

    def _give_back(self, connection: socket.socket, *, keep: bool) -> None:
        with self._lock:
            if keep and not self._closed and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()
