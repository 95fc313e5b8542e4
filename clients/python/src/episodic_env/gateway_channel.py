"""Calls to `episodic gateway` as a trainer, over HTTP."""

from __future__ import annotations

from dataclasses import replace

from .errors import EpisodicError, unauthorized
from .http_channel import HttpChannel
from .json_types import Json, JsonObject
from .rpc import UNAUTHORIZED, decode, encode

REFUSED = {400: "option-invalid", 404: "session-not-found", 409: "fenced", "differs": "option-invalid"}
"""By the status of an answer, or by the code of its error."""
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
        code = REFUSED.get(error.get("code"), REFUSED.get(status, "connection-failed"))
        message = error.get("message", f"{address.url} answered with HTTP status {status}.")
        raise EpisodicError(code, message, retryable=status >= FAILED)
