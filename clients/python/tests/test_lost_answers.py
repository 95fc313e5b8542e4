"""Answers that are lost on their way back, after the server has played the step."""

from __future__ import annotations

import logging
import random
import re
import threading
from collections.abc import Callable

import pytest
from serving import LONG, LossyProxy, Server

from episodic_env import Connection, Episode, EpisodicError, Step, connect

MOVES = ("up", "down", "left", "right")


def through(proxy: LossyProxy, server: Server, scheme: str, **options: float) -> Connection:
    url = f"{scheme}://127.0.0.1:{proxy.port}/env"
    return connect(url, server.token, **{"wait": LONG, **options})  # type: ignore[arg-type]


def wander(episode: Episode, seed: int, each: Callable[[Step], None] = lambda _: None) -> list[object]:
    """Plays 60 random steps of the warehouse, where every step changes the battery: one too many would be seen."""
    moves = random.Random(seed)
    seen: list[object] = [episode.observation]
    for _ in range(60):
        step = episode.step("move", {"direction": moves.choice(MOVES)})
        each(step)
        seen.append((step.observation, dict(step.terms), step.reward, step.end, step.refused, step.state_hash))
        if step.end is not None:
            break
    return seen


@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_step_is_played_twice(server: Server, proxy: LossyProxy, scheme: str, seed: int) -> None:
    with connect(server.url, server.token) as direct, direct.open("warehouse", seed=seed) as episode:
        expected = wander(episode, seed)
    # A WebSocket loses the answers of its handshakes too.
    proxy.lose_every(3 if scheme == "http" else 6, seed)
    replayed: list[Step] = []
    with through(proxy, server, scheme) as lossy, lossy.open("warehouse", seed=seed) as episode:
        played = wander(episode, seed, lambda step: replayed.append(step) if step.replayed else None)
        logged = episode.played().steps
        proxy.lose_every(0, seed)
    assert played == expected
    assert len(logged) == len(expected) - 1
    assert [entry.step.seq for entry in logged] == list(range(1, len(expected)))
    assert proxy.lost > 5
    assert len(replayed) > 0


def test_an_open_whose_answer_is_lost_opens_one_session(server: Server, proxy: LossyProxy) -> None:
    with connect(server.url, server.token) as direct, through(proxy, server, "http") as lossy:
        lossy.environments()
        before = direct._call("environment/sessions", {}, True)["total"]
        proxy.lose(3)
        with lossy.open("number-guessing"):
            assert direct._call("environment/sessions", {}, True)["total"] == before + 1
        assert direct._call("environment/sessions", {}, True)["total"] == before


def test_after_the_last_attempt_the_same_step_gets_the_stored_answer(server: Server, proxy: LossyProxy) -> None:
    with through(proxy, server, "http", wait=0) as lossy, lossy.open("number-guessing", seed="7") as episode:
        proxy.lose(1)
        with pytest.raises(EpisodicError) as failed:
            episode.step("guess", {"value": 50})
        assert failed.value.code == "connection-failed"
        step = episode.step("guess", {"value": 50})
        assert (step.replayed, step.seq, episode.total) == (True, 1, -0.01)


def test_another_action_in_place_of_a_lost_one_is_refused(server: Server, proxy: LossyProxy) -> None:
    with through(proxy, server, "http", wait=0) as lossy, lossy.open("number-guessing", seed="7") as episode:
        proxy.lose(1)
        with pytest.raises(EpisodicError):
            episode.step("guess", {"value": 50})
        with pytest.raises(EpisodicError) as refused:
            episode.step("guess", {"value": 51})
        assert refused.value.code == "seq-reused"
        assert episode.step("guess", {"value": 50}).replayed


def test_a_session_that_is_gone_is_an_error_and_no_end(server: Server) -> None:
    with connect(server.url, server.token) as connection:
        episode = connection.open("number-guessing")
        connection._call("environment/close", {"session": episode._session}, True)
        with pytest.raises(EpisodicError) as gone:
            episode.step("guess", {"value": 50})
        assert gone.value.code == "session-not-found"
        assert episode.end is None
        with pytest.raises(EpisodicError, match="void") as over:
            episode.step("guess", {"value": 50})
        assert over.value.code == "not-playing"
        episode.close()


def test_a_killed_server_is_waited_for_and_the_log_says_so(
    durable: Server, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("episodic_env.waiting.SILENT", 0.0)
    # The server starts once the client has said that it waits.
    starting = threading.Thread(target=lambda port: durable._start(port), args=[str(durable.port)])
    waits = logging.Handler()
    waits.emit = lambda record: None if starting.ident else starting.start()  # type: ignore[method-assign]
    log = logging.getLogger("episodic_env")
    log.addHandler(waits)
    forever = float("inf")
    with connect(durable.url, durable.token, wait=forever) as connection, connection.open("number-guessing") as episode:
        assert episode.step("guess", {"value": 1}).seq == 1
        durable.kill()
        assert episode.step("guess", {"value": 2}).seq == 2
    log.removeHandler(waits)
    starting.join()
    [first, *_, last] = [record.getMessage() for record in caplog.records if record.name == "episodic_env"]
    assert re.match(r"waiting for the server at http://127\.0\.0\.1:\d+/env since \d+ s, until \d\d:\d\d:\d\d: ", first)
    assert re.match(r"the server at \S+ answers again, after \d+ s", last)


@pytest.mark.parametrize("option", [{"wait": -1}, {"wait": float("nan")}, {"timeout": 0}, {"timeout": float("nan")}])
def test_a_time_that_is_none_is_refused(option: dict[str, float]) -> None:
    with pytest.raises(EpisodicError) as refused:
        connect(**option)  # type: ignore[arg-type]
    assert refused.value.code == "option-invalid"


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_a_call_may_take_as_long_as_it_takes(server: Server, proxy: LossyProxy, scheme: str) -> None:
    with through(proxy, server, scheme, timeout=float("inf")) as patient:
        assert "warehouse" in patient.environments()
