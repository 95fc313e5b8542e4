"""Episodes that go on from a step of a recorded one."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from serving import ROOT, Server, node

from episodic_env import AsyncEpisode, Connection, EpisodicError, connect, connect_async
from episodic_env.trl import environment

Line = dict[str, Any]


def play(home: Path, *arguments: str) -> list[Line]:
    """Runs a command of the harness, and returns the lines of the run in its `--out`."""
    command = [node(), str(ROOT / "apps/harness/src/cli.ts"), *arguments]
    env = {**os.environ, "EPISODIC_HOME": str(home)}
    subprocess.run(command, cwd=home, env=env, check=True, capture_output=True)
    return read(Path(arguments[-1]) / "episodes.jsonl")


def read(file: Path) -> list[Line]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of the frozen lake: one whole, continuations of it with new chance, and continuations of these."""
    home = tmp_path_factory.mktemp("recorded")
    lake = str(ROOT / "examples/frozen-lake")
    lines = play(home, "run", lake, "--policy", "random", "--tasks", "8", "--out", str(home / "whole"))
    longest = max(lines, key=lambda line: len(line["steps"]))["task"]["id"]
    on = ("--rollouts", "4", "--no-control", "--out")
    play(home, "continue", str(home / "whole"), "--task", longest, "--step", "2", "--seed", "7", *on, str(home / "on"))
    play(home, "continue", str(home / "on"), "--query", "counts:yes attempt:0", "--step", "2", *on, str(home / "again"))
    play(home, "run", lake, "--policy", "random", "--branch", "3@2", "--tasks", "2", "--out", str(home / "tree"))
    return home


def lines_of(run: Path) -> tuple[list[Line], list[Line]]:
    """Returns the lines of a run, and those that they go on from."""
    origins = run / "origins.jsonl"
    return read(run / "episodes.jsonl"), [kept["record"] for kept in read(origins)] if origins.exists() else []


def steps_after(line: Line, step: int) -> list[Line]:
    steps: list[Line] = line["steps"][step - line.get("origin", {"step": 0})["step"] :]
    return steps


@pytest.mark.parametrize("run", ["whole", "on", "again", "tree"])
def test_goes_on_from_every_step_as_the_episode_did(connection: Connection, recorded: Path, run: str) -> None:
    lines, origins = lines_of(recorded / run)
    for line in lines[:3]:
        first = line.get("origin", {"step": 0})["step"]
        # Before the branch point of a tree, a fork has the chance of its trunk.
        from_step = max([first, *(at + 1 for at in (line["branch"] or {"at": []})["at"])])
        for step in range(from_step, first + len(line["steps"])):
            with connection.continue_episode(line, step, origins=origins) as episode:
                assert (episode.total, sum(episode.summed.values())) == (0.0, 0.0)
                before = line["steps"][step - first - 1] if step > first else line["start"]
                assert episode.observation.text == before["observation"]["text"] == episode.opening.text
                total = 0.0
                for after in steps_after(line, step):
                    now = episode.step(after["action"]["tool"], after["action"]["arguments"])
                    assert (now.observation.text, now.state_hash) == (after["observation"]["text"], after["stateHash"])
                    total += sum(after["reward"]["terms"].values())
                assert episode.total == pytest.approx(total)


def test_a_step_of_the_episode_that_it_goes_on_from(connection: Connection, recorded: Path) -> None:
    [line, *_], origins = lines_of(recorded / "again")
    with connection.continue_episode(line, 1, origins=origins) as episode:
        [whole] = [origin for origin in origins if "origin" not in origin]
        assert episode.observation.text == whole["steps"][0]["observation"]["text"]
    with pytest.raises(EpisodicError, match="goes on from one with the seal") as missing:
        connection.continue_episode(line, 1)
    assert missing.value.code == "option-invalid"


def test_many_from_one_step(connection: Connection, recorded: Path) -> None:
    line = max(lines_of(recorded / "whole")[0], key=lambda line: len(line["steps"]))
    with connection.continue_episode(line, 1) as episode:
        after = steps_after(line, 1)[0]
        for fork in (episode, *episode.fork(3)):
            step = fork.step(after["action"]["tool"], after["action"]["arguments"])
            assert step.state_hash == after["stateHash"]
            fork.close()


def test_outside_events_come_again(connection: Connection) -> None:
    with connection.open("odd-tools", {"end": 20}, seed=3) as episode:
        begun = {"observation": {"text": episode.observation.text}}
        happened = episode.publish("bonus", {"by": 5})
        step = episode.step("count-up", {"by": 2})
        events = [{"id": "e", "type": "bonus", "data": {"by": 5}}]
    assert happened and "7 of 20" in step.observation.text
    played = {"action": {"tool": "count-up", "arguments": {"by": 2}}, "events": events, "stateHash": step.state_hash}
    line = {
        "environment": {"name": "odd-tools", "version": "2.0.0"},
        "params": {"end": 20},
        "seed": "3",
        "branch": None,
        "start": begun,
        "steps": [{**played, "observation": {"text": step.observation.text}}],
    }
    with connection.continue_episode(line, 1) as again:
        assert again.seq == 1 and again.observation.text == step.observation.text


def test_names_the_first_step_that_the_server_plays_otherwise(connection: Connection, recorded: Path) -> None:
    line = max(lines_of(recorded / "whole")[0], key=lambda line: len(line["steps"]))
    other = copy.deepcopy(line)
    other["steps"][1]["stateHash"] = "0" * 32
    with pytest.raises(EpisodicError, match="plays step 2 otherwise: stateHash was '000") as parted:
        connection.continue_episode(other, 2)
    assert (parted.value.code, parted.value.details) == ("replay-diverged", {"step": 2, "field": "stateHash"})
    with connection.continue_episode(other, 1):
        pass
    other["start"]["observation"]["text"] = "A sea."
    with pytest.raises(EpisodicError, match=r"plays the start otherwise: observation\.text was 'A sea\.'"):
        connection.continue_episode(other, 0)
    for step, message in ((99, "has .* steps, and 99"), (len(line["steps"]), "ended with step")):
        with pytest.raises(EpisodicError, match=message) as none:
            connection.continue_episode(line, step)
        assert none.value.code == "option-invalid"
    with pytest.raises(EpisodicError, match="no line of an environment with one seat"):
        connection.continue_episode({"seats": {}}, 0)


def test_with_asyncio(server: Server, recorded: Path) -> None:
    line = max(lines_of(recorded / "whole")[0], key=lambda line: len(line["steps"]))
    seeded, origins = lines_of(recorded / "on")

    async def play_on() -> list[AsyncEpisode]:
        async with connect_async(server.url, server.token) as connection:
            steps = range(len(line["steps"]))
            episodes = await asyncio.gather(*(connection.continue_episode(line, step) for step in steps))
            for step, episode in zip(steps, episodes, strict=True):
                for after in steps_after(line, step):
                    now = await episode.step(after["action"]["tool"], after["action"]["arguments"])
                    assert now.state_hash == after["stateHash"]
                await episode.close()
            with pytest.raises(EpisodicError, match=r"by Connection\.continue_episode"):
                await connection.continue_episode(seeded[0], 2, origins=origins)
            return episodes

    episodes = asyncio.run(play_on())
    assert all(episode.end is not None and episode.end.reason != "closed" for episode in episodes)


def test_rollouts_of_trl_go_on_from_a_line(server: Server, recorded: Path) -> None:
    line = max(lines_of(recorded / "whole")[0], key=lambda line: len(line["steps"]))
    instance: Any = environment("frozen-lake", url=server.url, token=server.token)()
    assert instance.reset(line=json.dumps(line), step=1) == line["steps"][0]["observation"]["text"]
    for after in steps_after(line, 1):
        getattr(instance, after["action"]["tool"])(**after["action"]["arguments"])
    assert instance.get_reward() == pytest.approx(line["returns"]["unshaped"] - line["steps"][0]["reward"]["total"])


def test_gives_up_the_session_of_an_episode_that_parts(server: Server, recorded: Path) -> None:
    line = copy.deepcopy(lines_of(recorded / "whole")[0][0])
    line["steps"][0]["observation"]["text"] = "You win."
    with connect(server.url, server.token) as connection, pytest.raises(EpisodicError, match="plays step 1 otherwise"):
        connection.continue_episode(line, 1)
