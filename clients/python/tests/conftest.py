from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from model_server import Halving
from serving import WORLDS, LossyProxy, Server

from episodic_env import Connection, connect

CLASSICS = ("kuhn-poker", "connect-four", "taxi", "cliff-walking")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the example worlds, of classics, and of worlds with all that clients have to deal with."""
    home: Path = tmp_path_factory.mktemp("home")
    examples = ["number-guessing", "frozen-lake", "warehouse", "flight-booking"]
    classics = [f"@episodic/classics/{name}" for name in CLASSICS]
    own = [str(WORLDS / name) for name in ("odd-tools.ts", "sealed-bids.ts", "garden.ts", "desk.ts")]
    running = Server(home, *examples, *classics, *own)
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def _no_token_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("EPISODIC_CONTROL_TOKEN", raising=False)
    monkeypatch.setenv("EPISODIC_HOME", str(tmp_path))


@pytest.fixture(params=["http", "websocket"])
def connection(server: Server, request: pytest.FixtureRequest) -> Iterator[Connection]:
    url = server.url if request.param == "http" else server.websocket_url
    with connect(url, server.token) as connected:
        yield connected


@pytest.fixture
def durable(tmp_path: Path) -> Iterator[Server]:
    """A server of its own for a test that kills it, with a store that outlives it."""
    running = Server(tmp_path, "number-guessing", "--store", f"sqlite:{tmp_path / 'sessions.db'}")
    yield running
    running.stop()


@pytest.fixture
def forgetful(tmp_path: Path) -> Iterator[Server]:
    """A server of its own for a test that kills it, whose sessions are lost with it."""
    running = Server(tmp_path, "number-guessing")
    yield running
    running.stop()


@pytest.fixture
def proxy(server: Server) -> Iterator[LossyProxy]:
    running = LossyProxy(server.port)
    yield running
    running.close()


@pytest.fixture
def model() -> Iterator[str]:
    """The base URL of a model that plays number-guessing well."""
    served = ThreadingHTTPServer(("127.0.0.1", 0), Halving)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{served.server_port}/v1"
    served.shutdown()
    served.server_close()
