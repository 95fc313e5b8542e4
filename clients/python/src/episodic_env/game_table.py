"""One copy of a game for learners of arrays: spaces, sessions and rounds. Needs the extra `pettingzoo`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding

from .connection import Connection, connect
from .derived_actions import MOST_NUMBERED, Bounds, FiniteTool, finite_tools, numbered_call
from .derived_observations import Numbers, numbers_of
from .environment_info import EnvironmentInfo, ToolInfo
from .errors import EpisodicError
from .game import Game
from .json_types import JsonObject, by_name
from .observation import Observation
from .played import ABSENT
from .step import Step
from .task import Task
from .terms import Terms, total_of
from .waiting import PATIENCE

TOO_LATE = frozenset({"not-your-turn", "episode-ended"})
REPEATED = frozenset({"seq-reused", "seq-conflict"})


class GameTable:
    """Plays all seats of a game over one connection.

    Args:
        world: The name of the game on the server.
        url: The trainer endpoint.
        token: The control token; see `episodic_env.connect` for the default.
        wait: Seconds to wait for a server that does not answer; see `episodic_env.connect`.
        timeout: Seconds until a call without an answer counts as lost.
        params: Parameters of the game.
        limits: Limits of each episode: `steps` of each seat, `seconds`, `turnSeconds`, `bytes`.
        version: The version of the game that must be served. Default: any.
        bounds: The least and greatest value of integer arguments without bounds, by `tool.argument`.
        observe: Makes the numbers of an observation from what a seat is shown. Default: all parts of its view, as
            `episodic_env.derived_observations` says.
        observation_space: The space of what `observe` returns.
    """

    def __init__(
        self,
        world: str,
        *,
        url: str = "http://127.0.0.1:7337/env",
        token: str | None = None,
        wait: float = PATIENCE,
        timeout: float = 120.0,
        params: JsonObject | None = None,
        limits: JsonObject | None = None,
        version: str | None = None,
        bounds: Bounds | None = None,
        observe: Callable[[Observation], Any] | None = None,
        observation_space: spaces.Space[Any] | None = None,
    ) -> None:
        if (observe is None) != (observation_space is None):
            raise _invalid("Give observe and observation_space together: the space cannot be guessed.")
        self.connection: Connection = connect(url, token, wait=wait, timeout=timeout)
        self.game: Game | None = None
        self._task = Task(
            world, params=by_name(params, "parameters"), limits=by_name(limits, "limits"), version=version
        )
        self._observe = observe
        self._random: np.random.Generator | None = None
        try:
            self.info: EnvironmentInfo = self.connection.environment(world)
            if not self.info.seats:
                raise _invalid(f"{world} has one seat. Play it with episodic_env.gymnasium.")
            self._numbers: Numbers | None = None if observe else numbers_of(self.info.view_schema or {})
            self.tools = {seat.name: _numbered(seat.tools, bounds or {}) for seat in self.info.seats}
            self.action_spaces = {
                seat: spaces.Discrete(sum(tool.calls for tool in tools)) for seat, tools in self.tools.items()
            }
            shown = observation_space or _box(self._numbers)
            self.observation_spaces = {
                seat: spaces.Dict({"observation": shown, "action_mask": spaces.MultiBinary(int(actions.n))})
                for seat, actions in self.action_spaces.items()
            }
        except BaseException:
            self.connection.close()
            raise
        self._sealed = frozenset(tool.name for tool in self.info.tools if tool.sealed)
        self._moves: dict[str, tuple[str, JsonObject]] = {}
        self._views: dict[str, Observation] = {}
        self._observed: dict[str, dict[str, Any]] = {}
        self._earned: dict[str, dict[str, float]] = {}
        self._refused: dict[str, str] = {}

    @property
    def playing(self) -> Game:
        """The game that is played. Raises `not-playing` before the first reset."""
        if self.game is None:
            raise EpisodicError("not-playing", "No episode is being played. Call reset first.", retryable=False)
        return self.game

    @property
    def waiting(self) -> tuple[str, ...]:
        """The seats that the game waits for: those in turn that have not chosen a move of the round."""
        return tuple(seat for seat in self.playing.in_turn if seat not in self._moves)

    def reset(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Closes the game before, and opens one with a seed drawn from a generator. `seed` starts that anew."""
        if seed is not None or self._random is None:
            self._random, _ = seeding.np_random(seed)
        drawn = int(self._random.integers(np.iinfo(np.int64).max))
        self._end()
        known = self.info.params_schema.get("properties", {})
        params = {name: value for name, value in (options or {}).items() if name in known}
        self.game = self.connection.open_game(self._task, params, seed=drawn)
        self._moves = {}
        self._views = dict(self.game.openings)
        self._observed = {}
        self._forget()

    def choose(self, seat: str, action: Any) -> None:
        """Chooses the move of a seat in turn. Raises `option-invalid` for an action outside of its space."""
        if not self.action_spaces[seat].contains(action):
            raise _invalid(f"{action!r} of {seat} is not in {self.action_spaces[seat]}.")
        self._moves[seat] = numbered_call(self.tools[seat], int(action))

    def is_sealed(self, seat: str) -> bool:
        """Whether the chosen move of a seat is one of a round, so that it can wait until the others have chosen."""
        return self._moves[seat][0] in self._sealed

    def play(self) -> tuple[dict[str, float], dict[str, dict[str, Any]]]:
        """Plays the chosen moves, and returns reward and info of each seat.

        After an error with code `connection-failed` it can be called again: what has been answered is not sent again.
        """
        game = self.playing
        while self._moves:
            seat, (tool, arguments) = next(iter(self._moves.items()))
            if seat in game.in_turn or seat in game.unanswered:
                self._step(seat, tool, arguments)
            # A move of a seat that is not in turn any more is void, as the episode is over for it.
            self._moves.pop(seat, None)
        rewards = {seat: total_of(terms) for seat, terms in self._earned.items()}
        infos = {seat: self._info_of(seat) for seat in game.seats}
        self._forget()
        return rewards, infos

    def observation(self, seat: str) -> dict[str, Any]:
        """Returns what a seat sees and which of its calls are legal: none out of turn."""
        if seat not in self._observed:
            if seat not in self._views:
                self._views[seat] = self.playing.turn(seat).observation
            self._observed[seat] = {"observation": self._array(self._views[seat]), "action_mask": self._mask(seat)}
        return self._observed[seat]

    def text(self, seat: str) -> str:
        """Returns what a player of the seat is shown."""
        self.observation(seat)
        return self._views[seat].text

    def close(self) -> None:
        """Closes the session and the connection. Safe to call twice."""
        try:
            self._end()
        finally:
            self.connection.close()

    def _end(self) -> None:
        if self.game is not None:
            game, self.game = self.game, None
            game.close()

    def _forget(self) -> None:
        self._earned = {seat: dict.fromkeys(self.info.terms, 0.0) for seat in self.playing.seats}
        self._refused = {}

    def _step(self, seat: str, tool: str, arguments: JsonObject) -> None:
        game = self.playing
        try:
            self._account(seat, game.step(seat, tool, arguments), tool)
        except EpisodicError as error:
            if error.code not in TOO_LATE and not (error.code in REPEATED and self._is_absent(seat)):
                raise
            self._catch_up()
        # The server takes the step of a seat that has none left as soon as anybody asks for its turn.
        spent = [other for other in game.in_turn if game.seq(other) >= game.limits["steps"]]
        if spent:
            game.turn(spent[0])
            self._catch_up()

    def _is_absent(self, seat: str) -> bool:
        """Whether the server has taken the next step of a seat."""
        game = self.playing
        last = [played for played in game.played().steps if played.seat == seat and played.step.seq > game.seq(seat)]
        return any(played.tool == ABSENT for played in last)

    def _catch_up(self) -> None:
        for played in self.playing.catch_up():
            self._account(played.seat, played.step, played.tool)

    def _account(self, seat: str, step: Step, tool: str) -> None:
        assert step.seats is not None
        self._add(seat, step.terms)
        for other, terms in step.seats.terms.items():
            self._add(other, terms)
        self._observed = {}
        if step.refused is not None:
            self._refused[seat] = step.refused
            # It has changed nothing but, with the last step, the end.
            return
        self._views = dict(step.seats.views)
        called = next((info for info in self.info.tools if info.name == tool), None)
        if called is not None and called.output_schema == self.info.view_schema:
            self._views[seat] = step.observation

    def _add(self, seat: str, terms: Terms) -> None:
        for name, value in terms.items():
            self._earned[seat][name] += value

    def _info_of(self, seat: str) -> dict[str, Any]:
        game = self.playing
        end = game.ends.get(seat)
        info = {"terms": self._earned[seat], "refused": self._refused.get(seat), "end": end.reason if end else None}
        return {**info, "success": game.successes[seat]} if seat in game.successes else info

    def _array(self, view: Observation) -> Any:
        if self._observe is not None:
            return self._observe(view)
        assert self._numbers is not None
        return np.array(self._numbers.read(view.structured), np.float32)

    def _mask(self, seat: str) -> Any:
        game, tools = self.playing, self.tools[seat]
        if seat not in game.in_turn:
            return np.zeros(int(self.action_spaces[seat].n), np.int8)
        if not self.info.legal:
            return np.ones(int(self.action_spaces[seat].n), np.int8)
        legal = game.legal(seat)
        return np.array([allowed for tool in tools for allowed in tool.allowed(legal.get(tool.name))], np.int8)


def _numbered(tools: tuple[ToolInfo, ...], bounds: Bounds) -> tuple[FiniteTool, ...]:
    names = {tool.name for tool in tools}
    found = finite_tools(tools, {name: pair for name, pair in bounds.items() if name.split(".")[0] in names})
    if sum(tool.calls for tool in found) > MOST_NUMBERED:
        raise _invalid(f"Its tools have more than {MOST_NUMBERED} different calls, which are too many to be numbered.")
    return found


def _box(numbers: Numbers | None) -> spaces.Box:
    assert numbers is not None
    return spaces.Box(np.array(numbers.low, np.float32), np.array(numbers.high, np.float32), dtype=np.float32)


def _invalid(message: str) -> EpisodicError:
    return EpisodicError("option-invalid", message, retryable=False)
