"""The client of FastMCP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp import MCPError

from driver import JsonObject, Opened, Opening, Shown, drive, text_of


class FastMcpConnection:
    """A connection of `fastmcp.Client`."""

    def __init__(self, client: Client[Any], opened: Opened) -> None:
        self.opened = opened
        self._client = client

    async def call(self, tool: str, arguments: JsonObject) -> Shown:
        """Calls a tool."""
        try:
            result = await self._client.call_tool(tool, arguments, raise_on_error=False)
        except MCPError as error:
            return Shown(text=str(error), structured=None)
        return Shown(text=text_of(result.content), structured=result.structured_content)


@asynccontextmanager
async def connect(opening: Opening) -> AsyncIterator[FastMcpConnection]:
    """Connects; the client itself chooses the newest protocol version."""
    server = opening["url"] or StdioTransport(command=opening["command"], args=opening["args"], keep_alive=False)
    modern = opening["protocol"] != "2025-11-25"
    async with Client(server, mode="auto" if modern else "legacy") as client:
        names = [tool.name for tool in await client.list_tools()]
        yield FastMcpConnection(client, Opened(client.protocol_version, names))


if __name__ == "__main__":
    drive(connect)
