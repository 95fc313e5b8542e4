"""Draws trainings with several credits, and prints their table: `python comparison.py credits.svg lines.jsonl...`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import matplotlib
from matplotlib import pyplot
from scipy.stats import t

CREDITS = {"grpo": ("GRPO", "#868e96"), "trees": ("trees", "#2b8a3e"), "states": ("states", "#0b6bcb")}
TARGET = 0.5
"""The return whose sampled tokens the table has."""


def main() -> None:
    """Reads lines of `train.py`, and writes an SVG of held-out returns by sampled tokens: means with 95 % intervals."""
    target, *sources = sys.argv[1:]
    texts = [Path(source).read_text(encoding="utf-8").rstrip("\n") for source in sources]
    lines = [json.loads(line) for text in texts for line in text.split("\n")]
    # The same lines give the same file, whose text is text.
    matplotlib.rcParams.update({"svg.hashsalt": "episodic", "svg.fonttype": "none", "font.size": 9})
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    for credit, (name, color) in CREDITS.items():
        curves = [points(lines, credit, seed) for seed in sorted({line["seed"] for line in lines})]
        # Evaluations follow the first batch that reaches a tenth of the tokens, which differs by less than a batch.
        tokens = [mean(curve[place][0] for curve in curves) for place in range(len(curves[0]))]
        found = [interval([curve[place][1] for curve in curves]) for place in range(len(curves[0]))]
        axes.plot(tokens, [middle for middle, _, _ in found], color=color, label=name)
        axes.fill_between(tokens, [low for _, low, _ in found], [high for _, _, high in found], color=color, alpha=0.15)
        reached = [next((tokens for tokens, value in curve if value >= TARGET), None) for curve in curves]
        print(name, *(f"{number:.3f}" for number in interval([curve[-1][1] for curve in curves])), end=" ")
        print(
            *(f"{number:.3f}" for number in interval([mean(value for _, value in curve) for curve in curves])), end=" "
        )
        print([round(curve[-1][1], 3) for curve in curves], reached, [curve[-1][0] for curve in curves])
    axes.set(xlabel="sampled tokens", ylabel="mean return, held-out", ylim=(0, 1))
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8)
    figure.savefig(target, metadata={"Date": None})


def points(lines: Sequence[dict[str, Any]], credit: str, seed: int) -> list[tuple[int, float]]:
    """Returns the sampled tokens and the held-out return of each evaluation of a training."""
    of_training = [line for line in lines if line["credit"] == credit and line["seed"] == seed]
    return [
        (line["sampled_tokens"], line["return"])
        for line in of_training
        if line["kind"] == "evaluation" and line["player"] in ("supervised", "grpo")
    ]


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Returns a mean, and the ends of its 95 % interval by Student's t."""
    half = float(t.ppf(0.975, len(values) - 1)) * stdev(values) / len(values) ** 0.5
    return mean(values), mean(values) - half, mean(values) + half


if __name__ == "__main__":
    main()
