"""Agents of Harbor, as `harbor run --agent harbor_agents:<Class>` loads them."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from harbor.agents.base import BaseAgent
from harbor.agents.capabilities import AgentCapabilities

HERE = Path(__file__).parent


class _Agent(BaseAgent):
    capabilities = AgentCapabilities(mcp_servers=True)

    @classmethod
    def name(cls) -> str:
        return cls.__name__.lower()

    def version(self) -> str:
        return "1.0.0"

    async def setup(self, environment: Any) -> None:
        pass

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        [server] = self.mcp_servers
        await self.play(server.url, instruction, environment)


class Guessing(_Agent):
    """Plays with the MCP client of Python, which runs in the sandbox."""

    async def play(self, url: str, instruction: str, environment: Any) -> None:
        """Plays the task."""
        await _run(environment, "harbor_player.py", url, instruction)


class Intruding(_Agent):
    """Does not play, and tries for the reward all the same."""

    async def play(self, url: str, instruction: str, environment: Any) -> None:
        """Plays the task."""
        secrets = ["/app/task.jsonl", "/app/home", "/solution/calls.json", "/tests/test.sh"]
        outside = json.loads(os.environ["INTEROP_OUTSIDE"])
        places = [*secrets, *outside["places"]]
        found = await _run(environment, "harbor_intruder.py", url, str(outside["port"]), *places)
        (self.logs_dir / "found.json").write_text(found)


class Killing(_Agent):
    """Ends the server of the world in the middle of the trial."""

    async def play(self, url: str, instruction: str, environment: Any) -> None:
        """Plays the task."""
        await environment.stop_service("world")


class Waiting(_Agent):
    """Says that it plays, and does not end."""

    async def play(self, url: str, instruction: str, environment: Any) -> None:
        """Plays the task."""
        await asyncio.to_thread(Path(os.environ["INTEROP_BEGUN"]).touch)
        await environment.exec("sleep 1000")


async def _run(environment: Any, program: str, *words: str) -> str:
    ended = await environment.exec(shlex.join([sys.executable, str(HERE / program), *words]))
    if ended.return_code != 0:
        raise RuntimeError(ended.stderr)
    return ended.stdout
