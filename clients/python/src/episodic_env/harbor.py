"""Runs the tasks of `episodic export --format harbor` with Harbor, without containers. Needs the extra `harbor`.

    harbor run -p tasks -a oracle --env episodic_env.harbor:BubblewrapEnvironment

Commands of the agent and of the verifier run in a sandbox of bubblewrap, and the server of the world in another.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import shlex
import shutil
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from harbor.environments.base import BaseEnvironment, ExecResult, transfer_tar_filter
from harbor.environments.capabilities import EnvironmentCapabilities

__all__ = ["BubblewrapEnvironment"]

WORLD = "world"
"""The service of the world in the tasks that Episodic writes."""

START_SECONDS = 60
STOP_SECONDS = 15

FOLDERS = ("app", "logs/agent", "logs/verifier", "logs/artifacts", "root", "solution", "tests", "tmp")
PROGRAMS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
SETTINGS = ("alternatives", "group", "hosts", "ld.so.cache", "nsswitch.conf", "passwd", "ssl")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class BubblewrapEnvironment(BaseEnvironment):
    """The sandbox of one trial, in a folder that is gone afterwards.

    The agent's commands see the programs of this machine in `/usr`, and of its other files those in `readable` alone.
    They reach the server of the world, and no other network, whatever the task allows. What a command leaves running
    ends with it. There are no limits of CPU and memory, and every user is the one that runs Harbor.

    Args:
        episodic: The command that serves the world, in the place of the image. It finds worlds as in a shell.
        readable: Further folders of this machine that the agent's commands may read, such as those of its programs.
    """

    def __init__(self, *args: Any, episodic: str = "episodic", readable: Sequence[str] = (), **kwargs: Any) -> None:
        self._episodic = shlex.split(episodic)
        self._readable = [readable] if isinstance(readable, str) else list(readable)
        self._folder: Path | None = None
        self._server: asyncio.subprocess.Process | None = None
        self._namespace = 0
        super().__init__(*args, **kwargs)

    @staticmethod
    def type() -> str:
        """The name in results."""
        return "bubblewrap"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        """Services beside the agent, of which there is the world, and no network for the agent."""
        return EnvironmentCapabilities(docker_compose=True, disable_internet=True)

    def _validate_definition(self) -> None:
        self._command()

    def _command(self) -> list[str]:
        """The command of the world's service, without the program."""
        file = self.environment_dir / "docker-compose.yaml"
        services = (yaml.safe_load(file.read_text()) or {}).get("services", {}) if file.exists() else {}
        command = services.get(WORLD, {}).get("command")
        if set(services) != {WORLD} or not isinstance(command, list):
            raise ValueError(f"{file} has no service `{WORLD}` alone: only tasks that Episodic has exported run here.")
        return [str(word) for word in command]

    async def start(self, force_build: bool) -> None:
        """Starts the server of the world, which opens the session of the trial."""
        program = shutil.which(self._episodic[0])
        if program is None:
            raise FileNotFoundError(f"There is no program `{self._episodic[0]}`: name it with --ek episodic=<command>.")
        self._folder = Path(tempfile.mkdtemp(prefix="episodic-harbor-"))
        for name in FOLDERS:
            (self._folder / "main" / name).mkdir(parents=True)
        for name in PROGRAMS:
            if (path := Path("/") / name).is_symlink():
                (self._folder / "main" / name).symlink_to(os.readlink(path))
        for name in ("bin", "home", "runs"):
            (self._folder / "world" / name).mkdir(parents=True)
        script = self._folder / "world" / "bin" / "episodic"
        script.write_text(f'#!/bin/sh\nexec {shlex.join([program, *self._episodic[1:]])} "$@"\n')
        script.chmod(0o755)
        shutil.copyfile(self.environment_dir / "task.jsonl", self._folder / "world" / "task.jsonl")
        try:
            await asyncio.wait_for(self._serve(self._folder / "world.log"), START_SECONDS)
        except BaseException:
            await self.stop(delete=True)
            raise

    async def _serve(self, log: Path) -> None:
        read, write = os.pipe()
        # Without devices of its own, the sandbox has one user namespace, which other commands can enter.
        command = ["bwrap", "--unshare-user", "--unshare-net", "--unshare-pid", "--die-with-parent", "--info-fd"]
        command += [str(write), *self._world_mounts(), "episodic", *self._command(), "--json", "--log-level", "warn"]
        try:
            with log.open("wb") as errors:
                self._server = await asyncio.create_subprocess_exec(
                    *command,
                    # The server stops when its input ends.
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=errors,
                    pass_fds=[write],
                )
        finally:
            os.close(write)
        self._namespace = await asyncio.to_thread(_read_child, read)
        assert self._server.stdout is not None
        if not await self._server.stdout.readline():
            raise RuntimeError(f"The server of the world did not start:\n{_end_of(log)}")

    def _world_mounts(self) -> list[str]:
        """The world's server sees this machine as it is, read-only, and writes to `/app` alone."""
        here = [str(Path("/") / name) for name in sorted(os.listdir("/")) if name not in ("app", "dev", "proc")]
        mounts = [word for path in here for word in ("--ro-bind", path, path)]
        mounts += ["--bind", str(self._path("world")), "/app", "--dev-bind", "/dev", "/dev", "--proc", "/proc"]
        path = f"/app/bin:{os.environ.get('PATH', PATH)}"
        return [*mounts, "--setenv", "EPISODIC_HOME", "/app/home", "--setenv", "PATH", path]

    def _main_mounts(self) -> list[str]:
        mounts = ["--bind", str(self._path("main")), "/", "--ro-bind", "/usr", "/usr"]
        others = [f"/{name}" for name in PROGRAMS if not (Path("/") / name).is_symlink()]
        for path in [*others, *(f"/etc/{name}" for name in SETTINGS), *self._readable]:
            mounts += ["--ro-bind-try", path, path]
        isolation = ["--unshare-ipc", "--unshare-uts", "--new-session", "--clearenv"]
        return [
            *mounts,
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            *isolation,
            "--setenv",
            "PATH",
            PATH,
            "--setenv",
            "HOME",
            "/root",
        ]

    def _path(self, name: str) -> Path:
        if self._folder is None:
            raise RuntimeError("The environment has not started.")
        return self._folder / name

    async def _run(
        self,
        words: Sequence[str],
        *,
        service: str = "main",
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout: float | None = None,
        given: bytes = b"",
    ) -> tuple[int, bytes, bytes]:
        """Runs a program in the sandbox of a service, in the network of the world."""
        if self._server is None or self._server.returncode is not None:
            raise RuntimeError("The server of the world has ended.")
        mounts = self._main_mounts() if service == "main" else self._world_mounts()
        variables = [word for name, value in (env or {}).items() for word in ("--setenv", name, value)]
        enter = ["nsenter", "--target", str(self._namespace), "--user", "--net", "--preserve-credentials"]
        folder = cwd or ("/app" if service == "main" else os.getcwd())
        sandbox = ["bwrap", "--unshare-pid", "--die-with-parent", *mounts, *variables, "--chdir", folder]
        process = await asyncio.create_subprocess_exec(
            *enter,
            *sandbox,
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(given), timeout)
        except TimeoutError:
            raise RuntimeError(f"Command timed out after {timeout} seconds") from None
        finally:
            await _end(process)
        assert process.returncode is not None
        return process.returncode, out, err

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """Runs a command of the shell beside the world."""
        cwd = cwd or self.task_env_config.workdir
        return _result(await self._run(_shell(command), cwd=cwd, env=self._merge_env(env), timeout=timeout_sec))

    async def service_exec(
        self,
        command: str,
        *,
        service: str | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """Runs a command of the shell beside the world, or where its server is."""
        if service != WORLD:
            return await super().service_exec(
                command, service=service, cwd=cwd, env=env, timeout_sec=timeout_sec, user=user
            )
        return _result(await self._run(_shell(command), service=WORLD, cwd=cwd, env=env, timeout=timeout_sec))

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        """Copies a file of this machine into the sandbox."""
        source = Path(source_path)
        await self._unpack(source, str(Path(target_path).parent), Path(target_path).name)

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        """Copies what is in a folder of this machine into one of the sandbox."""
        await self._unpack(Path(source_dir), target_dir, ".")

    async def _unpack(self, source: Path, folder: str, name: str) -> None:
        # A link that the agent has put in the way leads nowhere but within its own sandbox.
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.add(source, name)
        unpack = ["sh", "-c", 'mkdir -p "$1" && tar --no-same-owner -xf - -C "$1"', "sh", folder]
        await self._transfer(unpack, given=archive.getvalue())

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        """Copies a file of the sandbox to this machine."""
        await asyncio.to_thread(Path(target_path).write_bytes, await self._transfer(["cat", source_path]))

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        """Copies what is in a folder of the sandbox into one of this machine."""
        archive = await self._transfer(["tar", "-cf", "-", "-C", source_dir, "."])
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(target_dir, filter=transfer_tar_filter)

    async def service_download_file(
        self, source_path: str, target_path: Path | str, *, service: str | None = None
    ) -> None:
        """Copies a file of the sandbox, or of the world's server, to this machine."""
        content = await self._transfer(["cat", source_path], service=service or "main")
        await asyncio.to_thread(Path(target_path).write_bytes, content)

    async def _transfer(self, words: Sequence[str], *, service: str = "main", given: bytes = b"") -> bytes:
        status, out, err = await self._run(words, service=service, given=given)
        if status != 0:
            raise RuntimeError(f"{words[0]} ended with {status}: {err.decode(errors='replace').strip()}")
        return out

    async def stop_service(self, service: str) -> None:
        """Ends the server of the world. Of the agent's commands, nothing runs on once they have returned."""
        if service == WORLD:
            await self._stop_server()

    async def stop(self, delete: bool) -> None:
        """Ends the server of the world, and removes the folder."""
        await self._stop_server()
        if self._folder is not None and delete:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    async def _stop_server(self) -> None:
        if self._server is None:
            return
        assert self._server.stdin is not None
        self._server.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._server.wait(), STOP_SECONDS)
        await _end(self._server)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _read_child(info: int) -> int:
    with open(info, "rb") as file:
        return int(json.load(file)["child-pid"])


def _end_of(log: Path) -> str:
    return log.read_text(errors="replace").strip()[-2_000:]


def _shell(command: str) -> list[str]:
    return ["bash" if shutil.which("bash") else "sh", "-c", command]


def _result(ended: tuple[int, bytes, bytes]) -> ExecResult:
    status, out, err = ended
    return ExecResult(stdout=out.decode(errors="replace"), stderr=err.decode(errors="replace"), return_code=status)
