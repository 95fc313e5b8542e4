"""Starts `episodic serve` as a user would, and a proxy that loses answers."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
WORLDS = Path(__file__).parent / "served"


@dataclass
class Server:
    url: str
    websocket_url: str
    token: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1].split("/")[0])

    def stop(self) -> None:
        # `serve --json` stops when its input ends.
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()


def serve(home: Path, *arguments: str) -> Server:
    command = [str(ROOT / "node_modules/.bin/node"), str(ROOT / "apps/harness/src/cli.ts"), "serve", *arguments]
    process = subprocess.Popen(
        [*command, "--json", "--log-level", "warn"],
        cwd=ROOT,
        env={**os.environ, "EPISODIC_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"episodic serve ended with {process.wait()} before it listened.")
    said = json.loads(line)
    token = Path(said["tokenFile"]).read_text().strip()
    return Server(said["trainerUrl"], said["webSocketUrl"], token, process)


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

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
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
            if self._to_lose > 0:
                self._to_lose -= 1
            elif self._every == 0 or self._answers % self._every != 0:
                return data
            self.lost += 1
            return data[: self._random.choice([0, len(data) // 2])]


def _cut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
