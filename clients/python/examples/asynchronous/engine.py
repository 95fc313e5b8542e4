"""A model in this process as a server of chat completions that returns token ids: what vLLM and SGLang are to a GPU."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

HIGH = 16
ROLES = ("user", "assistant", "tool")


def tokenizer() -> PreTrainedTokenizerFast:
    """Returns one that knows the numbers and hints of number-guessing, and in which a call of its tool is one token."""
    known = ["<unk>", "<pad>", "<end>", *(f"<{role}>" for role in ROLES), "higher", "lower"]
    known += [*map(str, range(1, HIGH + 1)), *(f"guess({value})" for value in range(1, HIGH + 1))]
    words = Tokenizer(WordLevel({word: place for place, word in enumerate(known)}, unk_token="<unk>"))
    words.pre_tokenizer = Split(Regex(r"\s+|[.,:]"), "removed")
    return PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", pad_token="<pad>", eos_token="<end>")


def small_model(words: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    """Returns a transformer of random numbers."""
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "head_dim": 16}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
    ids = {"eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    return Qwen3ForCausalLM(Qwen3Config(vocab_size=len(words), **sizes, **heads, **ids))


def serve(model: Qwen3ForCausalLM, words: PreTrainedTokenizerFast, port: int) -> ThreadingHTTPServer:
    """Serves a model at a port, in threads of this process."""
    lock = threading.Lock()

    def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
        # The gateway hands back what was sampled, so that the prompt begins with exactly these tokens.
        last = max((place for place, each in enumerate(messages) if "generation_token_ids" in each), default=-1)
        before = messages[last]["prompt_token_ids"] + messages[last]["generation_token_ids"] if last >= 0 else []
        text = " ".join(f"<{each['role']}> {each.get('content') or ''}" for each in messages[last + 1 :])
        prompt = before + words.encode(f"{text} <assistant>")
        with lock, torch.no_grad():
            scores = torch.log_softmax(model(torch.tensor([prompt])).logits[0, -1], -1)
            token = int(torch.multinomial(scores.exp(), 1))
        said = words.decode([token])
        called = re.fullmatch(r"guess\((\d+)\)", said)
        function = {"name": "guess", "arguments": json.dumps({"value": int(called[1])}) if called else "{}"}
        calls = [{"id": f"call_{len(messages)}", "type": "function", "function": function}] if called else []
        message = {"role": "assistant", "content": None if called else said, "tool_calls": calls}
        logprobs = {"content": [{"token": said, "logprob": float(scores[token])}]}
        finish = "tool_calls" if called else "stop"
        choice = {"index": 0, "message": message, "finish_reason": finish, "token_ids": [token], "logprobs": logprobs}
        usage = {"prompt_tokens": len(prompt), "completion_tokens": 1, "total_tokens": len(prompt) + 1}
        return {"object": "chat.completion", "prompt_token_ids": prompt, "choices": [choice], "usage": usage}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps({"model": asked["model"], **answer(asked["messages"])}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
