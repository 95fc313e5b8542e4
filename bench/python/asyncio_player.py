"""Plays number-guessing with the asyncio form of `episodic_env`, for `pnpm bench python`.

Its arguments are the URL, a token, and `tasks`, for a task for each episode, or `together`, for one call for a step of
every episode. Reads a line of JSON for each measurement, and answers with the steps that were played.
"""

import asyncio
import json
import sys
import time

from episodic_env import connect_async

url, token, way = sys.argv[1:]
HIGHEST = 1_000_000_000


def after(step, value, low, high):
    """Returns the range that a hint leaves."""
    higher = step.observation.structured["hint"] == "higher"
    return (value + 1, high) if higher else (low, value - 1)


async def play(connection, until):
    steps = 0
    while time.perf_counter() < until:
        async with await connection.open("number-guessing", seed=steps) as episode:
            low, high = 1, HIGHEST
            while episode.end is None:
                value = (low + high) // 2
                step = await episode.step("guess", {"value": value})
                low, high = after(step, value, low, high)
                steps += 1
    return steps


async def play_together(connection, at_once, until):
    steps = 0
    while time.perf_counter() < until:
        opened = await asyncio.gather(*(connection.open("number-guessing", seed=steps + i) for i in range(at_once)))
        left = [(1, HIGHEST)] * at_once
        while playing := [i for i, episode in enumerate(opened) if episode.end is None]:
            values = [sum(left[i]) // 2 for i in playing]
            moves = [(opened[i], "guess", {"value": value}) for i, value in zip(playing, values, strict=True)]
            for i, value, step in zip(playing, values, await connection.step_all(moves), strict=True):
                left[i] = after(step, value, *left[i])
            steps += len(playing)
        await asyncio.gather(*(episode.close() for episode in opened))
    return steps


async def measure(at_once, seconds):
    async with connect_async(url, token) as connection:
        await connection.environments()
        print(json.dumps("ready"), flush=True)
        until = time.perf_counter() + seconds
        if way == "together":
            steps = await play_together(connection, at_once, until)
        else:
            steps = sum(await asyncio.gather(*(play(connection, until) for _ in range(at_once))))
        print(json.dumps(steps), flush=True)


for line in sys.stdin:
    asyncio.run(measure(**json.loads(line)))
