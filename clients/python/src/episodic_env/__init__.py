"""A client of Episodic's trainer endpoint: every step exactly once, rewards as named terms.

Adapters are modules of their own, loaded only where they are imported: `episodic_env.gymnasium`, `episodic_env.trl`,
`episodic_env.inspect` and `episodic_env.verifiers`.
"""

from .connection import Connection, connect
from .environment_info import EnvironmentInfo, ToolInfo
from .episode import Episode, Played, PlayedStep
from .errors import EpisodicError
from .json_types import Json, JsonObject
from .retries import Retries
from .step import End, Observation, Step
from .task import Task, read_tasks

__all__ = [
    "Connection",
    "End",
    "EnvironmentInfo",
    "Episode",
    "EpisodicError",
    "Json",
    "JsonObject",
    "Observation",
    "Played",
    "PlayedStep",
    "Retries",
    "Step",
    "Task",
    "ToolInfo",
    "connect",
    "read_tasks",
]
