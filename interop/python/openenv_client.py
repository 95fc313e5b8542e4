"""Plays given episodes with the clients of OpenEnv.

Reads one JSON object from standard input: the base URLs of worlds, with the resets and the calls of their episodes, and
a token, or `null` if it is in the URLs. Writes what the clients have shown as one JSON object to standard output.
"""

import asyncio
import inspect
import json
import sys
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


def options_of(token: str | None) -> JsonObject:
    """Returns the options of a client that sends a token."""
    return {"headers": {"Authorization": f"Bearer {token}"}} if token and TAKES_HEADERS else {}


async def play(client: GenericEnvClient, episode: JsonObject) -> list[JsonObject]:
    """Plays an episode by steps, and returns what each of them has shown."""
    shown = []
    await client.reset(**episode["reset"])
    for call in episode["calls"]:
        step = await client.step({"type": "call_tool", "tool_name": call["tool"], "arguments": call["arguments"]})
        result = step.observation["result"]
        shown.append(
            {
                "text": result["content"][0]["text"],
                "data": result["structured_content"],
                "reward": step.reward,
                "done": step.done,
                "metadata": getattr(step, "metadata", None),
            }
        )
    state = await client.state()
    assert state["step_count"] == len(shown), state
    return shown


async def play_alone(url: str, options: JsonObject, episode: JsonObject) -> list[JsonObject]:
    """Plays an episode over a connection of its own."""
    async with GenericEnvClient(base_url=url, mode="simulation", **options) as client:
        return await play(client, episode)


async def call_tools(url: str, options: JsonObject, episode: JsonObject) -> JsonObject:
    """Plays an episode by calls of tools, and returns their data."""
    async with MCPToolClient(base_url=url, **options) as client:
        await client.reset(**episode["reset"])
        tools = [tool.name for tool in await client.list_tools()]
        data = [data_of(await client.call_tool(call["tool"], **call["arguments"])) for call in episode["calls"]]
        return {"tools": tools, "data": data, "steps": (await client.state()).step_count}


def data_of(answer: Any) -> Any:
    """Returns the data of a call: version 0.10 shows the reward and the end beside it."""
    return answer["result"]["data"] if isinstance(answer, dict) and "tool_name" in answer else answer


async def is_rejected(url: str, reset: JsonObject) -> bool:
    """Whether a client with a wrong token cannot connect."""
    try:
        async with GenericEnvClient(base_url=url, mode="simulation", **options_of("no-token-of-this-server")) as client:
            await client.reset(**reset)
    except ConnectionError:
        return True
    return False


async def play_world(world: JsonObject, token: str | None) -> JsonObject:
    """Plays a world in each way."""
    url, episodes, options = world["url"], world["episodes"], options_of(token)
    report = await asyncio.to_thread(validate_running_environment, url)
    async with GenericEnvClient(base_url=url, mode="simulation", **options) as client:
        one_socket = [await play(client, episode) for episode in episodes]
    return {
        "valid": report["passed"],
        "one socket": one_socket,
        "concurrent sockets": await asyncio.gather(*(play_alone(url, options, episode) for episode in episodes)),
        "tools": await asyncio.gather(*(call_tools(url, options, episode) for episode in episodes)),
        "rejected": await is_rejected(world["openUrl"], episodes[0]["reset"]),
    }


async def main() -> None:
    """Plays all worlds."""
    request = json.load(sys.stdin)
    played = [await play_world(world, request["token"]) for world in request["worlds"]]
    json.dump({"takesHeaders": TAKES_HEADERS, "worlds": played}, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
