"""The steps of a recorded episode that are played again, so that a player goes on after them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .episode_account import EpisodeAccount
from .errors import EpisodicError
from .json_types import JsonObject
from .observation import Observation
from .step import Step
from .task import Task


@dataclass
class Before:
    """What comes before a step of a line."""

    task: Task
    start: str
    """What the player read first."""
    shown: str | None = None
    """What it reads in place of the last answer; None for that answer."""
    moves: list[tuple[str | None, Any]] = field(default_factory=list)
    """The steps, each with the seed of the chance that is new there; a last one without a step may have a seed."""

    def check_start(self, observation: Observation) -> None:
        """Raises `replay-diverged` if the world begins otherwise than it did."""
        _compare(0, "observation.text", self.start, observation.text)

    def handed_over(self, episode: EpisodeAccount) -> None:
        """Lets the account of an episode begin here: what was played again earns nothing."""
        if self.shown is not None:
            episode.observation = replace(episode.observation, text=self.shown)
        episode.opening = episode.observation
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
    found = Before(
        Task(root["environment"]["name"], root["params"], root["seed"]), root["start"]["observation"]["text"]
    )
    begun, seed = 0, None
    for each in lines:
        origin = each.get("origin", {"step": 0, "seed": None})
        if origin["step"] > step:
            continue
        # New chance at a step stays for what goes on from the same step.
        begun, seed = origin["step"], origin["seed"] or (seed if origin["step"] == begun else None)
        branch = each.get("branch") or {"at": [], "seeds": []}
        drawn = {0: seed, **dict(zip(branch["at"], branch["seeds"], strict=True))}
        found.shown = each["start"]["observation"]["text"] if begun == step else None
        found.moves[begun:] = [(drawn.get(at), recorded) for at, recorded in enumerate(each["steps"])]
    if len(found.moves) < step:
        raise _invalid(f"The line has {len(found.moves)} steps, and {step} are to come before.")
    found.moves[step:] = [(seed, None)] if begun == step and seed is not None else []
    return found


def check_step(number: int, recorded: Any, step: Step) -> None:
    """Raises `replay-diverged` if a step is not what it was. A state that was kept outside is not compared."""
    _compare(number, "observation.text", recorded["observation"]["text"], step.observation.text)
    _compare(number, "stateHash", recorded["stateHash"] or step.state_hash, step.state_hash)
    if step.end is not None:
        raise _invalid(f"The episode ended with step {number}, so no step follows.")


def _compare(number: int, name: str, recorded: str, played: str) -> None:
    if recorded != played:
        where = f"step {number}" if number else "the start"
        message = f"The server plays {where} otherwise: {name} was {recorded!r}, and is {played!r}."
        details: JsonObject = {"step": number, "field": name}
        raise EpisodicError("replay-diverged", message, details=details, retryable=False)


def _invalid(message: str) -> EpisodicError:
    return EpisodicError("option-invalid", message, retryable=False)
