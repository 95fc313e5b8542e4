"""The steps of a recorded episode that are played again, so that a player goes on after them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .episode_account import EpisodeAccount
from .errors import EpisodicError
from .json_types import JsonObject
from .step import Step
from .task import Task


@dataclass
class Before:
    """What comes before a step of a line."""

    task: Task
    shown: str
    """What the player reads at that step."""
    moves: list[tuple[str | None, Any]] = field(default_factory=list)
    """The start and each step, with the seed of new chance that comes before it; a last seed may be without a step."""

    def hand_over(self, episode: EpisodeAccount) -> None:
        """Lets the account of an episode begin here: what was played again earns nothing."""
        episode.opening = episode.observation = replace(episode.observation, text=self.shown)
        episode.total, episode.summed = 0.0, dict.fromkeys(episode.summed, 0.0)


def before(line: JsonObject, step: int, origins: Iterable[JsonObject]) -> Before:
    """Returns what comes before a step of a line, also in the lines it goes on from. Raises `option-invalid`."""
    known = {origin.get("seal"): origin for origin in origins}
    lines: list[Any] = [line]
    while (origin := lines[0].get("origin")) is not None:
        if origin["seal"] not in known:
            raise _invalid(f"The line goes on from one with the seal {origin['seal']}: give it in origins.")
        lines.insert(0, known[origin["seal"]])
    root = lines[0]
    if not isinstance(root.get("start"), dict):
        raise _invalid("What is to be continued is no line of an environment with one seat, as json.loads returns it.")
    found = Before(Task(root["environment"]["name"], root["params"], root["seed"]), "", [(None, root["start"])])
    begun, seed = 0, None
    for each in lines:
        origin = each.get("origin", {"step": 0, "seed": None})
        if origin["step"] > step:
            continue
        # New chance at a step stays for what goes on from the same step.
        begun, seed = origin["step"], origin["seed"] or (seed if origin["step"] == begun else None)
        branch = each.get("branch") or {"at": [], "seeds": []}
        drawn = {0: seed, **dict(zip(branch["at"], branch["seeds"], strict=True))}
        found.moves[begun + 1 :] = [(drawn.get(at), recorded) for at, recorded in enumerate(each["steps"])]
    if len(found.moves) <= step:
        raise _invalid(f"The line has {len(found.moves) - 1} steps, and {step} are to come before.")
    found.moves[step + 1 :] = [(seed, None)] if begun == step and seed is not None else []
    found.shown = (each["start"] if begun == step else found.moves[step][1])["observation"]["text"]
    return found


def check(number: int, recorded: Any, played: EpisodeAccount | Step) -> None:
    """Raises `replay-diverged` if a step, or as 0 the start, is not what it was, as far as it is known."""
    fields = [("observation.text", recorded["observation"]["text"], played.observation.text)]
    if isinstance(played, Step):
        fields.append(("stateHash", recorded["stateHash"] or played.state_hash, played.state_hash))
    for name, was, now in fields:
        if was != now:
            where = f"step {number}" if number else "the start"
            message = f"The server plays {where} otherwise: {name} was {was!r}, and is {now!r}."
            raise EpisodicError("replay-diverged", message, details={"step": number, "field": name}, retryable=False)
    if played.end is not None:
        raise _invalid(f"The episode ended with step {number}, so no step follows.")


def _invalid(message: str) -> EpisodicError:
    return EpisodicError("option-invalid", message, retryable=False)
