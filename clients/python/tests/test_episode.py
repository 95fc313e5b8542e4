"""Episodes over HTTP and over a WebSocket."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from serving import ROOT, Server

from episodic_env import Connection, EpisodicError, Task, connect, read_tasks

GUESSES = (50, 75, 62, 68, 65)


def play(connection: Connection, seed: str) -> list[object]:
    with connection.open("number-guessing", seed=seed) as episode:
        low, high = 1, 100
        seen: list[object] = [episode.observation.text]
        while episode.end is None:
            step = episode.step("guess", {"value": (low + high) // 2})
            assert step.observation.structured is not None
            if step.observation.structured["hint"] == "higher":
                low = step.observation.structured["value"] + 1
            else:
                high = step.observation.structured["value"] - 1
            seen.append((step.observation.text, dict(step.terms), step.reward, step.end, step.state_hash))
        return [*seen, episode.total]


def test_lists_what_the_server_can_open(connection: Connection) -> None:
    info = connection.environment("number-guessing")
    assert info.terms == ("solved", "cost")
    assert info.tools[0].name == "guess"
    assert info.potential and info.forkable and not info.success
    with pytest.raises(EpisodicError, match="number-guessing") as unknown:
        connection.environment("chess")
    assert unknown.value.code == "unknown-environment"


@pytest.mark.parametrize("given", [5, "50", [50], (("value", 50),)])
def test_takes_arguments_by_name_alone_and_plays_nothing_else(connection: Connection, given: object) -> None:
    with connection.open("number-guessing") as episode:
        with pytest.raises(TypeError, match="arguments of guess are given by name, as a dictionary, and not as"):
            episode.step("guess", given)  # type: ignore[arg-type]
        assert episode.step("guess", {"value": 50}).seq == 1


def test_plays_an_episode_with_rewards_as_named_terms(connection: Connection) -> None:
    with connection.open("number-guessing", {"high": 100}, seed=7, limits={"steps": 50}) as episode:
        assert episode.observation.text == "Guess a whole number from 1 to 100. 8 guesses left."
        assert episode.params == {"low": 1, "high": 100, "maxGuesses": 8}
        assert (episode.seed, episode.limits["steps"], episode.potential) == ("7", 50, 0)
        for value in GUESSES:
            step = episode.step("guess", {"value": value})
        assert step.terms == {"solved": 1.0, "cost": -0.01}
        assert step.reward == 0.99
        assert (step.terminated, step.truncated, step.seq) == (True, False, 5)
        assert episode.end is not None and episode.end.reason == "solved"
        assert episode.total == pytest.approx(0.95)
        with pytest.raises(EpisodicError, match="solved") as over:
            episode.step("guess", {"value": 1})
        assert over.value.code == "not-playing"


def test_the_same_seed_gives_the_same_episode(server: Server) -> None:
    with connect(server.url, server.token) as first, connect(server.websocket_url, server.token) as second:
        assert play(first, "same") == play(second, "same")
        assert play(first, "same") != play(first, "other")


def test_without_a_seed_the_server_draws_one(connection: Connection) -> None:
    with connection.open("number-guessing") as first, connection.open("number-guessing") as second:
        assert first.seed != second.seed
        assert play(connection, first.seed)[0] == first.observation.text


@pytest.mark.parametrize("seed", [3.5, 3.0, True, b"3"])
def test_a_seed_that_is_no_text_or_whole_number(connection: Connection, seed: object) -> None:
    with pytest.raises(EpisodicError, match="has to be a text or a whole number") as refused:
        connection.open("number-guessing", seed=seed)  # type: ignore[arg-type]
    assert refused.value.code == "option-invalid"


def test_a_server_that_is_not_there_names_the_wait() -> None:
    lasting = pytest.raises(EpisodicError, match=r"It was tried for 0\.1 s: wait=<seconds> says for how long")
    with connect("http://127.0.0.1:1/env", wait=0.1) as nowhere, lasting as lost:
        nowhere.environments()
    assert lost.value.code == "connection-failed"


def test_a_refused_step_counts_with_its_reward(connection: Connection) -> None:
    with connection.open("number-guessing") as episode:
        steps: list[tuple[str, dict[str, object] | None, str]] = [
            ("guess", {"value": 1000}, "rules"),
            ("guess", {"value": "x"}, "arguments"),
            ("jump", {}, "tool"),
            ("jümp", None, "tool"),
            ("guess", {"value": "\ud83d"}, "arguments"),
            ("jump\udc00", {}, "tool"),
        ]
        for tool, arguments, refused in steps:
            step = episode.step(tool, arguments)
            assert (step.refused, step.reward, step.end) == (refused, -0.01, None)
        assert episode.seq == 6


def test_a_limit_truncates(connection: Connection) -> None:
    with connection.open("number-guessing", limits={"steps": 1}) as episode:
        step = episode.step("guess", {"value": 0})
        assert (step.terminated, step.truncated) == (False, True)
        assert step.end is not None and step.end.reason == "step-limit"


def test_success_comes_with_the_end(connection: Connection) -> None:
    with connection.open("odd-tools", {"end": 2}) as episode:
        assert episode.step("count-up", {"by": 1}).success is None
        assert episode.step("count-up", {"by": 1}).success is True


def test_verdicts_come_with_the_end_and_at_a_close(connection: Connection) -> None:
    with connection.open("odd-tools", {"end": 2}) as episode:
        assert (episode.step("count-up", {"by": 1}).verdicts, episode.verdicts) == ({}, {})
        assert episode.step("count-up", {"by": 1}).verdicts == {"even": True} == episode.verdicts
    with connection.open("odd-tools", {"end": 2}) as left:
        left.step("count-up", {"by": 1})
    assert (left.success, left.verdicts) == (False, {"even": False})


def test_close_ends_the_episode_once(connection: Connection) -> None:
    episode = connection.open("number-guessing")
    closed = episode.close()
    assert closed is not None and (closed.kind, closed.reason) == ("truncated", "closed")
    assert episode.close() == closed
    with pytest.raises(EpisodicError) as over:
        episode.step("guess", {"value": 1})
    assert over.value.code == "not-playing"


def test_what_a_player_leaves_is_judged_once_it_is_closed(connection: Connection) -> None:
    assert connection.environment("garden").judges_left
    assert not connection.environment("number-guessing").judges_left
    with connection.open("garden") as episode:
        episode.step("sow")
        episode.step("sow")
    assert (episode.total, dict(episode.summed), episode.success) == (2.0, {"score": 2.0}, True)
    assert episode.left is not None and episode.left.reward == 2.0
    assert episode.end is not None and episode.end.reason == "closed"
    assert episode.close() == episode.end
    assert episode.total == 2.0
    with connection.open("garden") as unplayed:
        pass
    assert (unplayed.total, unplayed.left, unplayed.success) == (0.0, None, False)


def test_an_episode_that_an_error_leaves_is_given_up(connection: Connection) -> None:
    with pytest.raises(ZeroDivisionError), connection.open("garden") as episode:
        episode.step("sow")
        _ = 1 / 0
    assert (episode.total, episode.left) == (0.0, None)


def test_what_could_not_be_judged_has_failed_and_is_no_zero(connection: Connection) -> None:
    episode = connection.open("garden")
    episode.step("salt")
    with pytest.raises(EpisodicError, match="Nothing grows") as failed:
        episode.close()
    assert failed.value.code == "environment-failed"
    closed = connection.open("garden")
    closed.step("sow")
    connection._call("environment/close", {"session": closed._session}, True)
    with pytest.raises(EpisodicError) as gone:
        closed.close()
    assert gone.value.code == "session-not-found"


def test_a_task_is_played_with_its_own_parameters_and_seed(connection: Connection) -> None:
    task = Task("number-guessing", params={"low": 5, "high": 9}, seed="s", limits={"steps": 3}, version="1.1.0")
    with connection.open(task, {"high": 6}) as episode:
        assert (episode.params["low"], episode.params["high"], episode.seed) == (5, 6, "s")
    with pytest.raises(EpisodicError) as refused:
        connection.open(task, version="0.9.0")
    assert refused.value.code == "unknown-environment"


def test_parameters_that_the_environment_refuses(connection: Connection) -> None:
    with pytest.raises(EpisodicError, match="low") as refused:
        connection.open("number-guessing", {"low": "x"})
    assert refused.value.code == "invalid-params"
    with pytest.raises(EpisodicError) as unsendable:
        connection.open("number-guessing", {"low": float("nan")})
    assert unsendable.value.code == "option-invalid"


def test_threads_share_a_connection(connection: Connection) -> None:
    expected = [play(connection, str(seed)) for seed in range(16)]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda seed: play(connection, str(seed)), range(16))) == expected


def test_reads_what_an_agent_played_at_its_session_url(connection: Connection) -> None:
    with connection.open("number-guessing", seed="7") as episode:
        for value in GUESSES:
            _call_as_agent(episode.session_url, "guess", {"value": value})
        played = episode.played()
        assert [step.arguments["value"] for step in played.steps] == list(GUESSES)
        assert played.end is not None and played.end.reason == "solved"
        assert sum(step.step.reward for step in played.steps) == pytest.approx(0.95)


def test_forks_snapshots_and_state(connection: Connection) -> None:
    with connection.open("number-guessing", seed="7") as episode:
        episode.step("guess", {"value": 50})
        assert episode.state()["private"] == {"target": 65}
        snapshot = episode.snapshot()
        [fork] = episode.fork()
        [start] = episode.fork(at=0)
        with fork, start, connection.restore(snapshot) as restored:
            step = episode.step("guess", {"value": 65})
            assert fork.step("guess", {"value": 65}).state_hash == step.state_hash
            assert restored.step("guess", {"value": 65}).terms == step.terms
            assert start.seq == 0


def test_legal_actions_and_outside_events(connection: Connection) -> None:
    with connection.open("odd-tools") as episode:
        assert set(episode.legal()) == {"count-up", "note"}
        episode.publish("bonus", {"by": 5}, id="once")
        episode.publish("bonus", {"by": 5}, id="once")
        step = episode.step("count-up", {"by": 1})
        assert step.observation.structured == {"count": 6, "end": 10}
        assert len(step.report["events"]) == 1
        assert set(episode.legal()) == {"count-up", "note", "reset"}


def test_reads_the_tasks_of_a_dataset(tmp_path: Path, connection: Connection) -> None:
    file = tmp_path / "tasks.jsonl"
    command = [str(ROOT / "node_modules/.bin/node"), str(ROOT / "apps/harness/src/cli.ts"), "dataset", "generate"]
    subprocess.run(
        [*command, "number-guessing", "--count", "3", "--out", file], cwd=ROOT, check=True, capture_output=True
    )
    tasks = list(read_tasks(file))
    assert len({task.id for task in tasks}) == 3
    for task in tasks:
        with connection.open(task) as episode:
            assert (episode.seed, episode.limits["steps"]) == (task.seed, task.limits["steps"])
            assert str(episode.params["high"]) in task.prompt
    file.write_text('{"prompt": "?"}\n')
    with pytest.raises(EpisodicError, match=r"tasks.jsonl:1"):
        list(read_tasks(file))


def test_errors_of_an_address_that_is_no_trainer_endpoint(server: Server) -> None:
    for url, code in [
        (server.url.replace("/env", "/mcp"), "not-an-environment"),
        (server.url.replace("/env", "/nothing"), "connection-failed"),
        ("http://127.0.0.1:1/env", "connection-failed"),
        ("ws://127.0.0.1:1/env", "connection-failed"),
    ]:
        with connect(url, server.token, wait=0.05) as wrong, pytest.raises(EpisodicError) as failed:
            wrong.environments()
        assert failed.value.code == code, url
    with pytest.raises(EpisodicError) as invalid:
        connect("127.0.0.1:7337")
    assert invalid.value.code == "option-invalid"


def test_a_wrong_token_is_not_retried(server: Server) -> None:
    for url in (server.url, server.websocket_url):
        for token in ("wrong", None):
            with (
                connect(url, token) as wrong,
                pytest.raises(EpisodicError, match=r"token=.*EPISODIC_CONTROL_TOKEN") as refused,
            ):
                wrong.environments()
            assert (refused.value.code, refused.value.retryable) == ("unauthorized", False)


@pytest.mark.parametrize(
    "url", ["http://trainer.example:7337/env", "ws://10.0.0.7/env", "http://127.0.0.1.example/env"]
)
def test_a_token_crosses_no_network_without_encryption(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EpisodicError, match="EPISODIC_PLAIN_HTTP") as refused:
        connect(url, "secret")
    assert refused.value.code == "option-invalid"
    # Without a token there is nothing to protect, and encryption protects it.
    connect(url).close()
    connect(url.replace("http:", "https:").replace("ws:", "wss:"), "secret").close()
    monkeypatch.setenv("EPISODIC_PLAIN_HTTP", "1")
    connect(url, "secret").close()


def test_objects_say_what_they_are(server: Server) -> None:
    with connect(server.url, server.token) as connection:
        assert repr(connection) == f"<Connection to {server.url}>"
        with connection.open("number-guessing", {"low": 5, "high": 6}) as episode:
            step = episode.step("guess", {"value": 7})
            [line, *_] = step.observation.text.split("\n")
            assert repr(step) == f"<Step 1: reward -0.01, refused rules, {line!r}>"
            assert repr(episode) == f"<Episode {episode.id} of number-guessing, 1 steps, return -0.01>"
            assert connection._channel is not None and "ctl_" not in repr(episode)
            assert repr(episode.played()) == "<Played 1 steps, return -0.01>"
            assert repr(episode.info.tools) == "(<ToolInfo guess(value)>,)"
        with connection.open_game("kuhn-poker") as game:
            assert repr(game) == f"<Game {game.id} of kuhn-poker, in turn first, returns first 0, second 0>"
            seat = connection.seat("kuhn-poker", "first", game.handle("first"))
            assert repr(seat) == "<Seat first of kuhn-poker, 0 steps, return 0>"
        assert repr(connection.environments()["number-guessing"]).startswith("<EnvironmentInfo number-guessing ")


def test_a_notebook_shows_tables_in_which_nothing_of_a_world_is_html(server: Server) -> None:
    with connect(server.url, server.token) as connection, connection.open("number-guessing") as episode:
        step = episode.step("guess", {"value": 101})
        episode.step("<b>")
        assert step.observation._repr_html_().endswith("8 guesses left.</pre>")
        assert "<th>observation</th><th>solved</th><th>cost</th><th>reward</th>" in step._repr_html_()
        shown = episode.played()._repr_html_()
    assert "<caption>&lt;Played 2 steps, return -0.02&gt;</caption>" in shown
    assert [shown.count(part) for part in ("<tr>", "<b>", "&lt;b&gt; {}", "<td>-0.01</td>")] == [3, 0, 1, 4]


def test_finds_the_token_of_a_server_on_this_machine(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"control-{server.port}.token").write_text(server.token + "\n")
    with connect(server.url) as found:
        assert "number-guessing" in found.environments()
    monkeypatch.setenv("EPISODIC_CONTROL_TOKEN", "wrong")
    with connect(server.url) as wrong, pytest.raises(EpisodicError):
        wrong.environments()


def _call_as_agent(url: str, tool: str, arguments: dict[str, object]) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, json.dumps(message).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        assert b'"result"' in answer.read()
