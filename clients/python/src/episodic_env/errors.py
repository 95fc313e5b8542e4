"""The one class of error of the client, and its codes."""

from __future__ import annotations

from .json_types import JsonObject

WIRE_CODES = {
    -32700: "parse-error",
    -32600: "invalid-request",
    -32601: "method-not-found",
    -32602: "invalid-params",
    -32603: "internal",
    -32020: "header-mismatch",
    -32022: "unsupported-version",
    1401: "unauthorized",
    1402: "unknown-environment",
    1404: "session-not-found",
    1409: "episode-ended",
    1410: "seq-conflict",
    1411: "seq-reused",
    1412: "fenced",
    1413: "too-large",
    1414: "state-lost",
    1415: "replay-diverged",
    1416: "outcome-unknown",
    1417: "not-your-turn",
    1419: "not-recorded",
    1429: "capacity",
    1430: "rate-limited",
    1500: "environment-failed",
    1503: "store-unavailable",
}
"""The codes of errors that a server answers with, by their JSON-RPC number."""


class EpisodicError(Exception):
    """A call that failed. It is never a reward of 0 and never a truncated episode: count the episode as failed.

    `code` is what a program branches on: a code of the server (`WIRE_CODES`), or one of the client:

    - `connection-failed`: no answer came, also after retries. `retryable` is false if a retry would fail too.
    - `unauthorized`: the server does not know the control token, or got none.
    - `not-an-environment`: the server does not serve the trainer endpoint at this URL.
    - `reply-malformed`: the answer is not a valid one.
    - `not-playing`: a step after the end of the episode, or after `close`.
    - `option-invalid`: an argument is not possible.
    - `not-started`: `serve` could not start its server; the message says why.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        details: JsonObject | None = None,
        retryable: bool = True,
        retry_after: float = 0.0,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.details: JsonObject = details or {}
        self.retryable = retryable
        self.retry_after = retry_after
        """Seconds that the server asks a client to wait before it retries; 0 if it names none."""

    def __reduce__(self) -> tuple[object, ...]:
        """Keeps the code when the error crosses to another process."""
        return (_restore, (self.code, str(self), dict(self.details), self.retryable, self.retry_after))


def _restore(code: str, message: str, details: JsonObject, retryable: bool, retry_after: float) -> EpisodicError:
    return EpisodicError(code, message, details=details, retryable=retryable, retry_after=retry_after)


def unauthorized(url: str) -> EpisodicError:
    """Returns the error for a control token that the server does not take."""
    message = (
        f"The server at {url} does not know the control token, or got none. Give it as token=, or in the environment "
        "variable EPISODIC_CONTROL_TOKEN. A server draws a new token at each start, unless it is started with that "
        "variable, too."
    )
    return EpisodicError("unauthorized", message, retryable=False)


def malformed(message: str) -> EpisodicError:
    """Returns the error for an answer that is not a valid one."""
    return EpisodicError("reply-malformed", f"{message} The server may be of another version.", retryable=False)


def not_an_environment(error: EpisodicError, method: str) -> EpisodicError | None:
    """Returns the error for a server that has no trainer endpoint at its URL; None for any other error of a call."""
    if error.code != "method-not-found" or not method.startswith("environment/"):
        return None
    message = f"The server has no {method}: give the URL of its trainer endpoint, which ends in /env."
    return EpisodicError("not-an-environment", message, retryable=False)
