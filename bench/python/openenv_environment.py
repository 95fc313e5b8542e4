"""number-guessing as an `Environment` of OpenEnv, written like the template of its `openenv init`."""

import uuid

from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.env_server.types import Observation, State

from game import Game


class NumberGuessing(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._game = Game(None)
        self._state = State(episode_id=str(uuid.uuid4()), step_count=0)

    def reset(self, seed=None, episode_id=None, **kwargs):
        self._game = Game(seed)
        self._state = State(episode_id=episode_id or str(uuid.uuid4()), step_count=0)
        return Observation(done=False, reward=None, metadata={"text": self._game.observe()})

    def step(self, action, timeout_s=None, **kwargs):
        answer, reward = self._game.guess(**action.arguments)
        self._state.step_count += 1
        return CallToolObservation(tool_name="guess", result={"data": answer}, reward=reward, done=self._game.done)

    @property
    def state(self):
        return self._state


app = create_app(
    NumberGuessing, CallToolAction, CallToolObservation, env_name="number-guessing", max_concurrent_envs=10_000
)
