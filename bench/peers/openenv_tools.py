"""number-guessing as an `MCPEnvironment` of OpenEnv: its tool is one of FastMCP, in a server for each session."""

import uuid

from fastmcp import FastMCP
from openenv.core.env_server import create_app
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.env_server.types import Observation, State

from game import Game


class NumberGuessing(MCPEnvironment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        mcp = FastMCP("number-guessing")
        self._game = Game(None)
        self._state = State(episode_id=str(uuid.uuid4()), step_count=0)
        self._reward = 0.0

        @mcp.tool
        def guess(value: int) -> dict:
            """Guess the number. The answer says whether it is higher or lower than your guess."""
            answer, self._reward = self._game.guess(value)
            return answer

        super().__init__(mcp)

    def reset(self, seed=None, episode_id=None, **kwargs):
        self._game = Game(seed)
        self._state = State(episode_id=episode_id or str(uuid.uuid4()), step_count=0)
        return Observation(done=False, reward=None, metadata={"text": self._game.observe()})

    async def step_async(self, action, timeout_s=None, **kwargs):
        observation = await super().step_async(action, timeout_s=timeout_s, **kwargs)
        self._state.step_count += 1
        observation.reward, observation.done = self._reward, self._game.done
        return observation

    def _step_impl(self, action, timeout_s=None, **kwargs):
        raise ValueError("This environment has tools alone.")

    @property
    def state(self):
        return self._state


app = create_app(
    NumberGuessing, CallToolAction, CallToolObservation, env_name="number-guessing", max_concurrent_envs=10_000
)
