"""Draws the learning curves of trainings: `python figure.py curves.svg lines.jsonl...`."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import matplotlib
from matplotlib import pyplot
from matplotlib.axes import Axes
from scipy.stats import t as student

BLUE, ORANGE, GREEN, GREY = "#0b6bcb", "#d9480f", "#2b8a3e", "#868e96"
BASELINES = (("solver", GREEN), ("random", GREY))
NORMAL = 1.96


def main() -> None:
    """Reads lines of `train.py`, and writes an SVG: for each world the return, and the share of invalid calls."""
    target, *sources = sys.argv[1:]
    lines = [json.loads(line) for source in sources for line in Path(source).read_text(encoding="utf-8").splitlines()]
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
    figure.legend(*axes[0, 0].get_legend_handles_labels(), fontsize=8, loc="outside lower center", ncols=5)
    figure.savefig(target, metadata={"Date": None})


def draw(axes: Axes, lines: Sequence[dict[str, Any]], name: str) -> None:
    """Draws a figure of the episodes that GRPO learns from, and those of the players on held-out seeds."""
    by_iteration: dict[int, list[float]] = defaultdict(list)
    held_out: dict[str, list[float]] = defaultdict(list)
    errors: dict[str, float] = {}
    for line in lines:
        if line["kind"] == "iteration":
            # The episodes of an iteration are played before its updates.
            by_iteration[line["iteration"] - 1].append(line[name])
        elif line["kind"] == "evaluation" and name in line:
            held_out[line["player"]].append(line[name])
            if name == "return":
                errors[line["player"]] = line["standard_error"]
    iterations = sorted(by_iteration)
    means, halves = zip(*(interval(by_iteration[iteration]) for iteration in iterations), strict=True)
    low = [middle - half for middle, half in zip(means, halves, strict=True)]
    high = [middle + half for middle, half in zip(means, halves, strict=True)]
    axes.fill_between(iterations, low, high, color=BLUE, alpha=0.2, linewidth=0)
    axes.plot(iterations, means, color=BLUE, label="GRPO, episodes it learns from")
    for player, color in BASELINES:
        if player in held_out:
            axes.axhline(mean(held_out[player]), color=color, linestyle="--", linewidth=1, label=player)
    points = (("supervised", 0, ORANGE, "supervised, held-out"), ("grpo", len(iterations), BLUE, "GRPO, held-out"))
    for player, iteration, color, label in points:
        middle, half = interval(held_out[player])
        if len(held_out[player]) == 1:
            # One seed has no interval over seeds, but one over its episodes.
            half = NORMAL * errors.get(player, 0.0)
        axes.errorbar(iteration, middle, half, color=color, marker="o", markersize=4, capsize=3, label=label, zorder=3)
    axes.set_xlabel("iterations")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def interval(numbers: Sequence[float]) -> tuple[float, float]:
    """Returns the mean of one number for each seed, and half of its 95 % interval (Student's t), 0 for one seed."""
    if len(numbers) == 1:
        return numbers[0], 0.0
    quantile = float(student.ppf(0.975, len(numbers) - 1))
    return mean(numbers), quantile * stdev(numbers) / len(numbers) ** 0.5


if __name__ == "__main__":
    main()
