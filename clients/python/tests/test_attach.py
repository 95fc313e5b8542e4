"""An episode that another process goes on with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from serving import LONG, ROOT, LossyProxy, Server

from episodic_env import Connection, EpisodicError, connect

GUESS = """
import os, sys
from episodic_env import connect

with connect(sys.argv[1]) as connection:
    episode = connection.attach(os.environ["HANDLE"])
    print(episode.seq, episode.observation.text.splitlines()[0])
    print(episode.step("guess", {"value": int(sys.argv[2])}).seq)
"""


def guess_elsewhere(server: Server, handle: str, value: int) -> list[str]:
    variables = {
        **os.environ,
        "EPISODIC_CONTROL_TOKEN": server.token,
        "HANDLE": handle,
        "PYTHONPATH": str(ROOT / "clients/python/src"),
    }
    command = [sys.executable, "-c", GUESS, server.url, str(value)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


def test_another_process_plays_the_next_step(server: Server, connection: Connection) -> None:
    with connection.open("number-guessing", seed=7) as episode:
        episode.step("guess", {"value": 1})
        at, seq, _ = guess_elsewhere(server, episode.handle, 2)
        assert (at, seq) == ("1 Guess a whole number from 1 to 100. 7 guesses left.", "2")
        back = connection.attach(episode.handle)
        assert (back.seq, back.id, back.seed, back.total) == (2, episode.id, episode.seed, 0)
        assert back.session_url == episode.session_url
        assert back.step("guess", {"value": 3}).seq == 3
        # Who has not seen the latest answers plays nothing.
        with pytest.raises(EpisodicError) as stale:
            episode.step("guess", {"value": 4})
        assert stale.value.code == "seq-conflict"
        assert [played.arguments["value"] for played in back.played().steps] == [1, 2, 3]
        assert episode.ended() is None


def test_a_process_may_go_on_after_a_kill_and_over_a_bad_network(durable: Server, tmp_path: Path) -> None:
    proxy = LossyProxy(durable.port)
    with connect(durable.url, durable.token, wait=LONG) as first, first.open("number-guessing", seed=7) as episode:
        episode.step("guess", {"value": 1})
        handle = episode.handle
        durable.restart()
        proxy.lose_every(2, 1)
        with connect(proxy.url, durable.token, wait=LONG) as second:
            attached = second.attach(handle)
            assert [attached.step("guess", {"value": value}).seq for value in (2, 3)] == [2, 3]
        assert len(episode.played().steps) == 3
    proxy.close()


def test_an_episode_that_is_over_stays_over(connection: Connection) -> None:
    with connection.open("number-guessing", {"low": 5, "high": 5}) as episode:
        episode.step("guess", {"value": 5})
        attached = connection.attach(episode.handle)
        assert attached.end == episode.end == attached.ended()
        with pytest.raises(EpisodicError) as over:
            attached.step("guess", {"value": 5})
        assert over.value.code == "not-playing"


@pytest.mark.parametrize(
    "handle", ["", "ctl_abc", "episodic-1.", "episodic-1.%%", "episodic-1.W10=", "episodic-2.e30="]
)
def test_a_text_that_is_no_handle_is_refused(connection: Connection, handle: str) -> None:
    with pytest.raises(EpisodicError) as refused:
        connection.attach(handle)
    assert refused.value.code == "option-invalid"


def test_the_handle_of_a_session_that_is_gone_is_refused(connection: Connection) -> None:
    with connection.open("number-guessing") as episode:
        handle = episode.handle
    with pytest.raises(EpisodicError) as gone:
        connection.attach(handle)
    assert gone.value.code == "session-not-found"
