"""The MCP adapters of LangChain: the tools as an agent of LangChain gets them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.sessions import Connection
from langchain_mcp_adapters.tools import load_mcp_tools

from driver import JsonObject, Opened, Opening, Shown, drive


class LangChainConnection:
    """A connection of `MultiServerMCPClient`."""

    def __init__(self, tools: list[BaseTool]) -> None:
        self.opened = Opened(None, [tool.name for tool in tools])
        self._tools = {tool.name: tool for tool in tools}

    async def call(self, tool: str, arguments: JsonObject) -> Shown:
        """Calls a tool as an agent does: text is what the model sees, the artifact is for the program."""
        call = ToolCall(type="tool_call", id="call", name=tool, args=arguments)
        message: ToolMessage = await self._tools[tool].ainvoke(call)
        content = message.content
        text = content if isinstance(content, str) else "\n".join(str(block["text"]) for block in content)  # type: ignore[index]
        return Shown(text=text, structured=(message.artifact or {}).get("structured_content"))


@asynccontextmanager
async def connect(opening: Opening) -> AsyncIterator[LangChainConnection]:
    """Opens a session for the whole connection, as the adapters' documentation asks of stateful servers."""
    server: Connection = (
        {"transport": "streamable_http", "url": opening["url"]}
        if opening["url"]
        else {"transport": "stdio", "command": opening["command"], "args": opening["args"]}
    )
    async with MultiServerMCPClient({"world": server}).session("world") as session:
        yield LangChainConnection(await load_mcp_tools(session))


if __name__ == "__main__":
    drive(connect)
