"""Serves an environment with the server of the Open Reward Standard: `python ors_server.py openreward|ors`.

The game counts to a goal that the task names. It prints the port that it listens at.
"""

import socket
import sys
from importlib import import_module
from typing import Any

import uvicorn
from counting import Counting
from pydantic import BaseModel

ors: Any = import_module({"openreward": "openreward.environments", "ors": "ors"}[sys.argv[1]])


class AddInput(BaseModel):
    """What is added."""

    by: int


class CountingEnvironment(ors.Environment):
    """Counts by a tool."""

    @classmethod
    def name(cls) -> str:
        """The name of the environment."""
        return "counting"

    @classmethod
    def list_splits(cls) -> list[str]:
        """The names of the splits."""
        return ["train", "test"]

    @classmethod
    def list_tasks(cls, split: str) -> list[dict[str, Any]]:
        """Goals from 3 to 9, of which a test has the last two."""
        goals = range(3, 8) if split == "train" else range(8, 10)
        return [{"id": f"{split}-{goal}", "goal": goal} for goal in goals]

    def setup(self) -> None:
        """Starts the game."""
        self.counting = Counting(self.task_spec["goal"])

    def get_prompt(self) -> list[Any]:
        """What the player sees first."""
        return [ors.TextBlock(text=self.counting.text)]

    @ors.tool
    def add(self, params: AddInput) -> ors.ToolOutput:
        """Adds to the number."""
        text, reward, over = self.counting.add(params.by)
        return ors.ToolOutput(blocks=[ors.TextBlock(text=text)], reward=reward, finished=over)


def main() -> None:
    """Serves until it is killed."""
    app = ors.Server([CountingEnvironment]).app
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


if __name__ == "__main__":
    main()
