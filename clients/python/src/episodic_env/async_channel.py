"""Calls of asyncio tasks over one WebSocket, many at the same time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence

from .errors import EpisodicError
from .http_answer import read_head
from .json_types import Json, JsonObject
from .rpc import HELLO, answered_call, decode, encode, result_of
from .server_address import ServerAddress
from .websocket_frames import CLOSE, PING, PONG, TEXT, FrameReader, Opening, frame

Calls = Sequence[tuple[str, JsonObject]]
"""Methods with their parameters."""
Answer = dict[str, Json] | EpisodicError
"""A message of the server, or why there is none."""


class AsyncChannel:
    """Carries calls over one socket, and connects again after it was lost."""

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        self._connecting = asyncio.Lock()
        self._line: _Line | None = None
        self._closed = False

    async def call(self, calls: Calls) -> list[Json | EpisodicError]:
        """Sends calls at once, and returns the result of each, or its error, when all are answered."""
        try:
            line = self._line if self._line and not self._line.lost else await self._connected()
            answers = await line.ask(calls)
        except EpisodicError as error:
            return [error] * len(calls)
        return [_result_of(answer, method) for answer, (method, _) in zip(answers, calls, strict=True)]

    async def close(self) -> None:
        """Closes the socket. Safe to call twice."""
        self._closed = True
        if self._line is not None:
            self._line.end()

    async def _connected(self) -> _Line:
        async with self._connecting:
            if self._closed:
                raise EpisodicError("connection-failed", "The connection is closed. Open another.", retryable=False)
            if self._line is None or self._line.lost:
                self._line = await self._open()
            return self._line

    async def _open(self) -> _Line:
        address, line = self._address, _Line(self._address)
        try:
            context = address.context() if address.secure else None
            loop = asyncio.get_running_loop()
            connecting = loop.create_connection(lambda: line, address.host, address.port, ssl=context)
            await asyncio.wait_for(connecting, address.timeout)
            await asyncio.wait_for(line.opened, address.timeout)
            [answer] = await line.ask([("initialize", HELLO)])
            result = _result_of(answer, "initialize")
            if isinstance(result, EpisodicError):
                raise result
        except BaseException as cause:
            line.end()
            if not isinstance(cause, (OSError, asyncio.TimeoutError)):
                raise
            message = f"Cannot connect to {address.url}: {cause!r}"
            raise EpisodicError("connection-failed", message) from cause
        line.send(frame(TEXT, encode({"jsonrpc": "2.0", "method": "notifications/initialized"})))
        return line


def _result_of(answer: Answer, method: str) -> Json | EpisodicError:
    if isinstance(answer, EpisodicError):
        return answer
    try:
        return result_of(answer, method)
    except EpisodicError as error:
        return error


class _Line(asyncio.Protocol):
    """One socket. It does not connect again."""

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        self._loop = asyncio.get_running_loop()
        self._opening = Opening(address)
        self.opened: asyncio.Future[None] = self._loop.create_future()
        self._head = b""
        self._frames = FrameReader()
        self._ids = itertools.count(1)
        self._pending: dict[int, Callable[[int, Answer], None]] = {}
        self._transport: asyncio.Transport | None = None
        self.lost = False

    async def ask(self, calls: Calls) -> list[Answer]:
        """Sends calls in one write, and returns their answers."""
        if self.lost:
            raise self._failure()
        answers: dict[int, Answer] = {}
        numbers: list[int] = []
        frames: list[bytes] = []
        done: asyncio.Future[None] = self._loop.create_future()

        def answered(number: int, answer: Answer) -> None:
            answers[number] = answer
            if len(answers) == len(numbers) and not done.done():
                done.set_result(None)

        for method, params in calls:
            number = next(self._ids)
            numbers.append(number)
            try:
                message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                frames.append(frame(TEXT, encode(message)))
                self._pending[number] = answered
            except EpisodicError as unspeakable:
                answers[number] = unspeakable
        late = self._loop.call_later(self._address.timeout, self._late, numbers)
        try:
            if frames:
                self.send(b"".join(frames))
                await done
        finally:
            late.cancel()
            for number in numbers:
                self._pending.pop(number, None)
        return [answers[number] for number in numbers]

    def send(self, sent: bytes) -> None:
        if self._transport is not None:
            self._transport.write(sent)

    def end(self) -> None:
        if self._transport is not None:
            self._transport.abort()
        self._lose()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._opening.request)

    def data_received(self, data: bytes) -> None:
        try:
            if not self.opened.done():
                self._head += data
                if b"\r\n\r\n" not in self._head:
                    return
                head, data = read_head(lambda _: b"", self._head)
                self._opening.check(head)
                self.opened.set_result(None)
            for opcode, payload in self._frames.messages(data):
                if opcode == TEXT:
                    self._answer(payload)
                elif opcode == PING:
                    self.send(frame(PONG, payload))
                elif opcode == CLOSE:
                    raise ConnectionError("the server closed the connection")
        except (ConnectionError, EpisodicError) as cause:
            if not self.opened.done():
                self.opened.set_exception(cause)
            self.end()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(exc or ConnectionError("the connection ended before the answer"))
        self._lose()

    def _answer(self, payload: bytes) -> None:
        message = decode(payload)
        number = answered_call(message, self._pending) if message else None
        if message and number is not None:
            self._pending.pop(number)(number, message)

    def _late(self, numbers: list[int]) -> None:
        message = f"No answer from {self._address.url} in time."
        self._fail(numbers, EpisodicError("connection-failed", message))

    def _lose(self) -> None:
        self.lost = True
        self._fail(list(self._pending), self._failure())

    def _fail(self, numbers: list[int], error: EpisodicError) -> None:
        for number in numbers:
            answered = self._pending.pop(number, None)
            if answered is not None:
                answered(number, error)

    def _failure(self) -> EpisodicError:
        return EpisodicError("connection-failed", f"The connection to {self._address.url} was lost.")
