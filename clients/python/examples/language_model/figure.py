"""Draws the learning curves of trainings: `python figure.py curves.svg lines.jsonl...`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes

ORANGE, GREEN, GREY = "#d9480f", "#2b8a3e", "#868e96"
BLUES = ("#0b3d91", "#0b6bcb", "#4dabf7")
"""Of the seeds."""
BASELINES = (("solver", GREEN), ("random", GREY))
NORMAL = 1.96


def main() -> None:
    """Reads lines of `train.py`, and writes an SVG: for each world the return, and the share of invalid calls."""
    target, *sources = sys.argv[1:]
    # Not `splitlines`: a text may have separators of lines that are no ends of lines.
    texts = [Path(source).read_text(encoding="utf-8").rstrip("\n") for source in sources]
    lines = [json.loads(line) for text in texts for line in text.split("\n")]
    worlds = list(dict.fromkeys(line["world"] for line in lines))
    # The same lines give the same file, whose text is text.
    matplotlib.rcParams.update({"svg.hashsalt": "episodic", "svg.fonttype": "none", "font.size": 9})
    figure, axes = pyplot.subplots(len(worlds), 2, figsize=(8, 2.9 * len(worlds)), layout="constrained", squeeze=False)
    for world, (returns, invalid) in zip(worlds, axes, strict=True):
        of_world = [line for line in lines if line["world"] == world]
        draw(returns, of_world, "return")
        returns.set(title=world, ylabel="mean return")
        draw(invalid, of_world, "invalid_rate")
        invalid.set(title=f"{world}: invalid calls", ylabel="invalid calls / calls", ylim=(0, None))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=8, loc="outside lower center", ncols=6)
    figure.savefig(target, metadata={"Date": None})


def draw(axes: Axes, lines: Sequence[dict[str, Any]], name: str) -> None:
    """Draws a figure of each seed: of the episodes that GRPO learns from, and of the players on held-out seeds.

    Returns have a 95 % interval over the held-out episodes.
    """
    seeds = list(dict.fromkeys(line["seed"] for line in lines))
    held_out = [line for line in lines if line["kind"] == "evaluation" and name in line]
    for player, color in BASELINES:
        found = [line[name] for line in held_out if line["player"] == player]
        if found:
            axes.axhline(mean(found), color=color, linestyle="--", linewidth=1, label=player)
    for number, seed in enumerate(seeds):
        # The episodes of an iteration are played before its updates.
        points = {
            line["iteration"] - 1: line[name] for line in lines if line["kind"] == "iteration" and line["seed"] == seed
        }
        color = BLUES[number % len(BLUES)]
        axes.plot(list(points), smooth(list(points.values())), color=color, linewidth=1.2, label=f"GRPO, seed {seed}")
        for player, place, shade in (("supervised", 0, ORANGE), ("grpo", len(points), color)):
            for line in held_out:
                if line["player"] == player and line["seed"] == seed:
                    half = NORMAL * line["standard_error"] if name == "return" else 0.0
                    label = "before GRPO, held-out" if player == "supervised" and number == 0 else None
                    axes.errorbar(
                        place, line[name], half, color=shade, marker="o", markersize=4, capsize=3, zorder=3, label=label
                    )
    axes.set_xlabel("iterations")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def smooth(numbers: Sequence[float]) -> list[float]:
    """Returns for each number the mean of those around it: two before, itself and two after."""
    return [mean(numbers[max(0, place - 2) : place + 3]) for place in range(len(numbers))]


if __name__ == "__main__":
    main()
