"""Repeats calls whose answer did not arrive."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from .errors import EpisodicError
from .json_types import Json, JsonObject
from .rpc import Channel

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 2.0


@dataclass(frozen=True)
class Retries:
    """The bounds of retries.

    Retries are safe: a step carries its `seq`, an open its request key, and closing twice is harmless, so the server
    answers a repeated call from what it has stored.
    """

    attempts: int = 20
    """The number of calls, the first one included; 1 means no retry."""
    seconds: float = 15.0
    """Seconds after the first lost answer in which a retry may start."""

    def call(self, channel: Channel, method: str, params: JsonObject) -> Json:
        """Returns the result of a call, repeated until an answer comes. Raises the error of the last call."""
        deadline: float | None = None
        for attempt in range(1, self.attempts + 1):
            try:
                return channel.call(method, params)
            except EpisodicError as error:
                if error.code not in ("connection-failed", "store-unavailable") or not error.retryable:
                    raise
                longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1))
                # Half of the pause is random, so that the clients of a server that failed do not all retry at once.
                wait = max(longest * (0.5 + random.random() / 2), error.retry_after)
                now = time.monotonic()
                deadline = now + self.seconds if deadline is None else deadline
                if attempt >= self.attempts or now + wait > deadline:
                    raise
                time.sleep(wait)
        raise EpisodicError("option-invalid", f"At least one attempt is needed, and attempts is {self.attempts}.")
