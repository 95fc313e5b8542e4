"""Sealed episodes of the solver or of chance, played by `episodic run` and written by `episodic export`."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from calls import call_text
from command import episodic
from conversation import Conversation
from turns import Turn
from vocabulary import Vocabulary
from worlds import World

Messages: TypeAlias = list[dict[str, Any]]


def sealed_episodes(
    world: World, version: str, seeds: Iterable[str], policy: str, folder: Path
) -> list[dict[str, Any]]:
    """Plays an episode with a policy for each seed, and returns the lines of `episodic export --format trl-sft`.

    Args:
        world: What is played.
        version: The version of the environment.
        seeds: Of the episodes.
        policy: `solver` or `random`, as `episodic run` knows them.
        folder: Where the dataset, the run and the export are kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [_task(world, version, seed) for seed in seeds]
    (folder / "tasks.jsonl").write_text("".join(f"{json.dumps(task)}\n" for task in tasks), encoding="utf-8")
    run, export = folder / "run", folder / "episodes.jsonl"
    shutil.rmtree(run, ignore_errors=True)
    episodic("run", world.module, "--dataset", str(folder / "tasks.jsonl"), "--policy", policy, "--out", str(run))
    episodic("export", str(run), "--format", "trl-sft", "--out", str(export))
    # Not `splitlines`: a text may have separators of lines that are no ends of lines.
    with export.open(encoding="utf-8") as lines:
        by_task = {line["task"]: line for line in map(json.loads, lines)}
    # An export has episodes in the order in which they ended.
    return [by_task[task["id"]] for task in tasks if task["id"] in by_task]


def texts_of(messages: Messages) -> Iterator[str]:
    """Returns what was observed and said, in turn."""
    for message in messages:
        if message["role"] != "assistant":
            yield message["content"]
        else:
            [call] = message["tool_calls"]
            yield call_text(call["function"]["name"], call["function"]["arguments"])


def turns_of(messages: Messages, vocabulary: Vocabulary, world: World) -> list[Turn]:
    """Returns the turns of an episode as the model would have seen them."""
    conversation = Conversation(vocabulary, remembers=world.remembers, longest=world.longest_observation)
    texts = list(texts_of(messages))
    turns = []
    # The observation after the last call is not followed by another one.
    for observed, said in zip(texts[::2], texts[1::2], strict=False):
        context = conversation.observe(observed)
        call = conversation.call_tokens(said)
        conversation.answer(call)
        turns.append(Turn(context, tuple(call), (0.0,) * len(call)))
    return turns


def _task(world: World, version: str, seed: str) -> dict[str, Any]:
    """Returns a row of a dataset, whose id is the hash of what is played."""
    played = {
        "environment": {"name": world.name, "version": version},
        "params": dict(world.params),
        "seed": seed,
        "limits": dict(world.limits),
        "tools": sorted({json.loads(call)["tool"] for call in world.calls}),
        "prompt": world.prompt,
    }
    canonical = json.dumps(played, sort_keys=True, separators=(",", ":"))
    described = {"hints": [], "difficulty": 0, "split": "train", "tags": [], "metadata": {}}
    return {"id": hashlib.sha256(canonical.encode()).hexdigest()[:32], **played, **described}
