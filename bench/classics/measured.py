"""Plays Gymnasium's environments and solves OpenSpiel's games, for `pnpm bench classics`.

Reads a line of JSON for each measurement, and answers with the seconds of CPU that it took.
"""

import json
import sys
import time

import gymnasium
import pyspiel
from open_spiel.python.algorithms import cfr

made = {}


def environment(name, options, bare):
    """An environment as `gymnasium.make` returns it, with its checks and its limit of steps, or without these."""
    key = (name, bare)
    if key not in made:
        env = gymnasium.make(name, **options)
        made[key] = env.unwrapped if bare else env
        made[key].reset(seed=0)
    return made[key]


def play(name, options, bare, actions, steps):
    env = environment(name, options, bare)
    began = time.process_time()
    env.reset()
    for at in range(steps):
        _, _, terminated, truncated, _ = env.step(actions[at % len(actions)])
        if terminated or truncated:
            env.reset()
    return time.process_time() - began


def solve(game, iterations):
    solver = cfr.CFRSolver(pyspiel.load_game(game))
    began = time.process_time()
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    return time.process_time() - began


for line in sys.stdin:
    asked = json.loads(line)
    kind = asked.pop("kind")
    seconds = play(**asked) if kind == "play" else solve(**asked)
    print(json.dumps(seconds), flush=True)
