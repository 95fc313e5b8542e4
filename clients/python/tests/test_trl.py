"""The TRL adapter, used as `GRPOTrainer` uses an environment, without a model."""

from __future__ import annotations

import gc
import importlib.util
import inspect
import json
import logging
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest
from serving import ROOT, LossyProxy, Server

from episodic_env import EpisodicError, Task, connect
from episodic_env.trl import WorldEnvironment, dataset, environment, reward_columns, rows

NumberGuessing: type[WorldEnvironment]


def tools_of(instance: object) -> dict[str, Callable[..., Any]]:
    """Lists tools as TRL does: the public functions of the class."""
    members = inspect.getmembers(type(instance), predicate=inspect.isfunction)
    return {
        name: getattr(instance, name)
        for name, _ in members
        if not name.startswith("_") and name not in ("reset", "get_reward")
    }


def test_the_return_is_that_of_the_episode(server: Server) -> None:
    guessing = environment("number-guessing", url=server.url, token=server.token)
    assert guessing.__name__ == "NumberGuessing"
    instance = guessing()
    assert list(tools_of(instance)) == ["guess"]
    row = next(rows([Task("number-guessing", params={"high": 100}, seed="7", prompt="Find it.")]))
    opening = instance.reset(**row)  # type: ignore[arg-type]
    assert opening == "\n\nGuess a whole number from 1 to 100. 8 guesses left."
    guess = tools_of(instance)["guess"]
    for value in (50, 75, 62, 68):
        assert "guesses left" in guess(value=value)
    assert guess(value=65).endswith("The episode is over.")
    with connect(server.url, server.token) as connection, connection.open("number-guessing", seed="7") as episode:
        for value in (50, 75, 62, 68, 65):
            episode.step("guess", {"value": value})
        assert instance.get_reward() == episode.total == 0.95
    # TRL has no way to stop a rollout, and counts what is raised as a failure of the tool.
    assert guess(value=1) == "The episode is over. Call no more tools."
    assert instance.get_reward() == 0.95


def test_lost_answers_change_no_reward(server: Server, proxy: LossyProxy) -> None:
    def play(url: str) -> list[object]:
        instance: Any = environment("number-guessing", url=url, token=server.token)()
        seen: list[object] = []
        for row in rows([Task("number-guessing", {"high": 100}, seed=str(seed)) for seed in range(3)]):
            seen.append(instance.reset(**row))
            seen += [instance.guess(value=value) for value in range(1, 9)]
            seen.append(instance.get_reward())
        return seen

    expected = play(server.url)
    proxy.lose_every(3, 1)
    assert play(proxy.url) == expected
    proxy.lose_every(0, 1)
    assert proxy.lost > 5


def test_instances_are_reset_again_and_again(server: Server) -> None:
    guessing = environment("number-guessing", url=server.url, token=server.token)
    with connect(server.url, server.token) as operator:
        before = operator._call("environment/sessions", {}, True)["total"]
        instances = [guessing() for _ in range(4)]
        assert instances[0].get_reward() is None
        for _ in range(3):
            for instance in instances:
                instance.reset(seed="1")
                tools_of(instance)["guess"](1000)
                assert instance.get_reward() == -0.01
        assert operator._call("environment/sessions", {}, True)["total"] == before + 4
    with pytest.raises(Exception, match="frozen-lake"):
        instances[0].reset(environment="frozen-lake")


def test_sessions_are_closed_when_an_instance_is_gone_and_when_the_process_ends(server: Server) -> None:
    guessing = environment("number-guessing", url=server.url, token=server.token)
    with connect(server.url, server.token) as operator:

        def count() -> int:
            total: int = operator._call("environment/sessions", {}, True)["total"]
            return total

        before = count()
        instance = guessing()
        instance.reset()
        assert count() == before + 1
        del instance
        gc.collect()
        assert count() == before
        program = (
            "import sys\n"
            "from episodic_env.trl import environment\n"
            "made = environment('number-guessing', url=sys.argv[1], token=sys.argv[2])\n"
            "instances = [made() for _ in range(3)]\n"
            "[instance.reset() for instance in instances]\n"
            "print(made._connection._call('environment/sessions', {}, True)['total'])\n"
        )
        variables = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src")}
        command = [sys.executable, "-c", program, server.url, server.token]
        done = subprocess.run(command, env=variables, capture_output=True, text=True)
        assert (done.stdout.strip(), done.stderr) == (str(before + 3), "")
        assert count() == before


def play(instance: WorldEnvironment, *values: int) -> WorldEnvironment:
    instance.reset(seed="7", params={"high": 100})
    for value in values:
        tools_of(instance)["guess"](value=value)
    return instance


def test_an_episode_that_is_left_earns_what_the_user_says(server: Server) -> None:
    at = {"url": server.url, "token": server.token}
    plain = environment("number-guessing", **at)  # type: ignore[arg-type]
    strict = environment("number-guessing", unfinished=-0.5, **at)  # type: ignore[arg-type]
    assert (play(plain()).get_reward(), play(strict()).get_reward()) == (0, -0.5)
    assert (play(plain(), 1).get_reward(), play(strict(), 1).get_reward()) == (-0.01, -0.51)
    assert play(strict(), 65).get_reward() == play(plain(), 65).get_reward() == 0.99


def test_what_a_model_leaves_is_judged_for_its_reward(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    instance = environment("garden", url=server.url, token=server.token, unfinished=-0.5)()
    instance.reset()
    tools_of(instance)["sow"]()
    assert instance.get_reward() == instance.get_reward() == 0.5
    instance.reset()
    tools_of(instance)["salt"]()
    assert instance.get_reward() is None
    assert instance.failure is not None and instance.failure.code == "environment-failed"
    assert "garden" in caplog.text


def test_terms_are_weighed_and_are_columns(server: Server) -> None:
    at = {"url": server.url, "token": server.token}
    weighed = environment("number-guessing", weights={"solved": 10}, **at)  # type: ignore[arg-type]
    assert play(weighed(), 1, 65).get_reward() == pytest.approx(10 - 0.02)
    made = environment("number-guessing", weights={"solved": 10}, unfinished=-1, columns=True, **at)  # type: ignore[arg-type]
    # TRL looks for a method of that name.
    assert not callable(made.get_reward)
    lake = environment("frozen-lake", columns=True, **at)  # type: ignore[arg-type]
    functions = reward_columns(made, lake)
    names = [function.__name__ for function in functions]
    assert names == ["solved", "cost", "unfinished", *lake._connection.environment("frozen-lake").terms]
    played = [play(made(), 1, 65), play(made(), 1), made(), lake()]
    played[-1].reset(seed="7")
    table = {function.__name__: function(environments=played, prompts=[], completions=[]) for function in functions}
    assert table["solved"][:3] == [10, 0, None]
    assert table["unfinished"] == [0, -1, None, None]
    assert [table["cost"][0], table["cost"][1]] == pytest.approx([-0.02, -0.01])
    with pytest.raises(EpisodicError, match="columns=True"):
        reward_columns(weighed)
    with pytest.raises(EpisodicError, match="no reward term speed"):
        environment("number-guessing", weights={"speed": 1}, **at)  # type: ignore[arg-type]


def test_methods_are_functions_with_hints_and_docstrings(server: Server) -> None:
    odd = environment("odd-tools", url=server.url, token=server.token, name="Odd")
    tools = tools_of(odd())
    assert sorted(tools) == ["count_up", "note", "reset_"]
    assert str(inspect.signature(tools["count_up"])) == "(by: int, twice: Optional[bool] = False) -> str"
    assert "    by: How much to add." in (tools["count_up"].__doc__ or "")
    hints = get_type_hints(tools["note"])
    assert set(hints) == {"text", "class_", "numbers", "fields", "return"}
    instance = odd()
    assert instance.reset(params='{"end": 4}', limits='{"steps": 9}') == "The count is 0 of 4."
    tools = tools_of(instance)
    assert tools["count_up"](by=1, twice=True).startswith("Counted.")
    assert tools["note"]("text", class_="low", numbers=None).startswith("Noted.")
    assert tools["reset_"]().startswith("The count was set back.")
    assert "Invalid arguments" in tools["count_up"](by="x")
    assert "Invalid arguments" in tools["count_up"]()
    assert instance.get_reward() == pytest.approx(-0.5)
    assert instance.episode is not None and instance.episode.seq == 5


def test_a_failed_episode_has_no_reward(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    instance = environment("number-guessing", url=server.url, token=server.token)()
    instance.reset()
    assert instance.episode is not None
    instance._connection._call("environment/close", {"session": instance.episode._session}, True)
    with caplog.at_level(logging.ERROR), pytest.raises(RuntimeError, match="failed"):
        tools_of(instance)["guess"](value=1)
    assert "session-not-found" in str(instance.failure and instance.failure.code)
    assert len(caplog.records) == 1
    assert instance.get_reward() is None
    instance.reset()
    assert instance.get_reward() == 0


def test_the_class_can_be_sent_to_another_process(server: Server) -> None:
    global NumberGuessing
    NumberGuessing = environment("number-guessing", url=server.url, token=server.token)
    assert NumberGuessing.__module__ == __name__
    if __name__ in __import__("sys").modules:
        assert pickle.loads(pickle.dumps(NumberGuessing)) is NumberGuessing


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="needs transformers")
def test_transformers_makes_the_schema_of_the_world_again(server: Server) -> None:
    from transformers.utils import get_json_schema

    for world in ("number-guessing", "frozen-lake", "warehouse", "flight-booking", "odd-tools"):
        for tool in tools_of(environment(world, url=server.url, token=server.token)()).values():
            assert get_json_schema(tool)["function"]["name"] == tool.__name__
    lake = environment("frozen-lake", url=server.url, token=server.token)()
    schema = get_json_schema(tools_of(lake)["move"])["function"]
    direction = schema["parameters"]["properties"]["direction"]
    assert (direction["type"], direction["enum"]) == ("string", ["left", "down", "right", "up"])
    assert direction["description"] == "Where you want to go, as seen on the map."
    assert schema["parameters"]["required"] == ["direction"]


@pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="needs datasets")
def test_a_dataset_of_prompts(server: Server) -> None:
    tasks = [
        Task("number-guessing", params={"high": 9}, seed="a", prompt="Find it.", limits={"steps": 5}, id="1"),
        Task("frozen-lake", params={"map": "8x8", "slippery": False}, seed="b", prompt="Cross.", id="2"),
    ]
    made = dataset(tasks)
    assert made[0]["prompt"] == [{"role": "user", "content": "Find it."}]
    assert json.loads(made[1]["params"]) == {"map": "8x8", "slippery": False}
    assert made.column_names == ["prompt", "environment", "params", "seed", "limits", "task"]
    instance = environment("frozen-lake", url=server.url, token=server.token)()
    assert "firm ice" in instance.reset(**made[1])
