"""Rollouts of a trainer at `episodic gateway`, which outlive weights and processes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import quote

from .async_connection import AsyncConnection
from .async_episode import AsyncEpisode
from .errors import EpisodicError, malformed
from .gateway_channel import GatewayChannel
from .json_types import Json, JsonObject
from .server_address import server_address
from .task import Task, task_of
from .waiting import PATIENCE, Waiting

LEASE = 60.0
"""Seconds for which a lease holds unless it is renewed."""
THREADS = 32
"""Most calls of one object at once."""


class Rollouts:
    """The rollouts of one gateway, for many tasks. A call whose answer is lost is repeated, and counts once.

    `token` is the control token, which is found as by `connect`; `wait` the seconds in which a call is repeated.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 120.0, wait: float = PATIENCE) -> None:
        self._channel = GatewayChannel(server_address(url, token, timeout=timeout))
        # Those of asyncio may all wait for a model, and a lease has to be renewed meanwhile.
        self._threads = ThreadPoolExecutor(THREADS, "episodic-rollouts")
        self._waiting = Waiting(url, wait)

    async def add(
        self, group: str, task: Task, attempts: int, *, close: JsonObject | None = None, staleness: int | None = None
    ) -> None:
        """Adds a group of rollouts of one task. The same one again is no other; another of its name is refused.

        `close` says when it is handed out: `{"first": 6}`, `{"seconds": 600}` or `{"updates": 2}`, with
        `"others": "end"` for those that have not ended by then; by default when all have ended. `staleness` is the most
        updates of the weights since the first lease of a rollout; by default any number.
        """
        played = {**asdict(task), "environment": {"name": task.environment}}
        bounds: JsonObject = {} if staleness is None else {"staleness": staleness}
        request = {"group_id": group, "task": played, "attempts": attempts, "close": close or {}, **bounds}
        await self.call("POST /groups", request)

    async def lease(self, seconds: float = LEASE, *, key: str | None = None) -> Rollout | None:
        """Leases the oldest rollout that nobody plays; None if there is none. The same `key` takes its lease over."""
        request: JsonObject = {"seconds": seconds, "key": key or secrets.token_urlsafe(12)}
        leased = (await self.call("POST /lease", request))["rollout"]
        return leased and Rollout(**leased, rollouts=self, seconds=seconds)

    async def resume(self, session: str, seconds: float = LEASE, *, key: str | None = None) -> Rollout:
        """Leases one rollout, such as one that this process has parked. Raises `fenced` while another worker has it.

        The same `key` takes its lease over.
        """
        request: JsonObject = {"seconds": seconds, "key": key or secrets.token_urlsafe(12)}
        leased = (await self.call(f"POST /sessions/{quote(session, safe='')}/resume", request))["rollout"]
        return Rollout(**leased, rollouts=self, seconds=seconds)

    async def batch(
        self, batch: str, groups: int, *, leave_out_equal: bool = False, poll: float = 0.25
    ) -> list[dict[str, Any]]:
        """Waits until so many groups are complete, and returns them with their sequences, the oldest first.

        The same `batch` gets the same groups, also after a restart of the trainer, until it is discarded: then it is
        `fenced`. Groups whose rewards are all equal or missing have `left_out`, and do not count.
        """
        request: JsonObject = {"batch_id": batch, "groups": groups, "leave_out_equal": leave_out_equal}
        while True:
            found: list[dict[str, Any]] | None = (await self.call("POST /batches", request))["groups"]
            if found is not None:
                return found
            await asyncio.sleep(poll)

    async def discard(self, batch: str) -> None:
        """Discards the tokens of a batch that is learned. No other batch may have its name."""
        await self.call(f"DELETE /batches/{quote(batch, safe='')}", {})

    async def hold(self) -> None:
        """Holds calls of agents back, and waits until the engine has none in flight: the weights are to change."""
        while (await self.call("PUT /weights", {}))["in_flight"]:
            pass

    async def load(self, version: str) -> None:
        """Lets calls pass, to weights of this version."""
        await self.call("PUT /weights", {"version": version})

    async def call(self, method: str, body: JsonObject) -> dict[str, Any]:
        """Calls a route, such as `GET /groups`. Raises `EpisodicError`."""
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._threads, self._waiting.call, self._channel, method, body)
        if not isinstance(answer, dict):
            raise malformed(f"The answer to {method} is no object.")
        return answer


@dataclass
class Rollout:
    """A rollout that this worker has leased. Leaving its `async with` block by an error ends it as void.

    In the block the lease is renewed. Who is cancelled there ends nothing: the lease runs out, and another worker goes
    on. So does another one after a kill.
    """

    session_id: str
    url: str = field(repr=False)
    """The base URL of the model for an agent of this rollout. It is a secret, and so is `api_key`."""
    api_key: str = field(repr=False)
    group_id: str
    attempt: int
    lease: int
    task: JsonObject
    note: dict[str, Any] | None
    """What the worker that parked it has left; None at first."""
    rollouts: Rollouts = field(repr=False)
    seconds: float = LEASE
    _renewing: asyncio.Task[None] | None = field(default=None, repr=False)

    async def open(self, worlds: AsyncConnection) -> AsyncEpisode:
        """Opens its episode where it was parked, or else at the start of its task, whose seed all attempts share."""
        if self.note is not None and "parked" in self.note:
            return await worlds.resume(self.note["parked"])
        return await worlds.open(task_of(self.task), seed=self.task.get("seed") or self.group_id)

    async def park(self, episode: AsyncEpisode | None = None, note: JsonObject | None = None) -> None:
        """Gives it back with a note for the next worker, and with its episode, which goes on elsewhere at any time."""
        parked = {} if episode is None else {"parked": await episode.park()}
        await self._do("park", note={**(note or {}), **parked})

    async def finish(self, reward: float, steps: Sequence[JsonObject] | None = None) -> None:
        """Ends it with what its episode earned. Raises `fenced` if another worker has it, or it is not needed.

        With all `steps` of its world, each by `episodic_env.forks.reported`, its sequences have the credit of each
        answer. Raises `option-invalid` if they do not fit the answers; then it goes on: catch that in its
        `async with` block, and finish it without them.
        """
        await self._do("finish", reward=reward, **({} if steps is None else {"steps": list(steps)}))

    async def abandon(self, reason: str) -> None:
        """Ends it as void: a fault is no reward of 0."""
        await self._do("abandon", reason=reason[:1_000] or "abandoned")

    async def __aenter__(self) -> Rollout:
        self._renewing = asyncio.create_task(self._renew())
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
        # One that is parked or over by now stays so.
        if isinstance(error, Exception):
            with suppress(EpisodicError):
                await self.abandon(f"{type(error).__name__}: {error}")

    async def _renew(self) -> None:
        with suppress(EpisodicError):
            while True:
                await asyncio.sleep(self.seconds / 3)
                await self._do("renew", seconds=self.seconds)

    async def _do(self, what: str, **body: Json) -> None:
        await self.rollouts.call(f"POST /sessions/{self.session_id}/{what}", {"lease": self.lease, **body})
