"""A server of OpenAI's chat completions, whose model halves the range of number-guessing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar


class Halving(BaseHTTPRequestHandler):
    """Answers chat completions, with streaming, from the conversation alone."""

    before_answers: ClassVar[list[Callable[[], object]]] = []
    """What happens before each of the first answers."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = "\n".join(json.dumps(message) for message in body["messages"])
        [(low, high)] = {(int(a), int(b)) for a, b in re.findall(r"whole number from (\d+) to (\d+)", texts)}
        for hint, value in re.findall(r"The number is (higher|lower) than (\d+)", texts):
            low, high = (max(low, int(value) + 1), high) if hint == "higher" else (low, min(high, int(value) - 1))
        call = {"name": "guess", "arguments": json.dumps({"value": (low + high) // 2})}
        if self.before_answers:
            self.before_answers.pop(0)()
        delta: dict[str, Any] = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": f"call_{len(body['messages'])}", "type": "function", "function": call}],
        }
        if "you found the number" in texts:
            delta = {"role": "assistant", "content": "Found."}
        finish = "stop" if "content" in delta else "tool_calls"
        self._answer(body, delta, finish)

    def _answer(self, body: dict[str, Any], delta: dict[str, Any], finish: str) -> None:
        common = {"id": "chat", "created": 0, "model": body["model"]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        # Each letter is a token, so that a prompt begins with exactly what was sampled before.
        ids = list(map(ord, _text_of(delta)))
        said = [f"<{message['role']}>{_text_of(message)}" for message in body["messages"]]
        tokens = {"token_ids": ids, "logprobs": {"content": [{"token": "x", "logprob": -0.5} for _ in ids]}}
        self.send_response(200)
        if body.get("stream"):
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for choices in (
                [{"index": 0, "delta": delta, "finish_reason": None}],
                [{"index": 0, "delta": {}, "finish_reason": finish}],
            ):
                chunk = {**common, "object": "chat.completion.chunk", "choices": choices, "usage": usage}
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")
            return
        message = {"content": None, **delta}
        choice = {"index": 0, "message": message, "finish_reason": finish, **tokens}
        whole = {"object": "chat.completion", "choices": [choice], "usage": usage}
        prompt = list(map(ord, "".join(said) + "<assistant>"))
        answer = json.dumps({**common, **whole, "prompt_token_ids": prompt}).encode()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def _text_of(message: dict[str, Any]) -> str:
    calls = "".join(call["function"]["arguments"] for call in message.get("tool_calls") or [])
    content = message.get("content") or ""
    return (content if isinstance(content, str) else json.dumps(content)) + calls
