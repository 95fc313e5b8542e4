"""Plays rollouts that a trainer has added to `episodic gateway`: start as many as there are cores for their agents.

The agent is any program that asks a model: here it is the loop of `play`. It knows nothing of weights: while these
change, its call waits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError

from episodic_env import AsyncConnection, AsyncEpisode, EpisodicError, Rollout, Rollouts, connect_async

MOST_TURNS = 16
PARKS_AFTER = 8
"""Turns after which a rollout is parked, so that an old one does not keep a slot: it goes on under newer weights."""
PATIENCE = 3_600.0
"""Seconds for which a call is repeated while the gateway, or the engine behind it, is away."""
REFUSED = range(400, 500)


def ask(rollout: Rollout, episode: AsyncEpisode, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Asks the model as a client of OpenAI's chat completions does. What was answered before is not sampled again."""
    described = [
        {"name": tool.name, "description": tool.description, "parameters": dict(tool.input_schema)}
        for tool in episode.info.tools
    ]
    tools = [{"type": "function", "function": function} for function in described]
    body = json.dumps({"model": "policy", "messages": messages, "tools": tools}).encode()
    url = f"{rollout.url}/chat/completions"
    began, tries = time.monotonic(), 0
    while True:
        # The header of OpenAI's client for a request that is sent again.
        headers = {"Content-Type": "application/json", "x-stainless-retry-count": str(tries)}
        try:
            with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=PATIENCE) as answer:
                message: dict[str, Any] = json.load(answer)["choices"][0]["message"]
                return message
        except (OSError, HTTPException) as error:
            is_refused = isinstance(error, HTTPError) and error.code in REFUSED
            if is_refused or time.monotonic() - began > PATIENCE:
                raise
        tries += 1
        time.sleep(min(2.0, 0.1 * tries))


async def play(rollout: Rollout, worlds: AsyncConnection) -> None:
    """Plays a rollout from its start, or from where it was parked."""
    episode = await rollout.open(worlds)
    opening = [{"role": "user", "content": f"{rollout.task.get('prompt', '')} {episode.observation.text}"}]
    messages: list[dict[str, Any]] = (rollout.note or {}).get("messages", opening)
    done = (rollout.note or {}).get("turns", 0)
    for turn in range(done + 1, MOST_TURNS + 1):
        message = await asyncio.to_thread(ask, rollout, episode, messages)
        messages.append(message)
        calls = message.get("tool_calls") or []
        for call in calls:
            step = await episode.step(call["function"]["name"], json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": step.observation.text})
        if episode.end is not None:
            break
        if not calls:
            messages.append({"role": "user", "content": "Call a tool."})
        if turn == PARKS_AFTER:
            await rollout.park(episode, {"messages": messages, "turns": turn})
            await episode.close()
            return
    await episode.close()
    await rollout.finish(episode.total)


async def work(gateway: str, world: str, at_once: int, name: str) -> None:
    """Keeps so many rollouts in play until it is stopped."""
    rollouts = Rollouts(gateway)
    # Each call of a model waits in a thread.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(at_once))

    async def slot(worlds: AsyncConnection, number: int) -> None:
        while True:
            # A worker that is started again by the same name takes over what it had.
            rollout = await rollouts.lease(key=f"{name}.{number}")
            if rollout is None:
                await asyncio.sleep(0.2)
                continue
            try:
                async with rollout:
                    await play(rollout, worlds)
            except (EpisodicError, OSError, HTTPException) as error:
                print(f"{rollout.session_id}: {error}")

    async with connect_async(world) as worlds:
        await asyncio.gather(*(slot(worlds, number) for number in range(at_once)))


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--gateway", default="http://127.0.0.1:7338")
    options.add_argument("--world", default="http://127.0.0.1:7337/env")
    options.add_argument("--at-once", type=int, default=8)
    options.add_argument("--name", required=True, help="another one for each worker, and the same when it is restarted")
    chosen = options.parse_args()
    asyncio.run(work(chosen.gateway, chosen.world, chosen.at_once, chosen.name))
