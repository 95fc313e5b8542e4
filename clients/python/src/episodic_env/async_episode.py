"""One episode at the trainer endpoint, played by asyncio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from types import TracebackType
from typing import Any

from .end import End
from .environment_info import EnvironmentInfo
from .episode_account import EpisodeAccount
from .errors import EpisodicError
from .json_types import Json, JsonObject
from .session_account import VOIDING
from .step import Step

AsyncCall = Callable[[str, JsonObject, bool], Awaitable[Json]]
"""Calls a method with parameters; the last argument says whether to retry."""


class AsyncEpisode(EpisodeAccount):
    """An open session. Await one call at a time; any number of episodes may be played at once.

    Leaving its `async with` block closes it. What it has not, such as forks, `Episode` has: `Connection.attach` goes
    on with it, by its `handle`.
    """

    def __init__(self, call: AsyncCall, info: EnvironmentInfo, opened: Any, agent_url: str) -> None:
        super().__init__(info, opened, agent_url)
        self._call = call

    async def step(self, tool: str, arguments: JsonObject | None = None) -> Step:
        """Calls a tool of the environment; see `Episode.step`.

        A step that is cancelled while it is awaited may have been played: only the same one can follow.
        """
        request = self._step_request(tool, arguments)
        self._answered = False
        try:
            result = await self._call("tools/call", request, True)
        except EpisodicError as error:
            self._failed(error)
            raise
        self._answered = True
        return self._stepped(result)

    async def park(self) -> JsonObject:
        """Stops here, and returns what `AsyncConnection.resume` goes on from: in any process, and at any time.

        It is plain JSON with the private state: keep it where no player reads it. This object plays no further step,
        and closing it leaves nothing to be judged. Raises `not-playing` after the end.
        """
        self._check_playing()
        snapshot = (await self._call("environment/snapshot", self._named(), True))["snapshot"]
        self._over, self._void = "The episode is parked", True
        return {
            **{"snapshot": snapshot, "observation": asdict(self.observation)},
            **{"total": self.total, "summed": dict(self.summed)},
        }

    async def close(self) -> End | None:
        """Ends the episode on the server and returns how it ended; see `Episode.close`."""
        return await self._close()

    async def _close(self, *, given_up: bool = False) -> End | None:
        # No retries for a server that did not answer the last call: the session expires there.
        retry = self._answered
        judged = self._judges(given_up)
        if self._closing():
            try:
                self._closed(await self._call("environment/close", self._closing_request(judged), retry))
            except EpisodicError as error:
                # The session is closed or expired already, which matters if what it earned is lost with it.
                if judged or error.code not in VOIDING:
                    raise
        return self.end

    async def __aenter__(self) -> AsyncEpisode:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self._close(given_up=error is not None)
        except EpisodicError:
            # The error that left the block says more than the failure to close.
            if error is None:
                raise
