"""number-guessing as a resources server of NeMo Gym, written like its example_session_state_mgmt."""

import json
import os
import sys

NAME = "number_guessing"
PORT = int(sys.argv.pop(1))
# What the main process of NeMo Gym gives the servers that it starts.
os.environ["NEMO_GYM_CONFIG_PATH"] = NAME
os.environ["NEMO_GYM_CONFIG_DICT"] = json.dumps(
    {
        "head_server": {"host": "127.0.0.1", "port": 1},
        "dry_run": False,
        NAME: {"resources_servers": {NAME: {"entrypoint": "app.py", "domain": "agent", "host": "127.0.0.1", "port": PORT}}},
    }
)

from fastapi import FastAPI, Request
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseSeedSessionRequest,
    BaseSeedSessionResponse,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from nemo_gym.server_utils import SESSION_ID_KEY
from pydantic import BaseModel, Field

from game import Game


class Task(BaseModel):
    environment: str
    seed: int


class SeedRequest(BaseSeedSessionRequest):
    episodic: Task


class GuessRequest(BaseModel):
    value: int


class GuessResponse(BaseModel):
    value: int
    hint: str


class NumberGuessing(SimpleResourcesServer):
    ray_enabled = False
    config: BaseResourcesServerConfig
    games: dict[str, Game] = Field(default_factory=dict)

    def setup_webserver(self) -> FastAPI:
        app = super().setup_webserver()
        app.post("/guess")(self.guess)
        return app

    async def seed_session(self, request: Request, body: SeedRequest) -> BaseSeedSessionResponse:
        self.games.setdefault(request.session[SESSION_ID_KEY], Game(body.episodic.seed))
        return BaseSeedSessionResponse()

    async def guess(self, request: Request, body: GuessRequest) -> GuessResponse:
        answer, _ = self.games[request.session[SESSION_ID_KEY]].guess(body.value)
        return GuessResponse(**answer)

    async def verify(self, request: Request, body: BaseVerifyRequest) -> BaseVerifyResponse:
        game = self.games.pop(request.session[SESSION_ID_KEY])
        return BaseVerifyResponse(**body.model_dump(), reward=game.total)


if __name__ == "__main__":
    NumberGuessing.run_webserver()
