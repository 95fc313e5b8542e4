"""Calls as HTTP requests, with the standard library alone."""

from __future__ import annotations

import http.client
import itertools
import os
import ssl
import threading
from urllib.parse import urlsplit

from .errors import EpisodicError, malformed, unauthorized
from .json_types import Json, JsonObject
from .rpc import AWAY, PROTOCOL_VERSION, SENDER, UNAUTHORIZED, decode, encode, header_value, result_of

MOST_IDLE = 64
"""Connections without a call that are kept open."""


class HttpChannel:
    """Sends each call as one POST. Threads call at the same time, each over a connection of its own."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        parts = urlsplit(url)
        self._url = url
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._timeout = timeout
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL_VERSION,
            **({"Authorization": f"Bearer {token}"} if token else {}),
        }
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._process = os.getpid()
        self._closed = False

    def call(self, method: str, params: JsonObject) -> Json:
        """See `Channel`."""
        identifier = next(self._ids)
        sent = {**params, "_meta": {**SENDER, **params.get("_meta", {})}}
        body = encode({"jsonrpc": "2.0", "id": identifier, "method": method, "params": sent})
        headers = {**self._headers, "Mcp-Method": method}
        if method == "tools/call":
            headers["Mcp-Name"] = header_value(params["name"])
        status, retry_after, text = self._post(method, body, headers)
        if status == UNAUTHORIZED:
            raise unauthorized(self._url)
        message = decode(text)
        # The id is null if the server could not read the request.
        if message is not None and message.get("id") in (identifier, None) and message.keys() & {"error", "result"}:
            return result_of(message, method, retryable=status in AWAY, retry_after=retry_after)
        if 200 <= status < 300:
            raise malformed(f"The answer to {method} is not a JSON-RPC answer to it.")
        raise EpisodicError(
            "connection-failed",
            f"{self._url} answered {method} with HTTP status {status}.",
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

    def _post(self, method: str, body: bytes, headers: dict[str, str]) -> tuple[int, float, bytes]:
        connection = self._take()
        try:
            connection.request("POST", self._path, body, headers)
            response = connection.getresponse()
            text = response.read()
            retry_after = response.getheader("Retry-After", "")
            answer = response.status, float(retry_after) if retry_after.isdigit() else 0.0, text
        except (OSError, http.client.HTTPException) as cause:
            connection.close()
            raise EpisodicError("connection-failed", f"No answer from {self._url} to {method}: {cause!r}") from cause
        except BaseException:
            # An interrupted call leaves its answer on the connection.
            connection.close()
            raise
        self._give_back(connection)
        return answer

    def _take(self) -> http.client.HTTPConnection:
        with self._lock:
            if self._closed:
                raise EpisodicError("connection-failed", "The connection is closed. Open another.", retryable=False)
            if self._process != os.getpid():
                # After a fork, the sockets belong to the parent too, and answers would reach either process.
                self._idle = []
                self._process = os.getpid()
            if self._idle:
                return self._idle.pop()
        if self._secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=context)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()
