"""Lets another program play through a client of MCP.

It writes one request a line on standard input and reads one answer a line on standard output: an `Opening` connects, a
`Call` calls a tool, and `null` closes the connection, after which another one may be opened. A problem is answered with
`{"problem": …}`, and closes the connection too.
"""

import asyncio
import importlib
import json
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, TypedDict

ProtocolVersion = Literal["2025-11-25", "2026-07-28"]
View = Literal["text", "structured"]
JsonObject = dict[str, Any]


class Opening(TypedDict):
    """Where to connect, and what the client is to show to the model."""

    url: str | None
    command: str
    args: list[str]
    protocol: ProtocolVersion
    view: View


class Call(TypedDict):
    """One call of a tool."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True)
class Opened:
    """What a client, or the model behind it, knows before its first call."""

    protocol: str | None
    tools: list[str]


@dataclass(frozen=True)
class Shown:
    """What a client, or the model behind it, is shown of a tool's result."""

    text: str | None
    structured: JsonObject | None


class Connection(Protocol):
    """One connection to one world."""

    opened: Opened

    async def call(self, tool: str, arguments: JsonObject) -> Shown:
        """Calls a tool. An error of the protocol is shown by its message."""
        ...


def text_of(blocks: Iterable[Any]) -> str:
    """The text of the content of a result."""
    return "\n".join(block.text for block in blocks)


def drive(connect: Callable[[Opening], AbstractAsyncContextManager[Connection]]) -> None:
    """Serves requests until standard input ends."""
    _wait_for_slow_servers()
    asyncio.run(_serve(connect))


def _wait_for_slow_servers() -> None:
    """Gives a server two minutes to answer the SDK's first question, in place of its ten seconds.

    A server that does not answer in that time is taken for one of the older protocol. On a busy machine a new process
    can need longer, and the test would then fail for its speed.
    """
    session = importlib.import_module("mcp.client.session")
    if hasattr(session, "DISCOVER_TIMEOUT_SECONDS"):  # the SDK's first version has no such limit
        session.DISCOVER_TIMEOUT_SECONDS = 120.0


async def _serve(connect: Callable[[Opening], AbstractAsyncContextManager[Connection]]) -> None:
    while (opening := await _read()) is not None:
        try:
            async with connect(opening) as connection:
                _write(asdict(connection.opened))
                await _answer_calls(connection.call)
            _write({"closed": True})
        except Exception as error:  # noqa: BLE001 (whatever a client throws is for the program that drives it)
            _write({"problem": _explain(error)})


async def _answer_calls(call: Callable[[str, JsonObject], Awaitable[Shown]]) -> None:
    while (request := await _read()) is not None:
        _write(asdict(await call(request["tool"], request["arguments"])))


async def _read() -> Any:
    line = await asyncio.to_thread(sys.stdin.readline)
    return json.loads(line) if line else None


def _write(answer: JsonObject) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _explain(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_explain(inner) for inner in error.exceptions)
    return f"{type(error).__name__}: {error}"
