"""Waits for a server that does not answer, and repeats the call."""

from __future__ import annotations

import logging
import random
import threading
import time

from .errors import EpisodicError
from .json_types import Json, JsonObject
from .rpc import Channel
from .server_address import FOREVER

log = logging.getLogger("episodic_env")

PATIENCE = 600.0
"""Seconds that the adapters of trainers wait: a restart of the server costs a training nothing."""
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 2.0
SILENT = 5.0
"""Seconds without an answer after which a wait is logged."""
BETWEEN = 10.0
"""Seconds between two lines of the log about one server."""


class Waiting:
    """How long calls wait for a server that does not answer.

    Repeating a call is safe: a step carries its `seq`, an open its request key, and closing twice is harmless, so the
    server answers a repeated call from what it has stored. Threads may share one object.
    """

    def __init__(self, url: str, seconds: float) -> None:
        if not seconds >= 0:
            message = f"wait is {seconds}, and has to be a number of seconds from 0 up."
            raise EpisodicError("option-invalid", message, retryable=False)
        self.url = url
        self.seconds = min(seconds, FOREVER)
        self._lock = threading.Lock()
        self._said = float("-inf")
        self.last_lost = float("-inf")
        """When an answer was last missing, on the clock of `time.monotonic`."""

    def call(self, channel: Channel, method: str, params: JsonObject) -> Json:
        """Returns the result of a call, repeated until an answer comes.

        The first answer that is missing starts the wait. Raises the error of the last call once `seconds` are over.
        """
        attempts = Attempts(self)
        while True:
            try:
                result = channel.call(method, params)
            except EpisodicError as error:
                time.sleep(attempts.pause_after(error))
            else:
                attempts.answered()
                return result

    def say(self, now: float, began: float, error: EpisodicError) -> None:
        """Logs that a call waits, unless another one has said so a moment ago."""
        with self._lock:
            if now - began < SILENT or now - self._said < BETWEEN:
                return
            self._said = now
        until = time.strftime("%H:%M:%S", time.localtime(time.time() + began + self.seconds - now))
        log.warning("waiting for the server at %s since %d s, until %s: %s", self.url, now - began, until, error)


class Attempts:
    """The attempts of one call, by whatever means it pauses between them."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._pause = FIRST_PAUSE
        self._began: float | None = None

    def pause_after(self, error: EpisodicError) -> float:
        """Returns the seconds after which a failed call is repeated. Raises its error if it is not."""
        now = self._waiting.last_lost = time.monotonic()
        if error.code not in ("connection-failed", "store-unavailable") or not error.retryable:
            raise error
        began = self._began = now if self._began is None else self._began
        # Half of the pause is random, so that the clients of a server that failed do not all retry at once.
        pausing = max(self._pause * (0.5 + random.random() / 2), error.retry_after)
        if now + pausing > began + self._waiting.seconds:
            raise self._given_up(error) from error
        self._waiting.say(now, began, error)
        self._pause = min(LONGEST_PAUSE, self._pause * 2)
        return pausing

    def _given_up(self, error: EpisodicError) -> EpisodicError:
        """Returns the error of the last attempt, with how long it was tried, and how to wait longer."""
        waited = f"It was tried for {self._waiting.seconds:g} s: wait=<seconds> says for how long."
        return EpisodicError(
            error.code, f"{error} {waited}", details=error.details, retryable=True, retry_after=error.retry_after
        )

    def answered(self) -> None:
        """Logs that an answer came, if it took long."""
        if self._began is not None and (waited := time.monotonic() - self._began) > SILENT:
            log.warning("the server at %s answers again, after %d s", self._waiting.url, waited)
