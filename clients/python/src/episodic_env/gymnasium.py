"""Gymnasium environments that play on an Episodic server. Needs the extra `gymnasium`.

Importing this module registers `episodic/World-v0`, which takes the name of a world, and one id for each example world,
such as `episodic/NumberGuessing-v0`. `register_worlds` registers those of a server.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces

from .connection import Connection, connect
from .derived_actions import MOST_NUMBERED, Bounds, FiniteTool, finite_tools, numbered_call
from .episode import Episode
from .errors import EpisodicError
from .json_types import JsonObject, by_name
from .observation import Observation
from .task import Task
from .text_action import text_action
from .waiting import PATIENCE

__all__ = ["AnyText", "EpisodicEnv", "register_worlds"]

EXAMPLES = ("number-guessing", "frozen-lake", "warehouse", "flight-booking")


class AnyText(spaces.Text):
    """Text of any characters, up to a length. Samples are printable ASCII."""

    def __init__(self, max_length: int, *, min_length: int = 0) -> None:
        super().__init__(max_length, min_length=min_length, charset=string.printable)

    def contains(self, x: Any) -> bool:
        """Whether `x` is a text of a permitted length."""
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length


class EpisodicEnv(gymnasium.Env[Any, Any]):
    """One copy of a world, with a connection of its own.

    `reset` closes the session before and opens one with a seed that it draws from `np_random`: a seed repeats all
    episodes that follow it. Its `options` are parameters of the world, over those of `params`.

    An action of the text space is JSON, `{"tool": "guess", "arguments": {"value": 50}}`. Any other text is sent as the
    name of a tool, which the server refuses: a step like any other, with its reward.

    The reward is the sum of the raw terms. `info` has `text` and `observation` (what the player is shown), `terms`,
    `end` (the reason), `refused`, `seed`, `replayed`, and `success` at the end of worlds that judge it.

    A lost server is an `EpisodicError`, never a truncated episode.

    Subclasses may override `observe` and `call_of`, for example to build arrays from several observations.

    Args:
        world: The name of the world on the server.
        url: The trainer endpoint.
        token: The control token; see `episodic_env.connect` for the default.
        wait: Seconds to wait for a server that does not answer; see `episodic_env.connect`.
        timeout: Seconds until a call without an answer counts as lost.
        params: Parameters of the world.
        limits: Limits of each episode: `steps`, `seconds`, `bytes`.
        version: The version of the world that must be served. Default: any.
        tasks: What to play instead of `params`: `reset` draws one, and plays it with its own parameters and seed.
        actions: `text`, or `derived` from the schemas of the tools: a Discrete, or a Dict of several with many calls.
        bounds: With `derived`, the least and greatest value of integer arguments, by `tool.argument`.
        observe: Makes the observation from what the player is shown. Not called for a refused step, which changes
            nothing. Default: its text.
        observation_space: The space of what `observe` returns.
        max_length: Characters of the text spaces.
        render_mode: `ansi` makes `render` return the latest text.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012

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
        tasks: Sequence[Task] | None = None,
        actions: Literal["text", "derived"] = "text",
        bounds: Bounds | None = None,
        observe: Callable[[Observation], Any] | None = None,
        observation_space: spaces.Space[Any] | None = None,
        max_length: int = 65_536,
        render_mode: str | None = None,
    ) -> None:
        if (observe is None) != (observation_space is None):
            raise _invalid("Give observe and observation_space together: the space cannot be guessed from text.")
        if bounds and actions != "derived":
            raise _invalid("bounds are for derived actions. Give actions='derived' too.")
        if tasks is not None and not tasks:
            raise _invalid("There are no tasks to play.")
        self.render_mode = render_mode
        self.connection: Connection = connect(url, token, wait=wait, timeout=timeout)
        self.episode: Episode | None = None
        """The session that is played; None before the first reset."""
        self._tasks = tasks
        self._task = Task(
            world, params=by_name(params, "parameters"), limits=by_name(limits, "limits"), version=version
        )
        self._observe = observe
        self._max_length = max_length
        self._observed: Any = None
        self._finite: tuple[FiniteTool, ...] | None = None
        self.observation_space = observation_space or AnyText(max_length)
        self.action_space: spaces.Space[Any] = AnyText(max_length)
        try:
            info = self.connection.environment(world)
            self._tools = info.tools
            if actions == "derived":
                self._finite = finite_tools(info.tools, bounds or {})
                self.action_space = _space_of(self._finite)
        except BaseException:
            self.connection.close()
            raise

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Opens an episode. See the class for seed and options."""
        super().reset(seed=seed, options=dict(options or {}))
        self._end()
        drawn = int(self.np_random.integers(np.iinfo(np.int64).max))
        if self._tasks is not None:
            task = self._tasks[drawn % len(self._tasks)]
            # A task without a seed is played with the drawn one.
            opening = self.connection.open(task, options, seed=drawn if task.seed is None else None)
        else:
            opening = self.connection.open(self._task, options, seed=drawn)
        self.episode = opening
        self._observed = self.observe(opening.observation)
        info = {"text": opening.observation.text, "observation": opening.observation, "seed": opening.seed}
        return self._observed, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays one call."""
        if self.episode is None:
            raise EpisodicError("not-playing", "No episode is being played. Call reset first.", retryable=False)
        tool, arguments = self.call_of(action)
        step = self.episode.step(tool, arguments)
        # The text of a refused step says why, so it is shown; arrays stay as they were.
        if step.refused is None or isinstance(self.observation_space, AnyText):
            self._observed = self.observe(step.observation)
        info: dict[str, Any] = {
            "text": step.observation.text,
            "observation": step.observation,
            "terms": dict(step.terms),
            "end": step.end.reason if step.end else None,
            "refused": step.refused,
            "seed": self.episode.seed,
            "replayed": step.replayed,
        }
        # Left out while unknown: vector environments keep it in an array of booleans.
        if step.success is not None:
            info["success"] = step.success
        return self._observed, step.reward, step.terminated, step.truncated, info

    def observe(self, observation: Observation) -> Any:
        """Returns what the learner gets for what the player is shown: at the start, and after each step that counts."""
        return self._observe(observation) if self._observe else observation.text[: self._max_length]

    def call_of(self, action: Any) -> tuple[str, JsonObject]:
        """Returns the tool and the arguments of an action. Raises `option-invalid` for one outside of its space."""
        if self._finite is not None:
            if not self.action_space.contains(action):
                raise _invalid(f"{action!r} is not in {self.action_space}.")
            return _finite_call(self._finite, self.action_space, action)
        if not isinstance(action, str):
            raise _invalid(f"A text action is JSON text, and this one is a {type(action).__name__}.")
        return text_action(action, self._tools)

    def render(self) -> str | None:
        """Returns the latest text, if `render_mode` is `ansi`."""
        if self.render_mode != "ansi" or self.episode is None:
            return None
        return self.episode.observation.text

    def close(self) -> None:
        """Closes the session and the connection. Safe to call twice."""
        try:
            self._end()
        finally:
            self.connection.close()

    def _end(self) -> None:
        # A wrapper may have truncated the episode without the world's knowledge.
        if self.episode is not None:
            episode, self.episode = self.episode, None
            episode.close()


def register_worlds(url: str = "http://127.0.0.1:7337/env", token: str | None = None, **options: Any) -> list[str]:
    """Registers each world that a server serves, and returns the ids: `higher-or-lower` is `episodic/HigherOrLower-v0`.

    The number is that of the spaces; `version` pins the version of the world. `options` are further arguments of
    `EpisodicEnv` for all of them.
    """
    with connect(url, token) as connection:
        names = list(connection.environments())
    return [_register(name, url=url, token=token, **options) for name in names]


def _register(world: str, **options: Any) -> str:
    name = f"episodic/{''.join(part.capitalize() for part in world.replace('_', '-').split('-'))}-v0"
    gymnasium.registry.pop(name, None)
    gymnasium.register(name, "episodic_env.gymnasium:EpisodicEnv", kwargs={"world": world, **options})
    return name


def _space_of(tools: tuple[FiniteTool, ...]) -> spaces.Space[Any]:
    [first, *others] = tools
    values = first.arguments[0].values if not others and len(first.arguments) == 1 else None
    if isinstance(values, range):
        # The only argument of the only tool: its value is the action.
        return spaces.Discrete(len(values), start=values.start)
    # With more, there is one space for the tool and one for each argument.
    if sum(tool.calls for tool in tools) <= MOST_NUMBERED:
        return spaces.Discrete(sum(tool.calls for tool in tools))
    arguments = {
        f"{tool.name}.{argument.name}": spaces.Discrete(len(argument.values))
        for tool in tools
        for argument in tool.arguments
    }
    return spaces.Dict({"tool": spaces.Discrete(len(tools)), **arguments})


def _finite_call(tools: tuple[FiniteTool, ...], space: spaces.Space[Any], action: Any) -> tuple[str, JsonObject]:
    if isinstance(space, spaces.Dict):
        tool = tools[int(action["tool"])]
        named = {given.name: given.values[int(action[f"{tool.name}.{given.name}"])] for given in tool.arguments}
        return tool.name, named
    assert isinstance(space, spaces.Discrete)
    return numbered_call(tools, int(action) - int(space.start))


def _invalid(message: str) -> EpisodicError:
    return EpisodicError("option-invalid", message, retryable=False)


gymnasium.register("episodic/World-v0", "episodic_env.gymnasium:EpisodicEnv")
for _world in EXAMPLES:
    _register(_world)
