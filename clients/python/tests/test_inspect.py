"""The Inspect adapter, with a model that halves."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from serving import LONG, LossyProxy, Server

from episodic_env import Task, connect

pytest.importorskip("inspect_ai", reason="needs inspect-ai")

import anyio
import anyio.to_thread
import inspect_ai
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from episodic_env.inspect import task

# Inspect and MCP warn about each other.
pytestmark = pytest.mark.filterwarnings("default")

TASKS = [
    Task("number-guessing", params={"high": 100}, seed=str(seed), prompt="Find the number.", id=f"task-{seed}")
    for seed in range(3)
]


def halve(messages: list[Any], *_: Any) -> ModelOutput:
    """Guesses the middle of what the conversation leaves, until it is over."""
    low, high = 1, 100
    for value, hint in re.findall(r"is (higher|lower) than (\d+)", "\n".join(m.text for m in messages)):
        low, high = (max(low, int(hint) + 1), high) if value == "higher" else (low, min(high, int(hint) - 1))
    over = "correct" in messages[-1].text
    output = (
        ModelOutput.from_content("halving", "Found.")
        if over
        else ModelOutput.for_tool_call("halving", "guess", {"value": (low + high) // 2})
    )
    # Without a usage, the mock fetches a tokenizer to count.
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def evaluate(
    server: Server, folder: Path, tasks: list[Task] = TASKS, url: str | None = None, **options: Any
) -> EvalLog:
    model = get_model("mockllm/model", custom_outputs=halve)
    made = task(tasks, url=url or server.url, token=server.token, **options)
    [log] = inspect_ai.eval(made, model=model, display="none", log_dir=str(folder), log_format="json")
    return log


def test_scores_are_those_of_the_trainer_endpoint(server: Server, tmp_path: Path) -> None:
    log = evaluate(server, tmp_path, epochs=2)
    assert log.status == "success", log.error
    assert log.samples is not None and len(log.samples) == 6
    for sample in log.samples:
        assert sample.scores is not None
        score = sample.scores["episode"]
        assert isinstance(score.value, dict) and score.metadata is not None
        assert score.metadata["end"] == {"kind": "terminated", "reason": "solved"}
        assert score.value["return"] == pytest.approx(1 - 0.01 * int(score.value["steps"]))
        assert score.metadata["terms"]["solved"] == 1
    read = read_eval_log(log.location)
    assert read.results is not None
    assert {score.name for score in read.results.scores} == {"return", "steps"}
    text = Path(log.location).read_text()
    assert "cap_" not in text and "ctl_" not in text and server.token not in text
    assert "8 guesses left" in text


def test_the_model_sees_no_reward(server: Server, tmp_path: Path) -> None:
    log = evaluate(server, tmp_path, TASKS[:1])
    assert log.samples is not None
    messages = json.dumps([message.model_dump() for message in log.samples[0].messages])
    for hidden in ("solved", "reward", "cost", "-0.01"):
        assert hidden not in messages


def test_a_limit_of_inspect_truncates(server: Server, tmp_path: Path) -> None:
    log = evaluate(server, tmp_path, TASKS[:1], message_limit=4)
    assert log.samples is not None and log.samples[0].scores is not None
    score = log.samples[0].scores["episode"]
    assert score.metadata is not None
    assert score.metadata["end"] == {"kind": "truncated", "reason": "closed"}


def test_a_failed_episode_is_an_error_and_no_score(server: Server, tmp_path: Path) -> None:
    log = evaluate(server, tmp_path, [Task("number-guessing", params={"low": 9, "high": 1}, prompt="?")])
    assert log.status == "error"
    assert log.results is None or not log.results.scores


def test_sessions_are_closed(server: Server, tmp_path: Path) -> None:
    with connect(server.url, server.token) as operator:
        before = operator._call("environment/sessions", {}, True)["total"]
        evaluate(server, tmp_path)
        assert operator._call("environment/sessions", {}, True)["total"] == before


def scores(log: EvalLog) -> dict[str | int, Any]:
    assert log.samples is not None
    return {sample.id: sample.scores["episode"].value for sample in log.samples if sample.scores}


def test_lost_answers_change_no_score(server: Server, proxy: LossyProxy, tmp_path: Path) -> None:
    expected = scores(evaluate(server, tmp_path))
    proxy.lose_every(3, seed=1)
    log = evaluate(server, tmp_path, url=proxy.url)
    assert log.status == "success", log.error
    assert scores(log) == expected and len(expected) == len(TASKS)
    assert proxy.lost > 5


def test_a_killed_server_changes_no_score(durable: Server, tmp_path: Path) -> None:
    expected = scores(evaluate(durable, tmp_path))
    proxy = LossyProxy(durable.port)
    for answers in (6, 14):
        proxy.after(answers, durable.restart)
    log = evaluate(durable, tmp_path, url=proxy.url, wait=LONG)
    proxy.close()
    assert log.status == "success", log.error
    assert scores(log) == expected


def test_a_lost_session_is_an_error_and_no_score(forgetful: Server, tmp_path: Path) -> None:
    @solver
    def interrupted() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            await anyio.to_thread.run_sync(forgetful.restart)
            return await generate(state)

        return solve

    log = evaluate(forgetful, tmp_path, TASKS[:1], solver=interrupted(), wait=LONG)
    assert log.status == "error" and log.error is not None
    assert "no such session" in log.error.message
    assert not scores(log)


def test_a_limit_that_runs_out_while_the_server_does_not_answer_is_an_error(
    server: Server, proxy: LossyProxy, tmp_path: Path
) -> None:
    @solver
    def interrupted() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            [guess] = state.tools
            proxy.lose(1_000_000)
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: guess(value=1))
                await anyio.to_thread.run_sync(proxy.wait_for_a_loss)
                group.cancel_scope.cancel()
                proxy.lose(0)
            return state

        return solve

    log = evaluate(server, tmp_path, TASKS[:1], url=proxy.url, solver=interrupted(), wait=LONG)
    assert log.status == "error" and log.error is not None
    assert "limit of the sample ran out" in log.error.message
    assert not scores(log)


def test_words_are_a_move_that_a_message_of_the_user_answers(server: Server, tmp_path: Path) -> None:
    def help_out(messages: list[Any], *_: Any) -> ModelOutput:
        asked = messages[-1].role == "user" and "42" in messages[-1].text
        words = ModelOutput.from_content("helping", "It is known." if messages[-1].role == "tool" else "Which number?")
        output = ModelOutput.for_tool_call("helping", "look_up", {"number": 42}) if asked else words
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    made = task([Task("desk", seed="7", prompt="Help.")], url=server.url, token=server.token)
    model = get_model("mockllm/model", custom_outputs=help_out)
    [log] = inspect_ai.eval(made, model=model, display="none", log_dir=str(tmp_path), log_format="json")
    assert log.status == "success", log.error
    assert log.samples is not None and log.samples[0].scores is not None
    said = [(message.role, message.text) for message in log.samples[0].messages]
    assert said == [
        ("user", "Help.\n\nMy phone is dead."),
        ("assistant", "Which number?"),
        ("user", "It is 42."),
        ("assistant", said[3][1]),
        ("tool", "42 is known."),
        ("assistant", "It is known."),
    ]
    assert log.samples[0].scores["episode"].value == {"return": 2, "steps": 3}
