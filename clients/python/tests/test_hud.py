"""The adapter of HUD, with its own runtimes and agents. Runs in the environment of `pnpm interop python hud`."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hud")

from hud.agents.base import Agent
from hud.agents.openai_compatible import OpenAIChatAgent
from hud.agents.types import OpenAIChatConfig
from hud.eval import Run, Taskset
from hud.eval.runtime import LocalRuntime, Runtime
from serving import LONG, ROOT, LossyProxy, Server

from episodic_env import Task
from episodic_env.hud import environment, rows

SERVED = """
import os
from episodic_env.hud import environment

env = environment("number-guessing", url=os.environ["URL"], wait=float(os.environ["WAIT"]))
"""


class Player(Agent):
    """Calls `guess` with each number that it is given, or that halves what is left."""

    def __init__(self, numbers: list[int] | None = None, between: Callable[[], object] = int) -> None:
        super().__init__()
        self.numbers, self.between = numbers, between
        self.shown: list[tuple[str, bool]] = []

    async def __call__(self, run: Run) -> None:
        world: Any = await run.client.open("mcp")
        assert [tool.name for tool in await world.list_tools()] == ["guess"]
        low, high, text = 1, 100, ""
        numbers = iter(self.numbers) if self.numbers is not None else None
        while "found" not in text:
            value = (low + high) // 2 if numbers is None else next(numbers, None)
            if value is None:
                break
            answer = await world.call_tool("guess", {"value": value})
            text = answer.content[0].text
            self.shown.append((text, answer.isError))
            low, high = (value + 1, high) if "higher" in text else (low, value - 1)
            self.between()
        run.trace.content = "Done."


def tasks(count: int) -> Any:
    each = [Task("number-guessing", {"high": 100}, seed=str(seed), prompt="Find it.") for seed in range(count)]
    return Taskset("guessing", rows(each))


def played(given: Any, agent: Agent, runtime: Any) -> Any:
    return asyncio.run(given.run(agent, runtime=runtime))


def local(server: Server) -> LocalRuntime:
    return LocalRuntime(environment("number-guessing", url=server.url, token=server.token))


def one(agent: Agent, server: Server) -> Any:
    made = environment("number-guessing", url=server.url, token=server.token)
    [run] = asyncio.run(made.templates["number-guessing"](seed=7).run(agent)).runs
    return run


def test_plays_as_the_client_does(server: Server) -> None:
    run = one(Player(), server)
    assert run.prompt_text == "Guess a whole number from 1 to 100. 8 guesses left."
    assert (run.reward, run.trace.status) == (pytest.approx(0.95), "completed")
    assert run.grade.info == {
        "return": run.reward,
        "terms": {"solved": 1.0, "cost": pytest.approx(-0.05)},
        "steps": 5,
        "success": None,
        "end": "solved",
        "seed": "7",
    }


def test_an_agent_of_hud_plays_by_the_calls_of_its_model(server: Server, model: str) -> None:
    agent = OpenAIChatAgent(OpenAIChatConfig(model="halving", base_url=model, api_key="none"))
    job = played(tasks(3), agent, local(server))
    for seed, run in enumerate(job.runs):
        account = run.grade.info
        assert (account["end"], account["seed"], run.trace.status) == ("solved", str(seed), "completed")
        assert run.prompt_text.startswith("Find it.\n\nGuess a whole number")
        assert run.reward == pytest.approx(1 - account["steps"] / 100)


def test_what_is_refused_is_a_step_and_what_follows_the_end_is_none(server: Server) -> None:
    agent = Player([101, *range(1, 9), 50])
    run = one(agent, server)
    refused, is_error = agent.shown[0]
    assert (refused.split("\n")[0], is_error) == (
        "101 is out of range: the number is from 1 to 100. This used no guess.",
        True,
    )
    assert agent.shown[-2][0].endswith("\nThe episode is over.")
    assert agent.shown[-1] == ("The episode is over. Call no more tools.", True)
    assert (run.grade.info["steps"], run.grade.info["end"]) == (9, "out-of-guesses")
    assert run.reward == pytest.approx(-0.09)


def test_an_episode_that_the_agent_leaves_has_what_it_earned(server: Server) -> None:
    run = one(Player([1, 2]), server)
    assert (run.reward, run.grade.info["end"], run.grade.is_error) == (pytest.approx(-0.02), "closed", False)


def test_sessions_of_one_server_lose_answers_and_no_reward(server: Server, proxy: LossyProxy, tmp_path: Path) -> None:
    proxy.lose_every(5, 1)
    (tmp_path / "env.py").write_text(SERVED)
    variables = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "clients/python/src"),
        "EPISODIC_CONTROL_TOKEN": server.token,
        "URL": proxy.url,
        "WAIT": str(LONG),
    }
    command = [sys.executable, "-m", "hud.environment.server", str(tmp_path / "env.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables) as serving:
        try:
            assert serving.stdout is not None
            port = serving.stdout.readline().strip().removeprefix("HUD_SERVE_PORT=")
            job = played(tasks(8), Player(), Runtime(f"tcp://127.0.0.1:{port}"))
        finally:
            serving.terminate()
    assert proxy.lost > 3
    quiet = played(tasks(8), Player(), local(server))
    assert [run.grade.info for run in job.runs] == [run.grade.info for run in quiet.runs]
    assert [run.reward for run in job.runs] == [run.reward for run in quiet.runs]


def test_a_lost_session_is_an_error_and_no_score(forgetful: Server) -> None:
    happens = iter([forgetful.restart])
    agent = Player([1, 2, 3], lambda: next(happens, int)())
    run = one(agent, forgetful)
    assert [text for text, _ in agent.shown[1:]] == ["The environment failed. Call no more tools."] * 2
    assert (run.grade.is_error, run.trace.status) == (True, "error")
    assert "session" in run.trace.error


def test_an_unknown_world_is_an_error_of_its_run(server: Server) -> None:
    made = environment("chess", url=server.url, token=server.token)
    job = asyncio.run(made.templates["chess"]().run(Player()))
    assert job.errors == job.runs
    assert "chess" in job.runs[0].trace.error
