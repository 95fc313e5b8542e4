"""An agent of Pydantic AI with an MCP toolset, and a scripted model."""

import json
from contextlib import AbstractAsyncContextManager

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from driver import Opened, Opening, Shown, drive
from scripted_model import AgentConnection, ScriptedModel, agent_connection


def connect(opening: Opening) -> AbstractAsyncContextManager[AgentConnection]:
    """Runs an agent whose only toolset is the world."""
    server = opening["url"] or StdioTransport(command=opening["command"], args=opening["args"], keep_alive=False)

    async def run(model: ScriptedModel) -> object:
        async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            call = await model.turn(_seen(messages, info))
            return ModelResponse(parts=[ToolCallPart(call["tool"], call["arguments"]) if call else TextPart("Done.")])

        # A client that is given a URL or a command alone chooses the newest protocol version.
        legacy = opening["protocol"] == "2025-11-25"
        toolset = MCPToolset(Client(server, mode="legacy") if legacy else server)
        agent = Agent(FunctionModel(answer), toolsets=[toolset])
        # An episode may take more turns than the 50 that an agent has by default.
        return await agent.run("Play.", usage_limits=UsageLimits(request_limit=None))

    return agent_connection(run)


def _seen(messages: list[ModelMessage], info: AgentInfo) -> Opened | Shown:
    part = messages[-1].parts[-1]
    if isinstance(part, RetryPromptPart | ToolReturnPart):
        return _shown(part.content)
    return Opened(None, [tool.name for tool in info.function_tools])


def _shown(content: object) -> Shown:
    if isinstance(content, dict):
        return Shown(text=None, structured=content)
    return Shown(text=content if isinstance(content, str) else json.dumps(content), structured=None)


if __name__ == "__main__":
    drive(connect)
