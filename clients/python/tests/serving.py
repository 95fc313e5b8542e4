"""Starts `episodic serve` as a user would, and a proxy that loses answers."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
WORLDS = Path(__file__).parent / "served"
LONG = 86_400.0
"""Seconds to wait for a server or an answer that will come, however slow the machine is."""


class Server:
    """`episodic serve` in a process of its own, at one port however often it is killed."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self._home = home
        self._arguments = arguments
        self.token = ""
        self._start("0")

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1].split("/")[0])

    def stop(self) -> None:
        # `serve --json` stops when its input ends.
        assert self.process.stdin is not None
        self.process.stdin.close()
        self._wait()

    def kill(self) -> None:
        """`kill -9`."""
        self.process.kill()
        assert self.process.stdin is not None
        self.process.stdin.close()
        self._wait()

    def restart(self) -> None:
        """`kill -9`, and another one at the same port."""
        port = str(self.port)
        self.kill()
        self._start(port)

    def _start(self, port: str) -> None:
        # A server that comes back is the one that its clients know.
        held = {"EPISODIC_CONTROL_TOKEN": self.token} if self.token else {}
        command = [node(), str(ROOT / "apps/harness/src/cli.ts"), "serve", *self._arguments, "--port", port]
        self.process = subprocess.Popen(
            [*command, "--json", "--log-level", "warn"],
            cwd=ROOT,
            env={**os.environ, "EPISODIC_HOME": str(self._home), **held},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"episodic serve ended with {self.process.wait()} before it listened.")
        said = json.loads(line)
        self.url: str = said["trainerUrl"]
        self.websocket_url: str = said["webSocketUrl"]
        self.token = self.token or Path(said["tokenFile"]).read_text().strip()

    def _wait(self) -> None:
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextlib.contextmanager
def serving_gateway(folder: Path, engine: str, token: str = "of-the-trainer-and-nobody-else") -> Iterator[str]:
    """Serves `episodic gateway` over a folder, and yields its URL. At the end it is killed."""
    command = [node(), str(ROOT / "apps/harness/src/cli.ts"), "gateway", str(folder), "--base-url", engine]
    variables = {**os.environ, "EPISODIC_CONTROL_TOKEN": token, "EPISODIC_HOME": str(folder)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, "--port", "0", "--json"], cwd=ROOT, env=variables, **pipes) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.kill()


def node() -> str:
    """Returns the Node of the workspace itself, and not the shell script that starts it: a signal has to reach it."""
    [*own] = (ROOT / "node_modules").glob("node-linux-*/bin/node")
    found = str(own[0]) if own else shutil.which("node")
    assert found is not None, "Node is missing: install the workspace."
    return found


class LossyProxy:
    """Forwards bytes to a server, and cuts connections where an answer comes back: before it, or in its middle.

    So the server has played the step, and the client does not know.
    """

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.lost = 0
        self._to_lose = 0
        self._every = 0
        self._answers = 0
        self._random = random.Random(0)
        self._lock = threading.Lock()
        self._losing = threading.Event()
        self._acts: dict[int, Callable[[], None]] = {}
        threading.Thread(target=self._accept, daemon=True).start()

    def lose(self, answers: int) -> None:
        """Loses the next answers."""
        with self._lock:
            self._to_lose = answers

    def lose_every(self, answers: int, seed: int) -> None:
        """Loses one in so many answers; 0 for none. The seed draws where they are cut."""
        with self._lock:
            self._every = answers
            self._random = random.Random(seed)

    def wait_for_a_loss(self) -> None:
        """Waits until an answer is lost."""
        self._losing.wait()

    def after(self, answers: int, act: Callable[[], None]) -> None:
        """Acts once so many further answers have come, before the next one passes."""
        with self._lock:
            self._acts[self._answers + answers] = act

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/env"

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self._target)
            except OSError:
                _cut(client)
                continue
            threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
            threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        try:
            while data := client.recv(1 << 20):
                server.sendall(data)
        except OSError:
            pass
        _cut(server)

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        try:
            while data := server.recv(1 << 20):
                if kept := self._kept(data):
                    client.sendall(kept)
                if len(kept) < len(data):
                    break
        except OSError:
            pass
        _cut(client)
        _cut(server)

    def _kept(self, data: bytes) -> bytes:
        with self._lock:
            self._answers += 1
            act = self._acts.pop(self._answers, None)
            if act is not None:
                act()
            if self._to_lose > 0:
                self._to_lose -= 1
            elif self._every == 0 or self._answers % self._every != 0:
                return data
            self.lost += 1
            self._losing.set()
            return data[: self._random.choice([0, len(data) // 2])]


def _cut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
