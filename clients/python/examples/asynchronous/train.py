"""Trains a small model with TRL's `GRPOTrainer` on rollouts that workers play meanwhile, through `episodic gateway`."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from statistics import fmean
from typing import Any

import torch
from datasets import Dataset
from engine import HIGH, serve, small_model, tokenizer
from transformers import TrainerCallback, set_seed
from trl import GRPOConfig, GRPOTrainer

from episodic_env import Rollouts, Task
from episodic_env.samples import Sample, samples_of, to_trl

ATTEMPTS = 8
AHEAD = 2
"""Steps for which groups are added before: so many updates may lie between a sample and its use."""


def rows_of(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Yields a row for each prompt, as GRPOTrainer wants: of a void rollout, one without a token that is learned."""
    for _, each in groupby(samples, key=lambda sample: sample.group):
        own = list(each)
        assert len(own) <= ATTEMPTS, "A rollout in several sequences has more rows than prompts."
        yield from own
        masked = {**own[0].sequence, "response_mask": [0] * len(own[0].sequence["response_ids"])}
        nothing = replace(own[0], sequence=masked, reward=fmean(sample.reward for sample in own))
        yield from [nothing] * (ATTEMPTS - len(own))


def main(gateway: str, engine_port: int, steps: int, groups: int, out: str, run: str) -> None:
    """Trains so many steps, each with so many groups. `run` begins the names of these at the gateway."""
    set_seed(0)
    torch.set_num_threads(1)
    words = tokenizer()
    model = small_model(words)
    serve(model, words, engine_port)
    rollouts = Rollouts(gateway)
    earned: list[float] = []

    async def next_batch(step: int) -> list[dict[str, Any]]:
        for ahead in range(step, min(step + AHEAD, steps)):
            for each in range(groups):
                # The same group again is no other one, so a trainer that was killed may add all of them again.
                name = f"{run}.step-{ahead}.{each}"
                await rollouts.add(name, Task("number-guessing", {"high": HIGH}, name), ATTEMPTS)
        return await rollouts.batch(f"{run}.batch-{step}", groups)

    def rollout_func(prompts: list[Any], trainer: GRPOTrainer) -> dict[str, list[Any]]:
        batch = asyncio.run(next_batch(trainer.state.global_step))
        samples = list(samples_of(batch))
        earned.append(sum(each.reward for each in samples) / len(samples))
        named = {each for one in samples for each in one.sequence["response_versions"] if each}
        versions = ", ".join(map(str, sorted(int(each.split("-")[1]) for each in named)))
        print(f"step {trainer.state.global_step}: mean return {earned[-1]:.3f}, sampled by {versions}")
        return to_trl(list(rows_of(samples)))

    class ChangingWeights(TrainerCallback):
        """Holds calls of agents back while the optimizer changes the weights that the engine samples with."""

        def on_train_begin(self, *_: Any, **__: Any) -> None:
            asyncio.run(rollouts.load("weights-0"))

        def on_pre_optimizer_step(self, *_: Any, **__: Any) -> None:
            asyncio.run(rollouts.hold())

        def on_step_end(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
            asyncio.run(rollouts.load(f"weights-{state.global_step}"))
            asyncio.run(rollouts.discard(f"{run}.batch-{state.global_step - 1}"))

    trainer = GRPOTrainer(
        model=model,
        processing_class=words,
        reward_funcs=lambda reward, **_: reward,
        train_dataset=Dataset.from_dict({"prompt": ["The rollouts say what was played."] * groups * steps}),
        rollout_func=rollout_func,
        callbacks=[ChangingWeights()],
        args=GRPOConfig(
            output_dir=out,
            per_device_train_batch_size=groups * ATTEMPTS,
            num_generations=ATTEMPTS,
            max_steps=steps,
            learning_rate=2e-3,
            lr_scheduler_type="constant",
            beta=0.0,
            temperature=1.0,
            report_to="none",
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
            use_cpu=True,
        ),
    )
    trainer.train()
    fifth = max(1, steps // 5)
    print(f"first {fifth} steps {sum(earned[:fifth]) / fifth:.3f}, last {fifth} {sum(earned[-fifth:]) / fifth:.3f}")


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--gateway", default="http://127.0.0.1:7338")
    options.add_argument("--engine-port", type=int, default=8000)
    options.add_argument("--steps", type=int, default=20)
    options.add_argument("--groups", type=int, default=4)
    options.add_argument("--out", default="trained")
    options.add_argument("--run", default="first", help="another one for each training at one gateway")
    main(**vars(options.parse_args()))
