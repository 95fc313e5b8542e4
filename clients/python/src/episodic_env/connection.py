"""A connection to a trainer endpoint."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType

from .continued import before, check
from .environment_info import EnvironmentInfo, known_environment, listed_environments
from .episode import Episode, attached_episode
from .episode_account import SEAT, read_handle
from .errors import EpisodicError, not_an_environment
from .game import Game
from .http_channel import HttpChannel
from .json_types import Json, JsonObject
from .open_request import open_request
from .rpc import Channel
from .seat import Seat
from .server_address import ServerAddress, server_address
from .task import Task
from .turn import read_turn
from .waiting import Waiting
from .websocket_channel import WebSocketChannel


class Connection:
    """A connection to a trainer endpoint. Threads may share it. Leaving its `with` block closes it."""

    def __init__(self, channel: Channel, address: ServerAddress, wait: float) -> None:
        self._channel = channel
        self._url = address.url
        self._agent_url = address.agent_url
        self._waiting = Waiting(address.url, wait)
        self._environments: dict[str, EnvironmentInfo] | None = None

    def environments(self) -> dict[str, EnvironmentInfo]:
        """Returns the environments that the server can open, by name. Asks the server once."""
        if self._environments is None:
            self._environments = listed_environments(self._call("environment/list", {}, True))
        return self._environments

    def environment(self, name: str) -> EnvironmentInfo:
        """Returns one environment. Raises `unknown-environment`."""
        return known_environment(self.environments(), name)

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

    def continue_episode(
        self, line: JsonObject, step: int, *, origins: Iterable[JsonObject] = (), limits: JsonObject | None = None
    ) -> Episode:
        """Opens an episode that goes on from a recorded one, after `step` of its steps: they are played again.

        `line` is one of a run's `episodes.jsonl`, as `json.loads` returns it; `origins` are those that it goes on from
        itself, of the run's `origins.jsonl`. `total` and `summed` are of the steps that follow.

        Raises `replay-diverged` for the first step whose text or state is another one (`details` has its number as
        `step`, 0 for the start), `option-invalid` for a step that there is not, and as `open` does.
        """
        earlier = before(line, step, origins)
        with ExitStack() as opened:
            episode = opened.enter_context(self.open(earlier.task, limits=limits))
            for number, (seed, recorded) in enumerate(earlier.moves):
                events = recorded.get("events", []) if recorded else []
                # What a fork inherited came before its new chance.
                for event in (event for event in events if event.get("inherited")):
                    episode.publish(event["type"], event["data"])
                if seed is not None:
                    episode = opened.enter_context(self._reseeded(episode, seed))
                for event in (event for event in events if not event.get("inherited")):
                    episode.publish(event["type"], event["data"])
                if recorded:
                    action = recorded.get("action")
                    check(number, recorded, episode.step(action["tool"], action["arguments"]) if action else episode)
            opened.pop_all()
        earlier.hand_over(episode)
        return episode

    def _reseeded(self, episode: Episode, seed: str) -> Episode:
        reseeded = self.restore({**episode.snapshot(), "seed": seed, "rng": {}})
        reseeded.observation = episode.observation
        episode._close(True, given_up=True)
        return reseeded

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
        info = self.environment(task.environment)
        request = open_request(info, task, params, seed, limits, version, several=several)
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

    def attach(self, handle: str) -> Episode:
        """Goes on with an episode that another process has opened, by its `Episode.handle`.

        The server says how many steps are answered, so the next one has the right number, and what the player sees now.
        Steps before are not in `total`; `Episode.played` has all. Let one process play at a time: who steps without
        having seen the latest answer is refused with `seq-reused` or `seq-conflict`.

        Raises `option-invalid` for a text that is no handle, and `session-not-found` if the session is over.
        """
        held = read_handle(handle)
        info = self.environment(held["environment"])
        turn = read_turn(lambda method, params: self._call(method, params, True), info, held["session"], SEAT)
        return attached_episode(self._call, info, held, turn, self._agent_url)

    def close(self) -> None:
        """Releases the sockets. Open sessions stay on the server until they expire. Safe to call twice."""
        self._channel.close()

    @property
    def last_lost(self) -> float:
        """When an answer was last missing, on the clock of `time.monotonic`; minus infinity if none ever was."""
        return self._waiting.last_lost

    def __repr__(self) -> str:
        return f"<Connection to {self._url}>"

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, method: str, params: JsonObject, retry: bool) -> Json:
        try:
            if retry:
                return self._waiting.call(self._channel, method, params)
            return self._channel.call(method, params)
        except EpisodicError as error:
            if (elsewhere := not_an_environment(error, method)) is not None:
                raise elsewhere from error
            raise


def connect(
    url: str = "http://127.0.0.1:7337/env",
    token: str | None = None,
    *,
    agent_url: str | None = None,
    timeout: float = 120.0,
    wait: float = 15.0,
) -> Connection:
    """Returns a connection to the trainer endpoint of `episodic serve`. Sends nothing before the first call.

    Args:
        url: The trainer endpoint: `http:` or `https:`, or `ws:` or `wss:`, where one socket carries the calls of all
            threads.
        token: The control token. Default: that of the environment variable `EPISODIC_CONTROL_TOKEN`, or of the file
            that a server on this machine wrote for its port.
        agent_url: The agent endpoint, for session URLs, if a proxy moves it. Default: `/mcp` beside `/env`.
        timeout: Seconds until a call without an answer counts as lost; `math.inf` for never.
        wait: Seconds after the first lost answer in which a call is repeated; 0 for never, `math.inf` for as long as it
            takes. What takes longer than 5 seconds is logged by the logger `episodic_env`.

    Raises `option-invalid` where the token would cross a network without encryption: over `http:` or `ws:` to another
    machine. Set `EPISODIC_PLAIN_HTTP=1` where that network is your own.
    """
    address = server_address(url, token, agent_url=agent_url, timeout=timeout)
    channel: Channel = WebSocketChannel(address) if address.web_socket else HttpChannel(address)
    return Connection(channel, address, wait)
