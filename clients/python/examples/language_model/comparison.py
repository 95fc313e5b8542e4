"""Draws trainings with several credits, and prints their table: `python comparison.py credits.svg lines.jsonl...`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any, TypeAlias

import matplotlib
from matplotlib import pyplot
from scipy.stats import t
from worlds import WORLDS

METHODS = {
    ("grpo", None): ("GRPO", "#868e96"),
    ("trees", None): ("trees", "#2b8a3e"),
    ("states", None): ("states", "#0b6bcb"),
    ("grpo", 8): ("GRPO, groups of 8", "#d9480f"),
}
"""Credits and sizes of groups, where it is not that of the world, with names and colors."""
TOKENS = WORLDS["frozen-lake"].tokens
TARGET = 0.5
"""The held-out return that the table has the sampled tokens to."""

Curve: TypeAlias = list[tuple[int, float]]
"""Held-out returns at each tenth of the tokens, and the tokens that were sampled by then."""


def main() -> None:
    """Reads lines of `train.py`, prints the table, and writes an SVG of held-out returns by sampled tokens."""
    target, *sources = sys.argv[1:]
    texts = [Path(source).read_text(encoding="utf-8").rstrip("\n") for source in sources]
    lines = [json.loads(line) for text in texts for line in text.split("\n")]
    seeds = sorted({line["seed"] for line in lines})
    curves = {method: [points(lines, *method, seed) for seed in seeds] for method in METHODS}
    print_table(curves)
    # The same lines give the same file, whose text is text.
    matplotlib.rcParams.update({"svg.hashsalt": "episodic", "svg.fonttype": "none", "font.size": 9})
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    for method, (name, color) in METHODS.items():
        found = [interval([value for _, value in tenth]) for tenth in zip(*curves[method], strict=True)]
        tokens = [tenth * TOKENS // 10 for tenth in range(11)]
        for curve in curves[method]:
            axes.plot(tokens, [value for _, value in curve], color=color, linewidth=0.5, alpha=0.6)
        axes.plot(tokens, [middle for middle, _, _ in found], color=color, label=name)
        axes.fill_between(tokens, [low for _, low, _ in found], [high for _, _, high in found], color=color, alpha=0.1)
    axes.set(xlabel="sampled tokens", ylabel="mean return, held-out", ylim=(0, 1))
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8)
    figure.savefig(target, metadata={"Date": None})


def points(lines: Sequence[dict[str, Any]], credit: str, group_size: int | None, seed: int) -> Curve:
    """Returns the curve of a training. An evaluation follows the batch that reaches a tenth of the tokens, or two."""
    evaluated = [
        (line["sampled_tokens"], line["return"])
        for line in lines
        if (line["credit"], line.get("group_size"), line["seed"]) == (credit, group_size, seed)
        and line["kind"] == "evaluation"
        and line["player"] in ("supervised", "grpo")
    ]
    return [next(point for point in evaluated if point[0] >= tenth * TOKENS // 10) for tenth in range(11)]


def print_table(curves: dict[tuple[str, int | None], list[Curve]]) -> None:
    """Prints a row for each method, in Markdown: returns at the end and throughout, and thousands of tokens to 0.5.

    Each return is followed by its difference to plain GRPO with the same seed, which has the same start.
    """
    plain = curves["grpo", None]
    for method, (name, _) in METHODS.items():
        columns = []
        for figure in (at_end, throughout):
            values = [figure(curve) for curve in curves[method]]
            than_plain = [value - figure(curve) for value, curve in zip(values, plain, strict=True)]
            columns += [text_of(values), text_of(than_plain)]
        reached = [next((count for count, value in curve if value >= TARGET), None) for curve in curves[method]]
        columns += [", ".join("never" if count is None else f"{count / 1000:.1f}" for count in reached)]
        print(f"| {' | '.join((name, *columns))} |", [f"{at_end(curve):.3f}" for curve in curves[method]])


def at_end(curve: Curve) -> float:
    """Returns the last return."""
    return curve[-1][1]


def throughout(curve: Curve) -> float:
    """Returns the mean of the returns at all tenths."""
    return mean(value for _, value in curve)


def text_of(values: Sequence[float]) -> str:
    """Returns a mean with its interval."""
    middle, low, high = interval(values)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Returns a mean, and the ends of its 95 % interval by Student's t."""
    half = float(t.ppf(0.975, len(values) - 1)) * stdev(values) / len(values) ** 0.5
    return mean(values), mean(values) - half, mean(values) + half


if __name__ == "__main__":
    main()
