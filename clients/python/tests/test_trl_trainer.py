"""TRL's own `GRPOTrainer` plays a served environment, with a tiny random model: nothing is downloaded."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from serving import ROOT, Server, serving_gateway

from episodic_env import Task

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("trl") is None:
    pytest.skip("needs torch and trl: pnpm interop python trl-trainer", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("default")
HIGH = 20
EXAMPLE = ROOT / "clients/python/examples/asynchronous"


def tokenizer() -> Any:
    """Returns a tokenizer in which a whole call is one token, so that a random model makes calls."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from transformers import PreTrainedTokenizerFast
    from trl.chat_template_utils import qwen3_chat_template

    calls = [
        f"<tool_call>\n{json.dumps({'name': 'guess', 'arguments': {'value': value}})}\n</tool_call>"
        for value in range(1, HIGH + 1)
    ]
    words = Tokenizer(WordLevel({"<unk>": 0}, unk_token="<unk>"))
    words.pre_tokenizer = WhitespaceSplit()
    made = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", eos_token="<|im_end|>", pad_token="<pad>")
    made.add_tokens(["<|im_start|>", *calls])
    made.chat_template = qwen3_chat_template
    return made


def test_a_trainer_plays_learns_and_reports_the_returns_of_the_server(server: Server, tmp_path: Path) -> None:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM, set_seed
    from trl import GRPOConfig, GRPOTrainer

    from episodic_env.trl import dataset, environment

    set_seed(0)
    processing = tokenizer()
    config = Qwen3Config(
        vocab_size=len(processing),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        eos_token_id=processing.eos_token_id,
        pad_token_id=processing.pad_token_id,
    )
    model = Qwen3ForCausalLM(config)
    start = [parameter.detach().clone() for parameter in model.parameters()]
    served = environment("number-guessing", url=server.url, token=server.token)
    played: list[tuple[int, float]] = []

    class Guessing(served):  # type: ignore[misc, valid-type]
        def get_reward(self) -> float | None:
            # The server's own account of the episode, read before TRL opens the next one.
            assert self.episode is not None
            account = self.episode.played()
            played.append((len(account.steps), sum(entry.step.reward for entry in account.steps)))
            reward: float | None = super().get_reward()
            return reward

    tasks = [
        Task("number-guessing", {"high": HIGH, "maxGuesses": 6}, seed=str(seed), prompt="Guess.") for seed in range(4)
    ]
    trainer = GRPOTrainer(
        model,
        train_dataset=dataset(tasks),
        processing_class=processing,
        environment_factory=Guessing,
        args=GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=3,
            per_device_train_batch_size=8,
            num_generations=4,
            max_completion_length=64,
            learning_rate=1e-2,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            seed=0,
        ),
    )
    trainer.train()

    logged = [line for line in trainer.state.log_history if "reward" in line]
    assert len(logged) == 3
    assert len(played) == 3 * 8
    for number, line in enumerate(logged):
        batch = played[8 * number : 8 * number + 8]
        assert line["reward"] == pytest.approx(sum(reward for _, reward in batch) / 8, abs=1e-6)
    assert sum(steps for steps, _ in played) > 24
    assert any(not torch.equal(before, after) for before, after in zip(start, model.parameters(), strict=True))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def test_the_example_of_asynchronous_training_goes_through_its_steps(server: Server, tmp_path: Path) -> None:
    port = free_port()
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src"), "EPISODIC_CONTROL_TOKEN": server.token}
    with serving_gateway(tmp_path / "tokens", f"http://127.0.0.1:{port}/v1", server.token) as gateway:
        asked = ["--gateway", gateway]
        worker = subprocess.Popen(
            [sys.executable, str(EXAMPLE / "worker.py"), *asked, "--world", server.url, "--name", "one"], env=variables
        )
        try:
            command = [str(EXAMPLE / "train.py"), *asked, "--engine-port", str(port), "--steps", "3", "--groups", "2"]
            trained = subprocess.run(
                [sys.executable, *command, "--out", str(tmp_path)], env=variables, capture_output=True, text=True
            )
        finally:
            worker.kill()
            worker.wait()
    assert trained.returncode == 0, trained.stderr
    assert re.findall(r"^step (\d)", trained.stdout, re.MULTILINE) == ["0", "1", "2"]
