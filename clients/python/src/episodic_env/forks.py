"""Forks of an episode together with the conversation of its model at `episodic gateway`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from .episode import Episode
from .errors import EpisodicError
from .json_types import JsonObject
from .server_address import server_address

__all__ = ["Fork", "fork"]


@dataclass(frozen=True)
class Fork:
    """An episode that goes on from another one, and the session of the gateway with the same conversation."""

    episode: Episode
    session_id: str
    url: str
    """The root of an API for the agent that goes on: its next prompt begins with the tokens that were sampled."""
    api_key: str
    branch: list[int]
    """Which fork it is, and which ones those before it were, from 1."""
    answers: int
    """How many answers it shares: they are learned in the session that was forked."""


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
    steps: list[JsonObject] = [
        {"tool": step.tool, "arguments": step.arguments, "text": step.step.observation.text} for step in played
    ]
    root, secret = f"{gateway.rstrip('/')}/sessions", server_address(gateway, token).token
    held = _ask("POST", f"{root}/{quote(session_id)}/fork", secret, {"n": n, "steps": steps, "after": after})[
        "sessions"
    ]
    try:
        children = episode.fork(n, at=count, seed=seed)
    except EpisodicError:
        for each in held:
            _ask("DELETE", f"{root}/{quote(each['session_id'])}", secret)
        raise
    return [
        Fork(child, each["session_id"], each["url"], each["api_key"], each["fork"]["branch"], each["fork"]["answers"])
        for child, each in zip(children, held, strict=True)
    ]


def _ask(method: str, url: str, token: str | None, body: JsonObject | None = None) -> Any:
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
    request = Request(url, json.dumps(body).encode() if body else None, headers, method=method)
    try:
        with urlopen(request, timeout=120) as answer:
            return json.load(answer)
    except HTTPError as error:
        said = json.loads(error.read())["error"]["message"]
        raise EpisodicError("option-invalid", said, retryable=False) from error
    except URLError as error:
        message = f"The gateway at {url} does not answer: {error.reason}."
        raise EpisodicError("connection-failed", message, retryable=True) from error
