"""Lets another program play scripts through the clients of OpenEnv.

Usage: openenv_client.py HOW URL TOKEN. `socket` plays with `GenericEnvClient`, and `tools` with `MCPToolClient`: it
reads one script a line on standard input, plays it in the next episode of a connection to its world, and writes what
the client has shown of it on standard output. `validate` reads names of worlds, and answers with what is wrong with
their endpoints.
"""

import asyncio
import inspect
import json
import sys
from contextlib import AsyncExitStack
from typing import Any

from openenv.cli._validation import validate_running_environment
from openenv.core import GenericEnvClient

try:
    from openenv.core import MCPToolClient
except ImportError:
    from openenv.core.mcp_client import MCPToolClient

JsonObject = dict[str, Any]

# Versions before 0.10 take no headers.
TAKES_HEADERS = "headers" in inspect.signature(GenericEnvClient.__init__).parameters


def place_of(url: str, token: str, world: str) -> JsonObject:
    """The options of a client of a world."""
    if TAKES_HEADERS:
        return {"base_url": f"{url}/{world}", "headers": {"Authorization": f"Bearer {token}"}}
    return {"base_url": f"{url}/token/{token}/{world}"}


async def main(how: str, url: str, token: str) -> None:
    """Answers lines until standard input ends."""
    clients: dict[str, Any] = {}
    async with AsyncExitStack() as connections:
        while line := await asyncio.to_thread(sys.stdin.readline):
            script = json.loads(line)
            if how == "validate":
                answer: Any = await problems_of(url, token, script)
            else:
                world = script["world"]
                if world not in clients:
                    place = place_of(url, token, world)
                    made = MCPToolClient(**place) if how == "tools" else GenericEnvClient(mode="simulation", **place)
                    clients[world] = await connections.enter_async_context(made)
                answer = await (call_tools if how == "tools" else play)(clients[world], script)
            print(json.dumps(answer), flush=True)


async def play(client: GenericEnvClient, script: JsonObject) -> JsonObject:
    """Plays a script by steps, and returns what was seen."""
    begun = await client.reset(seed=script["seed"], params=script["params"], limits=script["limits"])
    steps = []
    for action in script["actions"]:
        call = {"type": "call_tool", "tool_name": action["tool"], "arguments": action["arguments"]}
        steps.append(seen(await client.step(call)))
    state = await client.state()
    assert state["step_count"] == len(steps), state
    opening = {"text": begun.observation["text"], "structured": begun.observation["structured_content"]}
    return {"opening": opening, "steps": steps, "total": {}}


def seen(step: Any) -> JsonObject:
    """What the result of a step shows."""
    result, metadata = step.observation["result"], getattr(step, "metadata", None)
    [block] = result["content"]
    shown = {
        "text": block["text"],
        "structured": result["structured_content"],
        "isRefused": result["is_error"],
        "reward": step.reward,
        "done": step.done,
    }
    # The versions of the older name drop the metadata.
    names = ("refused", "terms", "end", "potential", "seq")
    return (
        shown
        if metadata is None
        else {
            **shown,
            **{name: metadata[name] for name in names},
            "success": metadata.get("success"),
        }
    )


async def call_tools(client: MCPToolClient, script: JsonObject) -> JsonObject:
    """Plays a script by calls of tools, and returns what was seen."""
    await client.reset(seed=script["seed"], params=script["params"], limits=script["limits"])
    assert {action["tool"] for action in script["actions"]} <= {tool.name for tool in await client.list_tools()}
    data = [data_of(await client.call_tool(action["tool"], **action["arguments"])) for action in script["actions"]]
    steps = [{"structured": each if isinstance(each, dict) else None} for each in data]
    return {"opening": {}, "steps": steps, "total": {"steps": (await client.state()).step_count}}


def data_of(answer: Any) -> Any:
    """The data of a call: version 0.10 shows the reward and the end beside it."""
    return answer["result"]["data"] if isinstance(answer, dict) and "tool_name" in answer else answer


async def problems_of(url: str, token: str, world: str) -> list[Any]:
    """What `openenv validate` finds, and whether a wrong token lets a client in."""
    report = await asyncio.to_thread(validate_running_environment, f"{url}/token/{token}/{world}")
    problems = [] if report["passed"] else [report]
    try:
        async with GenericEnvClient(mode="simulation", **place_of(url, "no-token-of-this-server", world)) as client:
            await client.reset()
        problems.append("A client with a wrong token was let in.")
    except ConnectionError:
        pass
    return problems


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
