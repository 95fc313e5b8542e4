"""Forks of an episode together with the conversation of its model at `episodic gateway`."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote

from .episode import Episode
from .errors import EpisodicError
from .gateway_channel import GatewayChannel
from .json_types import Json, JsonObject
from .server_address import server_address
from .step import Step

__all__ = ["Fork", "fork", "reported"]


@dataclass(frozen=True)
class Fork:
    """An episode that goes on from another one, and the session of the gateway with the same conversation."""

    episode: Episode
    session_id: str
    url: str = field(repr=False)
    """The root of an API for the agent that goes on: its next prompt begins with the tokens that were sampled.

    It is a secret, and so is `api_key`.
    """
    api_key: str = field(repr=False)
    branch: list[int]
    """Which fork it is, and which ones those before it were, from 1."""
    answers: int
    """How many answers it shares: they are learned in the session that was forked."""


def reported(tool: str, arguments: JsonObject, step: Step) -> JsonObject:
    """Returns a step of the world as the gateway matches it with answers: for `Rollout.finish`, and for forks."""
    earned: JsonObject = {"text": step.observation.text, "reward": step.reward, "state_hash": step.state_hash}
    return {"tool": tool, "arguments": arguments, **earned}


def fork(
    episode: Episode,
    session_id: str,
    n: int = 1,
    *,
    gateway: str,
    at: int | None = None,
    seed: str | None = None,
    token: str | None = None,
) -> list[Fork]:
    """Forks world, kept answers and tokens together, after step `at` of an episode: `n` children that go on from there.

    `session_id` is the session of the gateway at the URL `gateway` that plays the episode. `seed` gives each world
    random streams of its own. The caller closes the episodes. `token` is the control token of the gateway, as `connect`
    finds it.

    Raises `option-invalid` and opens nothing if the kept answers do not lead to the first `at` steps of the world, and
    `connection-failed`.
    """
    count = episode.seq if at is None else at
    # The log of a world that was forked begins there.
    played = [step for step in episode.played().steps if step.step.seq <= count]
    after = played[0].step.seq - 1 if played else count
    steps: list[Json] = [reported(each.tool, each.arguments, each.step) for each in played]
    with closing(GatewayChannel(server_address(gateway.rstrip("/"), token))) as channel:
        path = f"POST /sessions/{quote(session_id, safe='')}/fork"
        forked = channel.call(path, {"n": n, "steps": steps, "after": after})
        held: list[dict[str, Any]] = cast("dict[str, Any]", forked)["sessions"]
        try:
            children = episode.fork(n, at=count, seed=seed)
        except EpisodicError:
            for each in held:
                channel.call(f"DELETE /sessions/{quote(each['session_id'], safe='')}", {})
            raise
    return [
        Fork(child, each["session_id"], each["url"], each["api_key"], each["fork"]["branch"], each["fork"]["answers"])
        for child, each in zip(children, held, strict=True)
    ]
