"""What servers and proxies may send, byte by byte."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import struct
import threading
from collections.abc import Callable

import pytest
from serving import LONG

from episodic_env import EpisodicError, connect

LISTED = {"environments": []}


class Peer:
    """A server that answers the requests of one connection after another in the way that a test names."""

    def __init__(self, answer: Callable[[socket.socket], None]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._answer = answer
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            with client:
                self._answer(client)

    def close(self) -> None:
        self._listener.close()


def body_of(client: socket.socket) -> dict[str, object] | None:
    """Reads one POST, and returns its body; None at the end of the connection."""
    received = b""
    while b"\r\n\r\n" not in received:
        more = client.recv(65_536)
        if not more:
            return None
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    found = re.search(rb"Content-Length: (\d+)", head)
    assert found is not None
    while len(body) < int(found[1]):
        body += client.recv(65_536)
    asked: dict[str, object] = json.loads(body)
    return asked


def answer_to(asked: dict[str, object]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": LISTED}).encode()


def chunked(body: bytes) -> list[bytes]:
    """An answer in chunks of seven bytes, with headers after the last one, in pieces of three bytes."""
    chunks = [body[at : at + 7] for at in range(0, len(body), 7)]
    text = b"".join(b"%x;note\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + text + b"0\r\nAfter: wards\r\n\r\n"
    return [whole[at : at + 3] for at in range(0, len(whole), 3)]


HTTP_ANSWERS = {
    "in chunks": (lambda body: chunked(body), 1),
    "after a hint": (
        lambda body: [
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
        ],
        1,
    ),
    "until its end": (lambda body: [b"HTTP/1.0 200 OK\r\n\r\n", body], 2),
    "and closed": (
        lambda body: [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body), body],
        2,
    ),
}


@pytest.mark.parametrize("form", HTTP_ANSWERS)
def test_reads_every_form_of_an_answer(form: str) -> None:
    pieces, connections = HTTP_ANSWERS[form]

    def answer(client: socket.socket) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while (asked := body_of(client)) is not None:
            for piece in pieces(answer_to(asked)):
                client.sendall(piece)
            if connections == 2:
                return

    peer = Peer(answer)
    with connect(f"http://127.0.0.1:{peer.port}/env", "token", wait=0) as connection:
        assert connection.environments() == {}
        connection._environments = None
        assert connection.environments() == {}
    peer.close()
    assert peer.connections == connections


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"x" * 100_000,
    ],
)
def test_what_is_no_whole_answer_is_a_lost_one(sent: bytes) -> None:
    def answer(client: socket.socket) -> None:
        body_of(client)
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        client.recv(1)

    peer = Peer(answer)
    with connect(f"http://127.0.0.1:{peer.port}/env", "token", wait=0) as connection:
        with pytest.raises(EpisodicError) as lost:
            connection.environments()
        assert (lost.value.code, lost.value.retryable) == ("connection-failed", True)
    peer.close()


def test_a_token_cannot_add_headers() -> None:
    with pytest.raises(EpisodicError) as refused:
        connect(token="token\r\nHost: elsewhere")
    assert refused.value.code == "option-invalid"


class Frames:
    """The server's side of a WebSocket."""

    def __init__(self, client: socket.socket) -> None:
        self._client = client
        self._received = b""
        while b"\r\n\r\n" not in self._received:
            self._received += client.recv(65_536)
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        found = re.search(rb"Sec-WebSocket-Key: (\S+)", head)
        assert found is not None
        digest = hashlib.sha1(found[1] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        accepted = b"Sec-WebSocket-Accept: " + base64.b64encode(digest)
        client.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" + accepted + b"\r\n\r\n")

    def send(self, first: int, payload: bytes) -> None:
        size = len(payload)
        head = bytes((first, size)) if size < 126 else struct.pack("!BBH", first, 126, size)
        # A byte at a time.
        for byte in head + payload:
            self._client.sendall(bytes((byte,)))

    def read(self) -> tuple[int, bytes] | None:
        """Returns the opcode and the payload of the next frame; None at the end."""
        if not self._has(2):
            return None
        opcode, size = self._take(1)[0] & 15, self._take(1)[0] & 127
        if size >= 126:
            size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
        mask = self._take(4)
        return opcode, bytes(byte ^ mask[at % 4] for at, byte in enumerate(self._take(size)))

    def asked(self) -> dict[str, object] | None:
        """Returns the next request; None at the end."""
        while (message := self.read()) is not None:
            asked: dict[str, object] = json.loads(message[1])
            if "id" in asked:
                return asked
        return None

    def _has(self, size: int) -> bool:
        while len(self._received) < size:
            more = self._client.recv(65_536)
            if not more:
                return False
            self._received += more
        return True

    def _take(self, size: int) -> bytes:
        assert self._has(size)
        taken, self._received = self._received[:size], self._received[size:]
        return taken


def test_reads_pieces_of_messages_and_answers_pings() -> None:
    pongs = []

    def answer(client: socket.socket) -> None:
        frames = Frames(client)
        while (asked := frames.asked()) is not None:
            body = answer_to({**asked, "padding": "x"})
            frames.send(0x01, body[:10])
            frames.send(0x89, b"are you there")
            frames.send(0x00, body[10:20])
            pongs.append(frames.read())
            frames.send(0x80, body[20:])

    peer = Peer(answer)
    with connect(f"ws://127.0.0.1:{peer.port}/env", "token", wait=0) as connection:
        assert connection.environments() == {}
    peer.close()
    assert pongs == [(10, b"are you there")] * 2


def test_a_socket_that_was_closed_while_it_was_idle_costs_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("episodic_env.websocket_channel.IDLE", 0.0)
    closed = threading.Semaphore(0)

    def answer(client: socket.socket) -> None:
        frames = Frames(client)
        for _ in range(2):
            asked = frames.asked()
            if asked is not None:
                frames.send(0x81, answer_to(asked))
        client.shutdown(socket.SHUT_WR)
        closed.release()

    peer = Peer(answer)
    with connect(f"ws://127.0.0.1:{peer.port}/env", "token", wait=0) as connection:
        assert connection.environments() == {}
        assert closed.acquire(timeout=LONG)
        connection._environments = None
        assert connection.environments() == {}
    peer.close()
    assert peer.connections == 2


@pytest.mark.parametrize("sent", [b"\xc1\x00", b"\x81\x7f" + b"\xff" * 8, b"\x88\x00"])
def test_what_is_no_frame_is_a_lost_connection(sent: bytes) -> None:
    def answer(client: socket.socket) -> None:
        frames = Frames(client)
        frames.asked()
        client.sendall(sent)
        client.recv(1)

    peer = Peer(answer)
    with connect(f"ws://127.0.0.1:{peer.port}/env", "token", wait=0) as connection:
        with pytest.raises(EpisodicError) as lost:
            connection.environments()
        assert (lost.value.code, lost.value.retryable) == ("connection-failed", True)
    peer.close()
