"""Environments for SkyRL-gym. Needs the extra `skyrl`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput, ConversationType

from .connection import connect
from .episode import Episode
from .json_types import JsonObject
from .task import Task
from .text_action import text_action
from .waiting import PATIENCE

__all__ = ["WorldEnv"]


class WorldEnv(BaseTextEnv):
    """Plays one episode, with a connection of its own. Register it with `skyrl_gym.register`.

    An action is the whole answer of the model: `{"tool": "guess", "arguments": {"value": 50}}`. Any other text is said
    where words are a move, and refused by the server as a step elsewhere. The reward is the sum of the raw terms.
    `metadata` has `terms`, `end` and `refused`.

    SkyRL has no failed rollout: a lost server is an `EpisodicError`, which ends it.

    Args:
        env_config: Of the training: `url`, `token`, `wait`, `timeout`, as `episodic_env.connect` takes them.
        extras: Of the row: `environment`, the name of the world, and `params`, `seed`, `limits`, `version`. `max_turns`
            is SkyRL's.
    """

    def __init__(self, env_config: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        row = extras or {}
        self.max_turns = row.get("max_turns", 1_000_000)
        self._task = Task(
            row["environment"], row.get("params") or {}, None, row.get("limits") or {}, version=row.get("version")
        )
        self._seed = row.get("seed")
        self._connection = connect(**{"wait": PATIENCE, **(env_config or {})})
        self.episode: Episode | None = None

    def init(self, prompt: ConversationType) -> tuple[ConversationType, dict[str, Any]]:
        """Opens the episode, and appends its first observation to the prompt."""
        self.episode = self._connection.open(self._task, seed=self._seed)
        shown = {"role": "user", "content": self.episode.observation.text}
        return [*prompt, shown], {"seed": self.episode.seed}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Plays the answer of the model as a step."""
        assert self.episode is not None
        step = self.episode.step(*text_action(action, self.episode.info.tools))
        self.turns += 1
        done = step.end is not None or self.turns >= self.max_turns
        if done and step.end is None:
            # The world may judge what is left.
            self.episode.close()
        left = self.episode.left
        metadata: JsonObject = {
            "terms": dict(step.terms),
            "end": step.end.reason if step.end else None,
            "refused": step.refused,
        }
        return BaseTextEnvStepOutput(
            observations=[] if step.end else [{"role": "user", "content": step.observation.text}],
            reward=step.reward if left is None else step.reward + left.reward,
            done=done,
            metadata=dict(metadata),
        )

    def get_metrics(self) -> dict[str, Any]:
        """Returns the sum of each term, the steps, and the success where the world judges it."""
        if self.episode is None:
            return {}
        judged = {} if self.episode.success is None else {"success": float(self.episode.success)}
        return {**self.episode.summed, "steps": self.episode.seq, **judged}

    def close(self) -> None:
        """Closes the session and the connection. Safe to call twice."""
        try:
            if self.episode is not None:
                self.episode.close()
        finally:
            self._connection.close()
