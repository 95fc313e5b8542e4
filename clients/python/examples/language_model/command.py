"""The command `episodic` of this repository, and a server that it starts."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from episodic_env import Connection, connect

ROOT = Path(__file__).parents[4]
COMMAND = (str(ROOT / "node_modules/.bin/node"), str(ROOT / "apps/harness/src/cli.ts"))


def episodic(*arguments: str) -> None:
    """Runs the command. Raises `CalledProcessError`, and prints what it said, if it fails."""
    subprocess.run([*COMMAND, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def served(module: str, home: Path) -> Iterator[Connection]:
    """Serves a world on a free port, keeps the token in `home`, and connects to its trainer endpoint."""
    process = subprocess.Popen(
        [*COMMAND, "serve", module, "--port", "0", "--json", "--log-level", "warn"],
        cwd=ROOT,
        env={**os.environ, "EPISODIC_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    # `serve --json` stops when its input ends, which `with` closes.
    with process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"episodic serve ended with {process.wait()} before it listened.")
        said = json.loads(line)
        token = Path(said["tokenFile"]).read_text(encoding="utf-8").strip()
        with connect(said["trainerUrl"], token) as connection:
            yield connection
        process.communicate()
