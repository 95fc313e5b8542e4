"""Where a server is, and what a client says of itself with each request."""

from __future__ import annotations

import os
import re
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from .errors import EpisodicError

FOREVER = 1e9
"""Seconds of a wait without an end, some 30 years: a date can still be told from it."""


@dataclass(frozen=True)
class ServerAddress:
    """A trainer endpoint and its token."""

    url: str
    token: str | None
    agent_url: str
    timeout: float
    """Seconds until a call without an answer counts as lost."""

    @property
    def web_socket(self) -> bool:
        """Whether the URL is that of a WebSocket."""
        return self.url.startswith("ws")

    @property
    def secure(self) -> bool:
        """Whether the connection is encrypted."""
        return self.url.startswith(("https:", "wss:"))

    @property
    def host(self) -> str:
        """The host, without brackets."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """The port that the URL names, or that of its scheme."""
        return urlsplit(self.url).port or (443 if self.secure else 80)

    def head(self, method: str, *headers: str) -> str:
        """Returns the head of a request, with the token, up to its last header."""
        parts = urlsplit(self.url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        first = [f"{method} {path} HTTP/1.1", f"Host: {parts.netloc.rpartition('@')[2]}"]
        token = [f"Authorization: Bearer {self.token}"] if self.token else []
        return "".join(f"{line}\r\n" for line in (*first, *token, *headers))

    def connected(self) -> socket.socket:
        """Returns a new connection whose calls end after the timeout. Raises OSError."""
        opened = socket.create_connection((self.host, self.port), self.timeout)
        try:
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self.context().wrap_socket(opened, server_hostname=self.host) if self.secure else opened
        except BaseException:
            opened.close()
            raise

    def context(self) -> ssl.SSLContext:
        """Returns what an encrypted connection checks."""
        return ssl.create_default_context()


def server_address(
    url: str, token: str | None = None, *, agent_url: str | None = None, timeout: float = 120.0
) -> ServerAddress:
    """Checks what `connect` was given, and finds the token. Raises `option-invalid`."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https", "ws", "wss") or not parts.hostname:
        message = f"{url} is no URL of a trainer endpoint. It looks like http://127.0.0.1:7337/env."
        raise EpisodicError("option-invalid", message, retryable=False)
    if not timeout > 0:
        message = f"timeout is {timeout}, and has to be a number of seconds above 0."
        raise EpisodicError("option-invalid", message, retryable=False)
    token = token or os.environ.get("EPISODIC_CONTROL_TOKEN") or _local_token(url)
    if token and parts.scheme in ("http", "ws") and not _is_local(url) and not os.environ.get("EPISODIC_PLAIN_HTTP"):
        message = (
            f"The control token would be sent to {parts.hostname} without encryption. Give an https: or wss: URL, or "
            "set EPISODIC_PLAIN_HTTP=1 where that network is your own."
        )
        raise EpisodicError("option-invalid", message, retryable=False)
    if token and not re.fullmatch(r"[\x21-\x7e]+", token):
        raise EpisodicError("option-invalid", "The control token has a character that no token has.", retryable=False)
    agent = agent_url or _agent_url_beside(url)
    # Sockets take no infinite number.
    return ServerAddress(url, token, agent.rstrip("/"), min(timeout, FOREVER))


def _agent_url_beside(url: str) -> str:
    parts = urlsplit(url)
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    return urlunsplit((scheme, parts.netloc, re.sub(r"/env/?$", "", parts.path) + "/mcp", "", ""))


def _local_token(url: str) -> str | None:
    """Returns the token that a server on this machine wrote for its port, if there is one."""
    parts = urlsplit(url)
    if not _is_local(url):
        return None
    home = os.environ.get("EPISODIC_HOME")
    folder = Path(home) if home else Path.home() / ".episodic"
    port = parts.port or (443 if parts.scheme in ("https", "wss") else 80)
    try:
        return (folder / f"control-{port}.token").read_text(encoding="utf-8").strip()
    except OSError:
        return None


def _is_local(url: str) -> bool:
    return re.fullmatch(r"localhost|127(\.\d+){3}|::1", urlsplit(url).hostname or "") is not None
