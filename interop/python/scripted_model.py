"""A model that does what another program says, in the agent loop of a framework."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from driver import Call, JsonObject, Opened, Shown


class ScriptedModel:
    """Shows what the model sees in each of its turns, and answers with the call that it is told."""

    def __init__(self) -> None:
        self.shown: asyncio.Queue[Opened | Shown] = asyncio.Queue()
        self._calls: asyncio.Queue[Call | None] = asyncio.Queue()

    async def turn(self, shown: Opened | Shown) -> Call | None:
        """Shows what the framework gives to the model, and waits for its call; `None` ends the conversation."""
        await self.shown.put(shown)
        return await self._calls.get()

    async def tell(self, call: Call | None) -> None:
        """Says what to answer in this turn."""
        await self._calls.put(call)


class AgentConnection:
    """A connection as the model of an agent has it."""

    def __init__(self, opened: Opened, call: Callable[[Call], Awaitable[Shown]]) -> None:
        self.opened = opened
        self._call = call

    async def call(self, tool: str, arguments: JsonObject) -> Shown:
        """Lets the model call a tool, and gives what it sees in its next turn."""
        return await self._call({"tool": tool, "arguments": arguments})


@asynccontextmanager
async def agent_connection(run: Callable[[ScriptedModel], Awaitable[object]]) -> AsyncIterator[AgentConnection]:
    """Runs an agent with a scripted model, for as long as it is wanted."""
    model = ScriptedModel()
    agent = asyncio.ensure_future(run(model))

    async def next_turn() -> Opened | Shown:
        shown = asyncio.ensure_future(model.shown.get())
        await asyncio.wait({shown, agent}, return_when=asyncio.FIRST_COMPLETED)
        if shown.done():
            return shown.result()
        shown.cancel()
        await agent
        raise RuntimeError("The agent ended by itself.")

    async def call(request: Call) -> Shown:
        await model.tell(request)
        shown = await next_turn()
        assert isinstance(shown, Shown)
        return shown

    try:
        opened = await next_turn()
        assert isinstance(opened, Opened)
        yield AgentConnection(opened, call)
        await model.tell(None)
        await agent
    finally:
        agent.cancel()
