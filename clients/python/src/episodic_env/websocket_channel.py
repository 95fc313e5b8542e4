"""Calls of threads over one WebSocket, many at the same time, with the standard library alone."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import select
import socket
import threading
import time

from .errors import EpisodicError
from .http_answer import read_head
from .json_types import Json, JsonObject
from .rpc import HELLO, answered_call, decode, encode, result_of
from .server_address import ServerAddress
from .websocket_frames import CLOSE, PING, PONG, TEXT, FrameReader, Opening, frame

READ = 1 << 18
IDLE = 1.0
"""Seconds of silence after which a socket is read before it is used: the server may have pinged, or closed it."""


class WebSocketChannel:
    """Carries the calls of all threads over one socket, and connects again after it was lost."""

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
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
            if self._line is not None and self._process == os.getpid():
                self._line.end()

    def __del__(self) -> None:
        # A connection that nobody closed, such as one of a class.
        if hasattr(self, "_closed"):
            self.close()

    def _connected(self) -> _Line:
        with self._connecting:
            if self._closed:
                raise EpisodicError("connection-failed", "The connection is closed. Open another.", retryable=False)
            # After a fork, the socket is the parent's too.
            if self._line is None or self._process != os.getpid() or not self._line.usable():
                self._process = os.getpid()
                self._line = self._open()
            return self._line

    def _open(self) -> _Line:
        opening = Opening(self._address)
        opened: socket.socket | None = None
        try:
            opened = self._address.connected()
            opened.sendall(opening.request)
            head, received = read_head(opened.recv)
            opening.check(head)
            line = _Line(opened, received, self._address)
            result_of(line.ask("initialize", HELLO), "initialize")
            line.send(frame(TEXT, encode({"jsonrpc": "2.0", "method": "notifications/initialized"})))
        except BaseException as cause:
            if opened is not None:
                opened.close()
            if not isinstance(cause, OSError):
                raise
            message = f"Cannot connect to {self._address.url}: {cause!r}"
            raise EpisodicError("connection-failed", message) from cause
        return line


class _Line:
    """One socket. It does not connect again.

    One of the threads that wait for an answer reads, for all of them; when it has its own answer, another reads on.
    """

    def __init__(self, opened: socket.socket, received: bytes, address: ServerAddress) -> None:
        self._socket = opened
        self._address = address
        self._frames = FrameReader()
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._reading = threading.Lock()
        self._pending: dict[int, queue.SimpleQueue[dict[str, Json] | EpisodicError | None]] = {}
        self._heard = time.monotonic()
        self._lost = False
        self._take(received)

    def ask(self, method: str, params: JsonObject) -> dict[str, Json]:
        identifier = next(self._ids)
        # What it gets: its answer, the failure of the line, or None to read on.
        own: queue.SimpleQueue[dict[str, Json] | EpisodicError | None] = queue.SimpleQueue()
        sent = frame(TEXT, encode({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}))
        with self._lock:
            if self._lost:
                raise self._failure()
            self._pending[identifier] = own
        try:
            self.send(sent)
            answer = self._wait(own, method, time.monotonic() + self._address.timeout)
        except OSError as cause:
            raise self._failure() from cause
        finally:
            with self._lock:
                self._pending.pop(identifier, None)
            if not own.empty():
                self._let_read(own)
        if isinstance(answer, EpisodicError):
            raise answer
        return answer

    def send(self, sent: bytes) -> None:
        try:
            with self._sending:
                self._socket.sendall(sent)
        except OSError:
            # Half of a frame may be sent.
            self.end()
            raise

    def usable(self) -> bool:
        """Whether the next call may be sent here. Reads what came while nobody waited for an answer."""
        if time.monotonic() - self._heard > IDLE and self._reading.acquire(blocking=False):
            try:
                with contextlib.suppress(OSError, ValueError):
                    while not self._lost and select.select([self._socket], [], [], 0)[0]:
                        self._receive()
            finally:
                self._reading.release()
        return not self._lost

    def end(self) -> None:
        with self._lock:
            self._lost = True
            waiting = list(self._pending.values())
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for own in waiting:
            own.put(self._failure())

    def _wait(
        self, own: queue.SimpleQueue[dict[str, Json] | EpisodicError | None], method: str, until: float
    ) -> dict[str, Json] | EpisodicError:
        while True:
            if own.empty() and self._reading.acquire(blocking=False):
                try:
                    while own.empty() and time.monotonic() < until:
                        self._receive()
                finally:
                    self._reading.release()
                    self._let_read(own)
            try:
                said = own.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                message = f"No answer from {self._address.url} to {method} in time."
                raise EpisodicError("connection-failed", message) from None
            if said is not None:
                return said

    def _let_read(self, own: object) -> None:
        """Lets another thread read that waits for its answer."""
        with self._lock:
            for other in self._pending.values():
                if other is not own and other.empty():
                    other.put(None)
                    return

    def _receive(self) -> None:
        try:
            received = self._socket.recv(READ)
            if not received:
                raise ConnectionError("the server closed the connection")
            self._take(received)
        except BaseException:
            # Also after a silence of the whole timeout, in which a server that lives has pinged.
            self.end()
            raise

    def _take(self, received: bytes) -> None:
        self._heard = time.monotonic()
        for opcode, payload in self._frames.messages(received):
            if opcode == TEXT:
                self._answer(payload)
            elif opcode == PING:
                self.send(frame(PONG, payload))
            elif opcode == CLOSE:
                raise ConnectionError("the server closed the connection")

    def _answer(self, payload: bytes) -> None:
        message = decode(payload)
        if message is None:
            return
        with self._lock:
            number = answered_call(message, self._pending)
            own = None if number is None else self._pending[number]
        if own is not None:
            own.put(message)

    def _failure(self) -> EpisodicError:
        return EpisodicError("connection-failed", f"The connection to {self._address.url} was lost.")
