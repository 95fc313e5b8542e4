"""A connection of asyncio to a trainer endpoint: one WebSocket for all of its episodes."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType

from .async_channel import AsyncChannel
from .async_episode import AsyncEpisode
from .continued import before, check
from .environment_info import EnvironmentInfo, known_environment, listed_environments
from .errors import EpisodicError, not_an_environment
from .json_types import Json, JsonObject
from .observation import observation_of
from .open_request import open_request
from .server_address import ServerAddress, server_address
from .step import Step
from .task import Task
from .waiting import Attempts, Waiting

Move = tuple[AsyncEpisode, str, JsonObject]
"""A step to play: an episode, a tool and its arguments."""


class AsyncConnection:
    """A connection to a trainer endpoint, for the tasks of one event loop. Leaving its `async with` block closes it."""

    def __init__(self, address: ServerAddress, wait: float) -> None:
        self._channel = AsyncChannel(address)
        self._url = address.url
        self._agent_url = address.agent_url
        self._waiting = Waiting(address.url, wait)
        self._environments: dict[str, EnvironmentInfo] | None = None

    async def environments(self) -> dict[str, EnvironmentInfo]:
        """Returns the environments that the server can open, by name. Asks the server once."""
        if self._environments is None:
            self._environments = listed_environments(await self._call("environment/list", {}, True))
        return self._environments

    async def open(
        self,
        environment: str | Task,
        params: JsonObject | None = None,
        *,
        seed: str | int | None = None,
        limits: JsonObject | None = None,
        version: str | None = None,
    ) -> AsyncEpisode:
        """Opens an episode of an environment with one seat, or of a task. Arguments and errors: `Connection.open`."""
        task = environment if isinstance(environment, Task) else Task(environment)
        info = known_environment(await self.environments(), task.environment)
        request = open_request(info, task, params, seed, limits, version, several=False)
        opened = await self._call("environment/open", request, True)
        return AsyncEpisode(self._call, info, opened, self._agent_url)

    async def resume(self, parked: JsonObject) -> AsyncEpisode:
        """Goes on with an episode that `AsyncEpisode.park` has stopped, also on another server of its world.

        `total` and `summed` go on, and so do its seed and chance; a time limit starts again from zero.
        """
        snapshot = parked["snapshot"]
        info = known_environment(await self.environments(), snapshot["environment"]["name"])
        request = {"snapshot": snapshot, "requestKey": secrets.token_urlsafe(24)}
        episode = AsyncEpisode(
            self._call, info, await self._call("environment/restore", request, True), self._agent_url
        )
        episode.opening = episode.observation = observation_of(parked["observation"])
        episode.total, episode.summed = parked["total"], dict(parked["summed"])
        return episode

    async def continue_episode(
        self, line: JsonObject, step: int, *, origins: Iterable[JsonObject] = (), limits: JsonObject | None = None
    ) -> AsyncEpisode:
        """Opens an episode that goes on from a recorded one. Arguments and errors: `Connection.continue_episode`.

        Raises `option-invalid` for a line with outside events or new chance, which `Connection` plays.
        """
        earlier = before(line, step, origins)
        (_, start), *moves = earlier.moves
        if any(seed is not None or "events" in recorded for seed, recorded in moves):
            message = "The line has outside events or new chance: continue it by Connection.continue_episode."
            raise EpisodicError("option-invalid", message, retryable=False)
        async with AsyncExitStack() as opened:
            episode = await opened.enter_async_context(await self.open(earlier.task, limits=limits))
            check(0, start, episode)
            for number, (_, recorded) in enumerate(moves, 1):
                action = recorded["action"]
                check(number, recorded, await episode.step(action["tool"], action["arguments"]))
            opened.pop_all()
        earlier.hand_over(episode)
        return episode

    async def step_all(self, moves: Sequence[Move]) -> list[Step | EpisodicError]:
        """Plays a step in each of several episodes at once: one write, and one wait for all answers.

        Returns what each move got, in their order. A failure is returned in its place, so that the other episodes go
        on; an answer that is lost is asked for again, as by `AsyncEpisode.step`.

        Raises `option-invalid` for two moves of one episode.
        """
        if len({id(episode) for episode, _, _ in moves}) < len(moves):
            raise EpisodicError("option-invalid", "An episode has two moves: it plays one at a time.", retryable=False)
        results: list[Step | EpisodicError | None] = [None] * len(moves)
        sent: list[tuple[int, JsonObject]] = []
        for place, (episode, tool, arguments) in enumerate(moves):
            try:
                sent.append((place, episode._step_request(tool, arguments)))
                episode._answered = False
            except EpisodicError as error:
                results[place] = error
        answers = await self._channel.call([("tools/call", request) for _, request in sent])
        lost: list[tuple[int, JsonObject, EpisodicError]] = []
        for (place, request), answer in zip(sent, answers, strict=True):
            if isinstance(answer, EpisodicError):
                lost.append((place, request, answer))
            else:
                results[place] = _settled(moves[place][0], answer)
        for (place, _, _), answer in zip(
            lost, await asyncio.gather(*(self._again(request, error) for _, request, error in lost)), strict=True
        ):
            results[place] = _settled(moves[place][0], answer)
        return [result for result in results if result is not None]

    async def close(self) -> None:
        """Closes the socket. Open sessions stay on the server until they expire. Safe to call twice."""
        await self._channel.close()

    def __repr__(self) -> str:
        return f"<AsyncConnection to {self._url}>"

    async def __aenter__(self) -> AsyncConnection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _again(self, request: JsonObject, error: EpisodicError) -> Json | EpisodicError:
        """Repeats a step whose first answer is an error, if it may be repeated."""
        try:
            return await self._answer_to("tools/call", request, error)
        except EpisodicError as last:
            return last

    async def _call(self, method: str, params: JsonObject, retry: bool) -> Json:
        [answer] = await self._channel.call([(method, params)])
        if not isinstance(answer, EpisodicError):
            return answer
        if not retry:
            raise answer
        return await self._answer_to(method, params, answer)

    async def _answer_to(self, method: str, params: JsonObject, error: EpisodicError) -> Json:
        """Repeats a call that failed until an answer comes. Raises its last error."""
        attempts, answer = Attempts(self._waiting), error
        while isinstance(answer, EpisodicError):
            if (elsewhere := not_an_environment(answer, method)) is not None:
                raise elsewhere from answer
            await asyncio.sleep(attempts.pause_after(answer))
            [answer] = await self._channel.call([(method, params)])
        attempts.answered()
        return answer


def _settled(episode: AsyncEpisode, answer: Json | EpisodicError) -> Step | EpisodicError:
    try:
        if isinstance(answer, EpisodicError):
            episode._failed(answer)
            return answer
        episode._answered = True
        return episode._stepped(answer)
    except EpisodicError as malformed:
        return malformed


def connect_async(
    url: str = "http://127.0.0.1:7337/env",
    token: str | None = None,
    *,
    agent_url: str | None = None,
    timeout: float = 120.0,
    wait: float = 15.0,
) -> AsyncConnection:
    """Returns a connection for asyncio to the trainer endpoint of `episodic serve`. Connects at the first call.

    Arguments and errors are those of `connect`. It is always a WebSocket: an `http:` URL means the one at its address.
    """
    address = server_address(re.sub("^http", "ws", url), token, agent_url=agent_url, timeout=timeout)
    return AsyncConnection(address, wait)
