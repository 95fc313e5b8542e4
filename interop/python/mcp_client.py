"""The client of the Python SDK."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp import Client, MCPError, StdioServerParameters

from driver import JsonObject, Opened, Opening, Shown, drive, text_of


class McpConnection:
    """A connection of `mcp.Client`."""

    def __init__(self, client: Client, opened: Opened) -> None:
        self.opened = opened
        self._client = client

    async def call(self, tool: str, arguments: JsonObject) -> Shown:
        """Calls a tool."""
        try:
            result = await self._client.call_tool(tool, arguments)
        except MCPError as error:
            return Shown(text=str(error), structured=None)
        return Shown(text=text_of(result.content), structured=result.structured_content)


@asynccontextmanager
async def connect(opening: Opening) -> AsyncIterator[McpConnection]:
    """Connects; the client itself chooses the newest protocol version."""
    server = opening["url"] or StdioServerParameters(command=opening["command"], args=opening["args"])
    async with Client(server, mode="legacy" if opening["protocol"] == "2025-11-25" else "auto") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        yield McpConnection(client, Opened(client.protocol_version, names))


if __name__ == "__main__":
    drive(connect)
