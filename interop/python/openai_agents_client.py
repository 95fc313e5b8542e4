"""An agent of the OpenAI Agents SDK with an MCP server, and a scripted model."""

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from itertools import count
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.items import TResponseInputItem, TResponseOutputItem, TResponseStreamEvent
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from agents.testing import assistant_message, function_call
from agents.tool import Tool as AgentTool

from driver import Call, Opened, Opening, Shown, drive
from scripted_model import AgentConnection, ScriptedModel, agent_connection

TIMEOUT_SECONDS = 60


class TurnModel(Model):
    """A model of the SDK whose turns are scripted."""

    def __init__(self, script: ScriptedModel) -> None:
        self._script = script
        self._calls = count()

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002 (its name in the interface)
        model_settings: object,
        tools: list[AgentTool],
        *_: object,
        **__: object,
    ) -> ModelResponse:
        """Shows the last item of the conversation, and answers with the call that it is told."""
        call = await self._script.turn(_seen(input, tools))
        return ModelResponse(output=[self._output(call)], usage=Usage(), response_id=None)

    def _output(self, call: Call | None) -> TResponseOutputItem:
        if call is None:
            return assistant_message("Done.")
        return function_call(call["tool"], json.dumps(call["arguments"]), call_id=f"call-{next(self._calls)}")

    def stream_response(self, *_: object, **__: object) -> AsyncIterator[TResponseStreamEvent]:
        """Is not asked for: the agent runs without a stream."""
        raise NotImplementedError


def connect(opening: Opening) -> AbstractAsyncContextManager[AgentConnection]:
    """Runs an agent whose only server is the world, and that shows structured content where the view asks for it."""
    # The default of five seconds is for a machine that does nothing else.
    options: dict[str, Any] = {
        "use_structured_content": opening["view"] == "structured",
        "client_session_timeout_seconds": TIMEOUT_SECONDS,
    }

    async def run(script: ScriptedModel) -> object:
        async with (
            MCPServerStreamableHttp({"url": opening["url"]}, **options)
            if opening["url"]
            else MCPServerStdio({"command": opening["command"], "args": opening["args"]}, **options)
        ) as server:
            agent = Agent(name="player", model=TurnModel(script), mcp_servers=[server])
            # An episode may take more turns than the ten that an agent has by default.
            return await Runner.run(agent, "Play.", max_turns=10_000)

    return agent_connection(run)


def _seen(conversation: str | list[TResponseInputItem], tools: list[AgentTool]) -> Opened | Shown:
    last: Any = conversation[-1]
    if isinstance(last, dict) and last.get("type") == "function_call_output":
        return _shown(last["output"])
    return Opened(None, [tool.name for tool in tools])


def _shown(output: str | list[dict[str, Any]]) -> Shown:
    if not isinstance(output, str):
        return Shown(text="\n".join(item["text"] for item in output), structured=None)
    try:
        structured = json.loads(output)
    except ValueError:
        return Shown(text=output, structured=None)
    return Shown(text=None, structured=structured)


if __name__ == "__main__":
    set_tracing_disabled(True)
    drive(connect)
