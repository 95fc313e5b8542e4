"""A connection to a trainer endpoint."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit, urlunsplit

from .environment_info import EnvironmentInfo, environment_info_of
from .episode import Episode
from .errors import EpisodicError, malformed
from .game import Game
from .http_channel import HttpChannel
from .json_types import Json, JsonObject
from .retries import Retries
from .rpc import Channel
from .seat import Seat
from .task import Task


class Connection:
    """A connection to a trainer endpoint. Threads may share it. Leaving its `with` block closes it."""

    def __init__(self, channel: Channel, agent_url: str, retries: Retries) -> None:
        self._channel = channel
        self._agent_url = agent_url
        self._retries = retries
        self._environments: dict[str, EnvironmentInfo] | None = None

    def environments(self) -> dict[str, EnvironmentInfo]:
        """Returns the environments that the server can open, by name. Asks the server once."""
        if self._environments is None:
            listed = self._call("environment/list", {}, True)
            entries = listed.get("environments") if isinstance(listed, dict) else None
            if not isinstance(entries, list):
                raise malformed("The server sent no list of environments.")
            self._environments = {info.name: info for info in map(environment_info_of, entries)}
        return self._environments

    def environment(self, name: str) -> EnvironmentInfo:
        """Returns one environment. Raises `unknown-environment`."""
        environments = self.environments()
        if name not in environments:
            message = f'There is no environment "{name}" here. There is: {", ".join(environments)}.'
            raise EpisodicError("unknown-environment", message, retryable=False)
        return environments[name]

    def open(
        self,
        environment: str | Task,
        params: JsonObject | None = None,
        *,
        seed: str | int | None = None,
        limits: JsonObject | None = None,
        version: str | None = None,
    ) -> Episode:
        """Opens an episode of an environment with one seat, or of a task. `open_game` is for several seats.

        Arguments replace those of a task; `params` and `limits` key by key. The same seed, parameters and actions give
        the same episode; without a seed the server draws one, which `Episode.seed` has. Close the episode, or use it
        in a `with` block: a server keeps an open session until it expires.

        Raises `unknown-environment`, `invalid-params`, `capacity` or `connection-failed`.
        """
        info, opened = self._open(environment, params, seed, limits, version, several=False)
        return Episode(self._call, info, opened, self._agent_url)

    def open_game(
        self,
        environment: str | Task,
        params: JsonObject | None = None,
        *,
        seed: str | int | None = None,
        limits: JsonObject | None = None,
        version: str | None = None,
    ) -> Game:
        """Opens an episode of an environment with several seats. Arguments and errors are those of `open`."""
        info, opened = self._open(environment, params, seed, limits, version, several=True)
        return Game(self._call, info, opened, self._agent_url)

    def seat(self, environment: str, name: str, handle: str) -> Seat:
        """Returns one seat of a session that somebody else opened, by the handle that `Game.handle` gave them.

        Raises `session-not-found` for a handle that opens nothing.
        """
        return Seat(self._call, self.environment(environment), name, handle)

    def _open(
        self,
        environment: str | Task,
        params: JsonObject | None,
        seed: str | int | None,
        limits: JsonObject | None,
        version: str | None,
        *,
        several: bool,
    ) -> tuple[EnvironmentInfo, Json]:
        task = environment if isinstance(environment, Task) else Task(environment)
        chosen = task.seed if seed is None else str(seed)
        pinned = task.version if version is None else version
        info = self.environment(task.environment)
        if bool(info.seats) != several:
            message = (
                f"{info.name} has several seats. Open it with open_game."
                if info.seats
                else f"{info.name} has one seat. Open it with open."
            )
            raise EpisodicError("option-invalid", message, retryable=False)
        request: dict[str, Json] = {
            "environment": info.name,
            "params": {**task.params, **(params or {})},
            "limits": {**task.limits, **(limits or {})},
            "requestKey": secrets.token_urlsafe(24),
        }
        if chosen is not None:
            request["seed"] = chosen
        if pinned is not None:
            request["version"] = pinned
        return info, self._call("environment/open", request, True)

    def restore(self, snapshot: JsonObject) -> Episode:
        """Opens a new episode from a snapshot. A time limit starts again from zero."""
        info, opened = self._restore(snapshot)
        return Episode(self._call, info, opened, self._agent_url)

    def restore_game(self, snapshot: JsonObject) -> Game:
        """Opens a new game from a snapshot of one. A time limit starts again from zero."""
        info, opened = self._restore(snapshot)
        return Game(self._call, info, opened, self._agent_url)

    def _restore(self, snapshot: JsonObject) -> tuple[EnvironmentInfo, Json]:
        info = self.environment(snapshot["environment"]["name"])
        request = {"snapshot": snapshot, "requestKey": secrets.token_urlsafe(24)}
        return info, self._call("environment/restore", request, True)

    def close(self) -> None:
        """Releases the sockets. Open sessions stay on the server until they expire. Safe to call twice."""
        self._channel.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, method: str, params: JsonObject, retry: bool) -> Json:
        retries = self._retries if retry else Retries(attempts=1)
        try:
            return retries.call(self._channel, method, params)
        except EpisodicError as error:
            if error.code == "method-not-found" and method.startswith("environment/"):
                message = f"The server has no {method}: give the URL of its trainer endpoint, which ends in /env."
                raise EpisodicError("not-an-environment", message, retryable=False) from error
            raise


def connect(
    url: str = "http://127.0.0.1:7337/env",
    token: str | None = None,
    *,
    agent_url: str | None = None,
    timeout: float = 120.0,
    retries: Retries | None = None,
) -> Connection:
    """Returns a connection to the trainer endpoint of `episodic serve`. Sends nothing before the first call.

    Args:
        url: The trainer endpoint: `http:`, `https:`, or `ws:` and `wss:` with the extra `websocket`.
        token: The control token. Default: that of the environment variable `EPISODIC_CONTROL_TOKEN`, or of the file
            that a server on this machine wrote for its port.
        agent_url: The agent endpoint, for session URLs, if a proxy moves it. Default: `/mcp` beside `/env`.
        timeout: Seconds until a call without an answer fails, and is retried.
        retries: The bounds of retries. Default: 20 attempts in 15 seconds.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https", "ws", "wss") or not parts.hostname:
        message = f"{url} is no URL of a trainer endpoint. It looks like http://127.0.0.1:7337/env."
        raise EpisodicError("option-invalid", message, retryable=False)
    token = token or os.environ.get("EPISODIC_CONTROL_TOKEN") or _local_token(url)
    channel: Channel
    if parts.scheme in ("ws", "wss"):
        from .websocket_channel import WebSocketChannel

        channel = WebSocketChannel(url, token, timeout)
    else:
        channel = HttpChannel(url, token, timeout)
    agent = agent_url or _agent_url_beside(url)
    return Connection(channel, agent.rstrip("/"), retries or Retries())


def _agent_url_beside(url: str) -> str:
    parts = urlsplit(url)
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    return urlunsplit((scheme, parts.netloc, re.sub(r"/env/?$", "", parts.path) + "/mcp", "", ""))


def _local_token(url: str) -> str | None:
    """Returns the token that a server on this machine wrote for its port, if there is one."""
    parts = urlsplit(url)
    if not re.fullmatch(r"localhost|127(\.\d+){3}|::1", parts.hostname or ""):
        return None
    home = os.environ.get("EPISODIC_HOME")
    folder = Path(home) if home else Path.home() / ".episodic"
    port = parts.port or (443 if parts.scheme in ("https", "wss") else 80)
    try:
        return (folder / f"control-{port}.token").read_text(encoding="utf-8").strip()
    except OSError:
        return None
