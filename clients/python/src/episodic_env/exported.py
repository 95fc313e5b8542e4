"""Lines of `episodic export --format sequences` as the groups that `episodic_env.samples` reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def groups_of(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the groups of lines, as `samples_of` takes them: those with a reward, in the order of the file.

    With `--advantages` the `sequence` of each sample has `response_advantages`, one for each token: learn with these in
    place of the `advantage` of the episode.
    """
    groups: dict[str, dict[str, Any]] = {}
    for line in lines:
        if line["reward"] is None:
            continue
        rollouts = groups.setdefault(line["group"], {})
        place = {"session_id": line["episode"], "attempt": line["attempt"], "reward": line["reward"]}
        rollouts.setdefault(line["episode"], {**place, "sequences": []})["sequences"].append(line)
    return [
        {"group_id": name, "rewards": [each["reward"] for each in own.values()], "rollouts": [*own.values()]}
        for name, own in groups.items()
    ]
