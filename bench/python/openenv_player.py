"""Plays number-guessing with OpenEnv's client, for `pnpm bench python`.

Its arguments are the base URL and a token. Reads a line of JSON for each measurement, and answers with the steps that
were played.
"""

import asyncio
import json
import sys
import time

from openenv.core import GenericEnvClient

url, token = sys.argv[1:]


async def play(client, until):
    steps = 0
    while time.perf_counter() < until:
        await client.reset(seed=steps)
        low, high, hint = 1, 1_000_000_000, ""
        while hint != "correct":
            value = (low + high) // 2
            action = {"type": "call_tool", "tool_name": "guess", "arguments": {"value": value}}
            result = await client.step(action)
            hint = result.observation["result"]["data"]["hint"]
            low, high = (value + 1, high) if hint == "higher" else (low, value - 1)
            steps += 1
    return steps


async def measure(at_once, seconds):
    clients = [GenericEnvClient(base_url=url, headers={"Authorization": f"Bearer {token}"}) for _ in range(at_once)]
    for client in clients:
        await client.connect()
    print(json.dumps("ready"), flush=True)
    until = time.perf_counter() + seconds
    steps = sum(await asyncio.gather(*(play(client, until) for client in clients)))
    print(json.dumps(steps), flush=True)
    for client in clients:
        await client.close()


for line in sys.stdin:
    asyncio.run(measure(**json.loads(line)))
