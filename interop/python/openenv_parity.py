"""Lets another program play scripts through the client of OpenEnv.

It reads one script a line on standard input, plays it in the next episode of a connection to its world, and writes what
the client has shown of it on standard output.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from typing import Any

from openenv.core import GenericEnvClient

JsonObject = dict[str, Any]


async def main(url: str, token: str) -> None:
    """Plays scripts until standard input ends."""
    clients: dict[str, GenericEnvClient] = {}
    async with AsyncExitStack() as connections:
        while line := await asyncio.to_thread(sys.stdin.readline):
            script = json.loads(line)
            world = script["world"]
            if world not in clients:
                client = GenericEnvClient(
                    base_url=f"{url}/{world}", mode="simulation", headers={"Authorization": f"Bearer {token}"}
                )
                clients[world] = await connections.enter_async_context(client)
            print(json.dumps(await play(clients[world], script)), flush=True)


async def play(client: GenericEnvClient, script: JsonObject) -> JsonObject:
    """Plays a script, and returns what was seen."""
    begun = await client.reset(seed=script["seed"], params=script["params"], limits=script["limits"])
    steps = []
    for action in script["actions"]:
        call = {"type": "call_tool", "tool_name": action["tool"], "arguments": action["arguments"]}
        steps.append(seen(await client.step(call)))
    opening = {"text": begun.observation["text"], "structured": begun.observation["structured_content"]}
    return {"opening": opening, "steps": steps, "total": {}}


def seen(step: Any) -> JsonObject:
    """What the result of a step shows."""
    result, metadata = step.observation["result"], step.metadata
    [block] = result["content"]
    return {
        "text": block["text"],
        "structured": result["structured_content"],
        "isRefused": result["is_error"],
        "refused": metadata["refused"],
        "reward": step.reward,
        "terms": metadata["terms"],
        "done": step.done,
        "end": metadata["end"],
        "success": metadata.get("success"),
        "potential": metadata["potential"],
        "seq": metadata["seq"],
    }


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
