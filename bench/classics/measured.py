"""Plays Gymnasium's environments and solves OpenSpiel's games, for `pnpm bench classics`.

Reads a line of JSON for each measurement, and answers with the seconds of CPU that it took.
"""

import hashlib
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


def kept_step(env, action, step):
    """What a step leaves behind that is hashed and logged: the state with its random numbers, and the answer."""
    observation, reward, terminated, truncated, _ = step
    inner = env.unwrapped
    state = [inner.s] if hasattr(inner, "s") else [float(number) for number in inner.state]
    random = inner.np_random.bit_generator.state["state"]
    kept = json.dumps({"state": state, "random": random})
    seen = observation if isinstance(observation, int) else observation.tolist()
    answer = {"action": action, "observation": seen, "reward": float(reward), "terminated": terminated, "truncated": truncated}
    return kept, json.dumps({**answer, "hash": hashlib.sha256(kept.encode()).hexdigest()})


def play(name, options, bare, keep, actions, steps):
    """Seconds of CPU for steps of whole episodes; with `keep`, each step's state is kept as text and hashed, and logged."""
    env = environment(name, options, bare)
    began = time.process_time()
    env.reset()
    state, log = "", []
    for at in range(steps):
        action = actions[at % len(actions)]
        step = env.step(action)
        if keep:
            state, entry = kept_step(env, action, step)
            log.append(entry)
        if step[2] or step[3]:
            env.reset()
            state, log = "", []
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
