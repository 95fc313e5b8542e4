"""PettingZoo environments of the games of an Episodic server. Needs the extra `pettingzoo`.

`aec` is for every game. `parallel` is for games in which all seats move at once, unseen by each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from .errors import EpisodicError
from .game_table import GameTable

__all__ = ["AECGame", "ParallelGame", "aec", "parallel"]


def aec(world: str, **options: Any) -> AECGame:
    """Returns a game whose agents step one after the other. `options` are the arguments of `GameTable`."""
    return AECGame(GameTable(world, **options))


def parallel(world: str, **options: Any) -> ParallelGame:
    """Returns a game whose agents step at once. `options` are the arguments of `GameTable`.

    Raises `option-invalid` for a game with turns, which `aec` plays.
    """
    return ParallelGame(GameTable(world, **options))


class AECGame(AECEnv[str, Any, Any]):
    """A game, an agent for each seat.

    An observation is `{"observation": numbers, "action_mask": flags}`; the mask is 0 throughout for who may not act.
    An action is the number of a call: those of the seat's tools are numbered from 0, in the order of their schemas.
    A call that the rules refuse is a step like any other, with its reward, after which the agent acts again.

    In a round in which several seats move unseen by each other, moves are kept here until the last of them has chosen.

    `reset` opens a session with a seed that it draws: a seed repeats all episodes that follow it. Its `options` are
    parameters of the game, over those of `params`; others are ignored. `infos` has `terms`, `refused`, `end` (the
    reason), and `success` at the end of games that judge it.

    A lost server is an `EpisodicError`, never a truncated episode. After `connection-failed`, `step` can be called
    again with the same action.
    """

    metadata = {"name": "episodic", "render_modes": ["ansi"], "is_parallelizable": False}  # noqa: RUF012

    def __init__(self, table: GameTable) -> None:
        super().__init__()
        self.render_mode = "ansi"
        self.table = table
        self.metadata = {**self.metadata, "name": table.info.name}
        self.possible_agents = list(table.tools)
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of an agent's observations: the same object each time."""
        return self.table.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of an agent's actions: the same object each time."""
        return self.table.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Opens an episode. See the class for seed and options."""
        self.table.reset(seed, options)
        game = self.table.playing
        self.agents = list(game.seats)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = game.in_turn[0]
        self._skip_agent_selection = None

    def observe(self, agent: str) -> Any:
        """Returns what an agent sees now."""
        return self.table.observation(agent)

    def step(self, action: Any) -> None:
        """Plays the action of the selected agent; None for one whose episode is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        table = self.table
        table.choose(agent, action)
        sealed = table.is_sealed(agent)
        played = None if sealed and table.waiting else table.play()
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if played is not None:
            rewards, infos = played
            ends = table.playing.ends
            for each in self.agents:
                self.rewards[each] = rewards[each]
                self.infos[each] = infos[each]
                self.terminations[each] = each in ends and ends[each].kind == "terminated"
                self.truncations[each] = each in ends and ends[each].kind == "truncated"
            self._accumulate_rewards()
        # A round begins with the first agent, and play without turns goes round.
        self.agent_selection = _next_of(
            self.possible_agents, self.possible_agents[-1] if sealed else agent, table.waiting
        )
        self._deads_step_first()

    def render(self) -> str:
        """Returns what the selected agent is shown as text."""
        return self.table.text(self.agent_selection)

    def close(self) -> None:
        """Closes the session and the connection. Safe to call twice."""
        self.table.close()


class ParallelGame(ParallelEnv[str, Any, Any]):
    """A game in which all seats move at once: an agent for each seat, which all step together.

    Observations, actions, `reset` and infos are as in `AECGame`. Where a move is refused, the round waits for another
    one of that agent alone: the masks of the others are 0 until then, and their actions are ignored.
    """

    metadata = {"name": "episodic", "render_modes": ["ansi"]}  # noqa: RUF012

    def __init__(self, table: GameTable) -> None:
        open_tools = [tool.name for tool in table.info.tools if not tool.sealed]
        if open_tools:
            table.close()
            raise EpisodicError(
                "option-invalid",
                f"{table.info.name} has turns: others see a call of {', '.join(open_tools)} before they move. Play it "
                "with episodic_env.pettingzoo.aec.",
                retryable=False,
            )
        self.render_mode = "ansi"
        self.table = table
        self.metadata = {**self.metadata, "name": table.info.name}
        self.possible_agents = list(table.tools)
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of an agent's observations: the same object each time."""
        return self.table.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of an agent's actions: the same object each time."""
        return self.table.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Opens an episode. See `AECGame` for seed and options."""
        self.table.reset(seed, options)
        self.agents = list(self.table.playing.seats)
        return {agent: self.table.observation(agent) for agent in self.agents}, {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Plays a round. Raises `option-invalid` for an agent in turn without an action."""
        table = self.table
        for agent in table.playing.in_turn:
            if agent not in actions:
                raise EpisodicError("option-invalid", f"There is no action of {agent}.", retryable=False)
            table.choose(agent, actions[agent])
        rewards, infos = table.play()
        stepped, ends = self.agents, table.playing.ends
        self.agents = [agent for agent in stepped if agent not in ends]
        return (
            {agent: table.observation(agent) for agent in stepped},
            {agent: rewards[agent] for agent in stepped},
            {agent: agent in ends and ends[agent].kind == "terminated" for agent in stepped},
            {agent: agent in ends and ends[agent].kind == "truncated" for agent in stepped},
            {agent: infos[agent] for agent in stepped},
        )

    def render(self) -> str:
        """Returns what each agent is shown as text."""
        return "\n\n".join(f"{agent}: {self.table.text(agent)}" for agent in self.agents)

    def close(self) -> None:
        """Closes the session and the connection. Safe to call twice."""
        self.table.close()


def _next_of(agents: list[str], agent: str, waiting: tuple[str, ...]) -> str:
    """Returns the next agent that the game waits for, in order, after `agent`; itself if there is none."""
    at = agents.index(agent) + 1
    return next((other for other in [*agents[at:], *agents[:at]] if other in waiting), agent)
