"""A client of Episodic's trainer endpoint: every step exactly once, rewards as named terms.

Adapters are modules of their own, loaded only where they are imported: `episodic_env.gymnasium`,
`episodic_env.classics`, `episodic_env.trl`, `episodic_env.inspect`, `episodic_env.verifiers`, `episodic_env.skyrl` and
`episodic_env.harbor`.
"""

from .async_connection import AsyncConnection, connect_async
from .async_episode import AsyncEpisode
from .connection import Connection, connect
from .end import End
from .environment_info import EnvironmentInfo, SeatInfo, ToolInfo
from .episode import Episode
from .errors import EpisodicError
from .game import Game
from .json_types import Json, JsonObject
from .observation import Observation
from .played import Played, PlayedStep
from .rollouts import Rollout, Rollouts
from .seat import Seat
from .seats_report import SeatsReport
from .server import Server, serve
from .step import Step
from .task import Task, read_tasks
from .turn import Turn
from .write_tasks import write_tasks

__all__ = [
    "AsyncConnection",
    "AsyncEpisode",
    "Connection",
    "End",
    "EnvironmentInfo",
    "Episode",
    "EpisodicError",
    "Game",
    "Json",
    "JsonObject",
    "Observation",
    "Played",
    "PlayedStep",
    "Rollout",
    "Rollouts",
    "Seat",
    "SeatInfo",
    "SeatsReport",
    "Server",
    "Step",
    "Task",
    "ToolInfo",
    "Turn",
    "connect",
    "connect_async",
    "read_tasks",
    "serve",
    "write_tasks",
]
