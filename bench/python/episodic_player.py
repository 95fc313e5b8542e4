"""Plays number-guessing with `episodic_env`, for `pnpm bench python`.

Its arguments are the URL and a token. Reads a line of JSON for each measurement, and answers with the steps that were
played.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from episodic_env import connect

url, token = sys.argv[1:]


def play(connection, until):
    steps = 0
    while time.perf_counter() < until:
        with connection.open("number-guessing", seed=steps) as episode:
            low, high = 1, 1_000_000_000
            while episode.end is None:
                value = (low + high) // 2
                step = episode.step("guess", {"value": value})
                hint = step.observation.structured["hint"]
                low, high = (value + 1, high) if hint == "higher" else (low, value - 1)
                steps += 1
    return steps


def measure(at_once, seconds):
    with connect(url, token) as connection, ThreadPoolExecutor(at_once) as pool:
        connection.environments()
        print(json.dumps("ready"), flush=True)
        until = time.perf_counter() + seconds
        played = sum(pool.map(lambda _: play(connection, until), range(at_once)))
        print(json.dumps(played), flush=True)


for line in sys.stdin:
    measure(**json.loads(line))
