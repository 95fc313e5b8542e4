"""Serves an environment with the server of OpenEnv: `python openenv_server.py typed|tools|echo [folder]`.

`typed` and `tools` count to a goal that the seed decides, by actions of a class and by tools of MCP. `echo` is OpenEnv's
own echo environment, in the folder `envs/echo_env` of a checkout. It prints the port that it listens at.
"""

import socket
import sys
from typing import Any

import uvicorn
from counting import Counting
from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field


class Add(Action):
    """Adds to the number."""

    by: int = Field(ge=1, le=3)


class Seen(Observation):
    """What the player sees."""

    text: str


class TypedCounting(Environment):
    """Counts by actions of a class."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self.counting = Counting(0)

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> Seen:
        """Starts an episode."""
        self.counting = Counting.of_seed(seed or 0)
        return Seen(text=self.counting.text)

    def step(self, action: Add, timeout_s: float | None = None, **_: Any) -> Seen:
        """Adds to the number."""
        text, reward, done = self.counting.add(action.by)
        return Seen(text=text, reward=reward, done=done)

    @property
    def state(self) -> State:
        """The state that is public."""
        return State(step_count=self.counting.steps)


class ToolsCounting(MCPEnvironment):
    """Counts by a tool of MCP. The reward and the end of a call are set after it."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        from fastmcp import FastMCP

        mcp = FastMCP("counting")
        self.counting = Counting(0)
        self.last: tuple[float | None, bool] = (None, False)

        @mcp.tool
        def add(by: int) -> str:
            """Adds to the number."""
            text, *self.last = self.counting.add(by)
            return text

        super().__init__(mcp)

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> Observation:
        """Starts an episode."""
        self.counting = Counting.of_seed(seed or 0)
        return Seen(text=self.counting.text)

    async def step_async(self, action: Action, timeout_s: float | None = None, **options: Any) -> Observation:
        """Calls or lists the tools."""
        self.last = (None, False)
        observation = await super().step_async(action, timeout_s=timeout_s, **options)
        observation.reward, observation.done = self.last
        return observation

    def _step_impl(self, action: Action, timeout_s: float | None = None, **_: Any) -> Observation:
        raise ValueError("Only tools are called here.")

    @property
    def state(self) -> State:
        """The state that is public."""
        return State(step_count=self.counting.steps)


def app_of(kind: str, folder: str) -> Any:
    """Returns the application of an environment."""
    if kind == "typed":
        return create_app(TypedCounting, Add, Seen, env_name="counting", max_concurrent_envs=4)
    if kind == "tools":
        return create_app(ToolsCounting, CallToolAction, CallToolObservation, env_name="counting", max_concurrent_envs=4)
    sys.path.insert(0, folder)
    from server.app import app

    return app


def main() -> None:
    """Serves until it is killed."""
    app = app_of(sys.argv[1], *sys.argv[2:3] or [""])
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


if __name__ == "__main__":
    main()
