"""Calls over one WebSocket, many at the same time. Needs the extra `websocket`."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError

try:
    from websockets.exceptions import InvalidHandshake, InvalidStatus, WebSocketException
    from websockets.sync.client import ClientConnection
    from websockets.sync.client import connect as open_socket
    from websockets.typing import Subprotocol
except ImportError as cause:
    raise ImportError('WebSocket URLs need the extra: pip install "episodic-env[websocket]"') from cause

from .errors import EpisodicError, unauthorized
from .json_types import Json, JsonObject
from .rpc import AWAY, CLIENT, UNAUTHORIZED, decode, encode, result_of

MOST_IN_FLIGHT = 256
"""Calls without an answer on one socket; further calls wait. The bound of the server."""
LONGEST = 128 * 1024 * 1024
"""Bytes of the longest answer: a session may allow 64 MiB for one answer."""
HANDSHAKE_VERSION = "2025-11-25"


class WebSocketChannel:
    """Carries the calls of all threads over one socket, and connects again after it was lost."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout = timeout
        self._connecting = threading.Lock()
        self._line: _Line | None = None
        self._process = os.getpid()
        self._closed = False

    def call(self, method: str, params: JsonObject) -> Json:
        """See `Channel`."""
        return result_of(self._connected().ask(method, params), method)

    def close(self) -> None:
        """See `Channel`."""
        with self._connecting:
            self._closed = True
            if self._line is not None:
                self._line.end()

    def __del__(self) -> None:
        # A connection that nobody closed, such as one of a class.
        if hasattr(self, "_closed"):
            self.close()

    def _connected(self) -> _Line:
        with self._connecting:
            if self._closed:
                raise EpisodicError("connection-failed", "The connection is closed. Open another.", retryable=False)
            # After a fork, the socket and its reader are the parent's.
            if self._line is None or self._line.lost or self._process != os.getpid():
                self._process = os.getpid()
                self._line = self._open()
            return self._line

    def _open(self) -> _Line:
        opened = contextlib.ExitStack()
        try:
            # As a context manager: `websockets` deprecates every other use since 17.1.
            socket = opened.enter_context(
                open_socket(
                    self._url,
                    additional_headers=self._headers,
                    subprotocols=[Subprotocol("episodic")],
                    compression=None,
                    max_size=LONGEST,
                    open_timeout=self._timeout,
                    close_timeout=2,
                    proxy=None,
                )
            )
        except InvalidStatus as refused:
            status = refused.response.status_code
            if status == UNAUTHORIZED:
                raise unauthorized(self._url) from refused
            message = f"Cannot connect to {self._url}: it answered with HTTP status {status}."
            raise EpisodicError("connection-failed", message, retryable=status in AWAY) from refused
        except (OSError, InvalidHandshake, LateError) as failed:
            message = f"Cannot connect to {self._url}: {failed!r}"
            raise EpisodicError("connection-failed", message) from failed
        line = _Line(socket, opened, self._url, self._timeout)
        hello = {"protocolVersion": HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": CLIENT}
        try:
            result_of(line.ask("initialize", hello), "initialize")
            line.notify("notifications/initialized")
        except BaseException:
            line.end()
            raise
        return line


class _Line:
    """One socket with its reader. It does not connect again."""

    def __init__(self, socket: ClientConnection, opened: contextlib.ExitStack, url: str, timeout: float) -> None:
        self._socket = socket
        self._opened = opened
        self._url = url
        self._timeout = timeout
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._pending: dict[int, Future[dict[str, Json]]] = {}
        self._room = threading.BoundedSemaphore(MOST_IN_FLIGHT)
        self.lost = False
        threading.Thread(target=self._read, daemon=True, name=f"reader of {url}").start()

    def ask(self, method: str, params: JsonObject) -> dict[str, Json]:
        with self._room:
            identifier = next(self._ids)
            answer: Future[dict[str, Json]] = Future()
            text = encode({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}).decode()
            with self._lock:
                if self.lost:
                    raise self._failure()
                self._pending[identifier] = answer
            try:
                self._socket.send(text)
                return answer.result(self._timeout)
            except LateError as late:
                # A dead socket is found by its pings; a slow call leaves it to the others.
                message = f"No answer from {self._url} to {method} in time."
                raise EpisodicError("connection-failed", message) from late
            except (OSError, WebSocketException) as cause:
                raise self._failure() from cause
            finally:
                with self._lock:
                    self._pending.pop(identifier, None)

    def notify(self, method: str) -> None:
        self._socket.send(encode({"jsonrpc": "2.0", "method": method}).decode())

    def end(self) -> None:
        self._lose()
        self._opened.close()

    def _read(self) -> None:
        try:
            for text in self._socket:
                message = decode(text)
                identifier = message.get("id") if message else None
                with self._lock:
                    if identifier is None and message is not None and "error" in message and len(self._pending) == 1:
                        identifier = next(iter(self._pending))
                    answer = self._pending.pop(identifier, None) if isinstance(identifier, int) else None
                if answer is not None and message is not None:
                    answer.set_result(message)
        except (OSError, WebSocketException):
            pass
        finally:
            self._lose()

    def _lose(self) -> None:
        with self._lock:
            self.lost = True
            pending, self._pending = self._pending, {}
        for answer in pending.values():
            answer.set_exception(self._failure())

    def _failure(self) -> EpisodicError:
        return EpisodicError("connection-failed", f"The connection to {self._url} was lost.")
