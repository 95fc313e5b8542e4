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
        self._url = url
        self._seconds = min(seconds, FOREVER)
        self._lock = threading.Lock()
        self._said = float("-inf")
        self.last_lost = float("-inf")
        """When an answer was last missing, on the clock of `time.monotonic`."""

    def call(self, channel: Channel, method: str, params: JsonObject) -> Json:
        """Returns the result of a call, repeated until an answer comes.

        The first answer that is missing starts the wait. Raises the error of the last call once `seconds` are over.
        """
        pause = FIRST_PAUSE
        began: float | None = None
        while True:
            try:
                result = channel.call(method, params)
            except EpisodicError as error:
                now = self.last_lost = time.monotonic()
                if error.code not in ("connection-failed", "store-unavailable") or not error.retryable:
                    raise
                began = now if began is None else began
                # Half of the pause is random, so that the clients of a server that failed do not all retry at once.
                pausing = max(pause * (0.5 + random.random() / 2), error.retry_after)
                if now + pausing > began + self._seconds:
                    raise
                self._say(now, began, error)
                time.sleep(pausing)
                pause = min(LONGEST_PAUSE, pause * 2)
            else:
                if began is not None and time.monotonic() - began > SILENT:
                    log.warning("the server at %s answers again, after %d s", self._url, time.monotonic() - began)
                return result

    def _say(self, now: float, began: float, error: EpisodicError) -> None:
        with self._lock:
            if now - began < SILENT or now - self._said < BETWEEN:
                return
            self._said = now
        until = time.strftime("%H:%M:%S", time.localtime(time.time() + began + self._seconds - now))
        log.warning("waiting for the server at %s since %d s, until %s: %s", self._url, now - began, until, error)
