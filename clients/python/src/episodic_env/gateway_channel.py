"""Calls to `episodic gateway` as a trainer, over HTTP."""

from __future__ import annotations

from dataclasses import replace

from .errors import EpisodicError, unauthorized
from .http_channel import HttpChannel
from .json_types import Json, JsonObject
from .rpc import UNAUTHORIZED, decode, encode

REFUSED = {
    **{"invalid": "option-invalid", "differs": "option-invalid", "untraceable": "option-invalid"},
    **{"unknown": "session-not-found", "fenced": "fenced", "too-large": "too-large"},
}
"""By the code with which the gateway refuses."""
FAILED = 500
"""Statuses from here up say that the gateway failed: each call counts once, so it is repeated."""


class GatewayChannel(HttpChannel):
    """Sends each call to the path that its method names, such as `POST /lease`."""

    def call(self, method: str, params: JsonObject) -> Json:
        """See `Channel`."""
        verb, path = method.split(" ", 1)
        body, address = encode(params), replace(self._address, url=self._address.url + path)
        head = address.head(verb, "Content-Type: application/json", f"Content-Length: {len(body)}")
        answer, text = self._post(method, f"{head}\r\n".encode("ascii") + body)
        said, status = decode(text), answer.status
        if status < 300 and said is not None:
            return said
        if status == UNAUTHORIZED:
            raise unauthorized(self._address.url)
        error = (said or {}).get("error", {})
        code = REFUSED.get(error.get("code"), "connection-failed")
        message = error.get("message", f"{address.url} answered with HTTP status {status}.")
        raise EpisodicError(code, message, retryable=status >= FAILED)
