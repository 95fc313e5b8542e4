"""Trains a language model from nothing to play a world: `python train.py number-guessing --seed 1`."""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import jax
import numpy as np
from checkpoint import Checkpoint, State
from command import served
from credit import METHODS, Method
from demonstrations import Messages, sealed_episodes, texts_of, turns_of
from grpo import Learner
from model import Parameters, Shape, count_of, hash_of, initial_parameters
from players import model_player, random_player
from rollouts import Batch, Player, play
from supervised import train_supervised
from turns import sequences_of
from vocabulary import Vocabulary
from worlds import WORLDS, World

from episodic_env import Connection

RANDOM_EPISODES = 16
"""Episodes of random calls, for the vocabulary."""


def main() -> None:
    """Trains as the arguments say, and prints and keeps lines of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("world", choices=WORLDS)
    parser.add_argument("--seed", type=int, default=1, help="everything that is drawn follows (default: 1)")
    parser.add_argument("--out", type=Path, default=Path("runs/language-model"), help="folder (default: %(default)s)")
    parser.add_argument("--smoke", action="store_true", help="a tiny model and two iterations: shows that it runs")
    parser.add_argument("--credit", choices=METHODS, default="turns", help="of calls (default: %(default)s)")
    parser.add_argument("--group-size", type=int, help="episodes of each task (default: that of the world)")
    options = parser.parse_args()
    world = WORLDS[options.world]
    if options.smoke:
        smoke = {"supervised_updates": 150, "iterations": 2, "tokens": 0, "groups": 4, "group_size": 8, "held_out": 32}
        world = replace(world, **smoke, shape=Shape(layers=1, width=64, heads=2))
    named = {"world": options.world, "credit": options.credit, "seed": options.seed}
    if options.group_size is not None:
        world, named = replace(world, group_size=options.group_size), {**named, "group_size": options.group_size}
    leaves = 2 ** len(METHODS[options.credit].forks)
    if world.group_size < 1 or world.group_size % leaves:
        parser.error(f"--group-size: {options.credit} has {leaves} leaves for each root: give a multiple.")
    folder = (options.out / "-".join(map(str, named.values()))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    # With one thread, sums do not depend on the number of cores.
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    # Compiling takes a large part of a short training, and gives the same programs again.
    jax.config.update("jax_compilation_cache_dir", str(options.out.resolve() / "compiled"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)
    checkpoint = Checkpoint(folder / "checkpoint.npz", repr((world, options.credit, options.seed)))
    known = checkpoint.read()
    with (folder / "lines.jsonl").open("ab") as lines:
        # What was written after the checkpoint is written again.
        lines.truncate(0 if known is None else known[1]["written"])

        def write(line: dict[str, Any]) -> None:
            text = json.dumps({**named, **line})
            lines.write(f"{text}\n".encode())
            lines.flush()
            print(text, flush=True)

        def keep(arrays: list[np.ndarray], others: dict[str, Any]) -> None:
            os.fsync(lines.fileno())
            checkpoint.write(arrays, {**others, "written": os.fstat(lines.fileno()).st_size})

        with served(world.module, folder) as connection:
            parameters = train(connection, world, METHODS[options.credit], options.seed, folder, write, known, keep)
            before = seconds_of_children()
        server = round(seconds_of_children() - before, 1)
        write({"kind": "end", "sha256": hash_of(parameters), "server_cpu_seconds": server, **cost()})
    checkpoint.remove()


def train(
    connection: Connection,
    world: World,
    method: Method,
    seed: int,
    folder: Path,
    write: Callable[[dict[str, Any]], None],
    known: State | None,
    keep: Callable[[list[np.ndarray], dict[str, Any]], None],
) -> Parameters:
    """Trains, and writes a line for each player that is evaluated, and for each iteration. Returns the parameters.

    Players are evaluated on the same held-out seeds, which are never trained on; models draw their calls there as in
    training, at temperature 1. After each iteration it keeps what it goes on from, if that is `known` at the start.
    """
    seeds = [f"held-out-{number}" for number in range(world.held_out)]
    key = jax.random.key(seed)
    messages: list[Messages] = []
    if known is None:
        vocabulary, messages = demonstrated(connection, world, seeds, seed, folder, write)
    else:
        vocabulary = Vocabulary(known[1]["pieces"])
    parameters = initial_parameters(key, world.shape, len(vocabulary.tokens))
    learner = Learner(parameters, world.shape, world.learning_rate, world.iterations, world.minibatches)
    iteration, sampled = 0, 0

    def evaluate(name: str, player: Player) -> None:
        figures = summary(play(connection, world, vocabulary, seeds, player))
        write({"kind": "evaluation", "player": name, "sampled_tokens": sampled, **figures})

    def model(number: int) -> Player:
        return model_player(learner.parameters, world.shape, jax.random.fold_in(key, number))

    if known is None:
        write({"kind": "start", "parameters": count_of(parameters), "vocabulary": len(vocabulary.tokens)})
        evaluate("random", random_player(world, vocabulary, seed))
        shown = [sequence for episode in messages for sequence in sequences_of(turns_of(episode, vocabulary, world))]
        learner.parameters, trained = train_supervised(parameters, world.shape, shown, world.supervised_updates, seed)
        write({"kind": "supervised", "episodes": len(messages), "trained_tokens": trained, **cost()})
        evaluate("supervised", model(0))
    else:
        arrays, others = known
        learner.restore(arrays, others["learner"])
        iteration, sampled = others["iteration"], others["sampled"]

    roots = world.group_size // 2 ** len(method.forks)
    while sampled < world.tokens if world.iterations is None else iteration < world.iterations:
        start = time.monotonic()
        iteration += 1
        tasks = [f"train-{seed}-{iteration}-{task}" for task in range(world.groups)]
        of_groups = [task for task in tasks for _ in range(roots)]
        batch = play(connection, world, vocabulary, of_groups, model(iteration), method.forks)
        figures = learner.update(method.credit(batch.rollouts))
        tenth = sampled * 10 // world.tokens if world.tokens else 0
        sampled += sum(len(turn.call) for rollout in batch.rollouts for turn in rollout.turns[rollout.shared :])
        tokens = {"sampled_tokens": sampled, "trained_tokens": learner.trained_tokens}
        took = {"iteration_seconds": round(time.monotonic() - start, 2)}
        learned = {**figures._asdict(), **tokens, **took, **cost()}
        write({"kind": "iteration", "iteration": iteration, **summary(batch), **learned})
        if world.tokens and sampled * 10 // world.tokens > tenth:
            evaluate("grpo", model(0))
        arrays, of_learner = learner.kept()
        keep(arrays, {"pieces": vocabulary.pieces, "learner": of_learner, "iteration": iteration, "sampled": sampled})
    if not world.tokens:
        evaluate("grpo", model(0))
    return learner.parameters


def demonstrated(
    connection: Connection,
    world: World,
    seeds: Sequence[str],
    seed: int,
    folder: Path,
    write: Callable[[dict[str, Any]], None],
) -> tuple[Vocabulary, list[Messages]]:
    """Returns the vocabulary, and the episodes to start from. The solver is evaluated on held-out seeds."""
    version = connection.environment(world.name).version
    solver = sealed_episodes(world, version, seeds, "solver", folder / "solver")
    write({"kind": "evaluation", "player": "solver", **returns_of([line["return"] for line in solver])})
    shown = [f"demonstration-{seed}-{number}" for number in range(world.demonstrations)]
    shown_lines = sealed_episodes(world, version, shown, world.demonstrator, folder / "demonstrations")
    # They add tokens for what the demonstrator never reads, such as refusals. Nothing else is learned from them.
    read = [f"vocabulary-{seed}-{number}" for number in range(RANDOM_EPISODES)]
    read_lines = sealed_episodes(world, version, read, "random", folder / "vocabulary")
    texts = (text for line in (*shown_lines, *read_lines) for text in texts_of(line["messages"]))
    return Vocabulary(texts), [line["messages"] for line in shown_lines]


def summary(batch: Batch) -> dict[str, Any]:
    """Returns the figures of some episodes. The failed ones are counted, and are in no mean."""
    rollouts = batch.rollouts
    played = [rollout for rollout in rollouts if rollout.total is not None]
    calls = sum(len(rollout.turns) for rollout in rollouts)
    return {
        **returns_of([rollout.total for rollout in played if rollout.total is not None]),
        "success_rate": sum(rollout.success for rollout in played) / len(played),
        "failed": len(rollouts) - len(played),
        "calls": calls,
        "invalid_rate": sum(rollout.invalid for rollout in rollouts) / calls,
        "refused_rate": sum(rollout.refused for rollout in rollouts) / calls,
        "environment_seconds": round(batch.environment_seconds, 2),
    }


def returns_of(returns: Sequence[float]) -> dict[str, float]:
    """Returns how many episodes there are, their mean return, and its standard error, as if they were independent."""
    return {"episodes": len(returns), "return": mean(returns), "standard_error": stdev(returns) / len(returns) ** 0.5}


def seconds_of_children() -> float:
    """Returns the seconds of processors that processes took which this one has started, and which have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cost() -> dict[str, float]:
    """Returns the seconds since the process began, and those of processors that it took, without the server's."""
    return {"seconds": round(time.monotonic() - STARTED, 1), "cpu_seconds": round(time.process_time(), 1)}


STARTED = time.monotonic()

if __name__ == "__main__":
    main()
