"""One episode at the trainer endpoint."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from .environment_info import EnvironmentInfo
from .errors import EpisodicError, malformed
from .json_types import Json, JsonObject
from .rpc import EPOCH, REPLAYED, SEQ, SESSION, STEP
from .step import End, Observation, Step, answered_observation, end_of, observation_of, step_of

VOIDING = frozenset({"session-not-found", "fenced", "state-lost"})
"""Codes after which no step follows: the session is gone, has another owner, or was set back to an earlier step."""

Call = Callable[[str, JsonObject, bool], Json]
"""Calls a method with parameters; the last argument says whether to retry."""


@dataclass(frozen=True)
class PlayedStep:
    """A step of a session as its log keeps it, by any player."""

    tool: str
    arguments: JsonObject
    step: Step


@dataclass(frozen=True)
class Played:
    """The steps of a session after a given one, and how the episode ended."""

    steps: tuple[PlayedStep, ...]
    end: End | None


class Episode:
    """An open session. Make one call at a time; episodes of one connection may run in several threads.

    Leaving its `with` block closes it.
    """

    def __init__(self, call: Call, info: EnvironmentInfo, opened: Any, agent_url: str) -> None:
        try:
            seat = opened["seats"]["agent"]
            self.id: str = opened["id"]
            self.seed: str = opened["seed"]
            self.params: JsonObject = opened["params"]
            self.limits: JsonObject = opened["limits"]
            self.potential: float | None = opened["potential"]
            self._session: str = opened["session"]
            self._epoch: int = opened["epoch"]
            self._capability: str = seat["capability"]
            self._seq: int = seat["seq"]
            self.observation: Observation = observation_of(seat["observation"])
        except (KeyError, TypeError) as cause:
            raise malformed(f"The server opened a session without {cause}.") from cause
        self.info = info
        self.opening = self.observation
        """The observation at the start; `observation` is the latest one."""
        self.total = 0.0
        """The return so far: the sum of the rewards of the steps that this object has played."""
        self.end: End | None = None
        self.success: bool | None = None
        """Whether the episode succeeded, once it is over or closed; None if the environment defines no success."""
        self._call = call
        self._agent_url = agent_url
        self._over: str | None = None
        self._open = True
        self._answered = True

    @property
    def seq(self) -> int:
        """How many steps are answered."""
        return self._seq

    @property
    def session_url(self) -> str:
        """The MCP endpoint of this session's player: a secret that allows its tools and nothing else."""
        return f"{self._agent_url}/s/{self._capability}"

    def step(self, tool: str, arguments: JsonObject | None = None) -> Step:
        """Calls a tool of the environment.

        After an error with code `connection-failed`, call it again with the same tool and arguments: the server plays
        the step if it had not, and otherwise returns the stored answer. Raises `not-playing` after the end.
        """
        if self._over is not None:
            raise EpisodicError("not-playing", f"{self._over}, so no step follows. Open another.", retryable=False)
        meta = {SESSION: self._session, EPOCH: self._epoch, SEQ: self._seq}
        result = self._ask("tools/call", {"name": tool, "arguments": dict(arguments or {}), "_meta": meta})
        if not isinstance(result, dict) or not isinstance(result.get("_meta"), dict):
            raise malformed("The answer to a step has no report.")
        observation = answered_observation(result)
        replayed = result["_meta"].get(REPLAYED) is True
        step = step_of(self.info, observation, result["_meta"].get(STEP), replayed)
        if step.seq != self._seq + 1:
            raise malformed(f"The server counts {step.seq} steps, and {self._seq + 1} were sent.")
        self._seq = step.seq
        self.observation = observation
        self.potential = step.potential
        self.total += step.reward
        if step.end is not None:
            self.end = step.end
            self.success = step.success
            self._over = f"The episode is over ({step.end.reason})"
        return step

    def played(self, wait: float = 0.0) -> Played:
        """Returns all steps of the session, also those of an agent at `session_url`.

        Waits up to `wait` seconds for the first one. Before `close` only.
        """
        steps: list[PlayedStep] = []
        after = 0
        while True:
            page = self._ask("environment/watch", {**self._named(), "after": after, "limit": 1000, "wait": wait})
            logged = page.get("steps") if isinstance(page, dict) else None
            if not isinstance(logged, list):
                raise malformed("The server sent no log of steps.")
            for entry in logged:
                action, report = entry["action"], entry["report"]
                step = step_of(self.info, observation_of(entry["observation"]), report, False)
                steps.append(PlayedStep(action["tool"], action["arguments"], step))
                after = report["revision"]
            if len(logged) < 1000:
                return Played(tuple(steps), end_of(page.get("end")))
            wait = 0.0

    def legal(self) -> JsonObject:
        """Returns the actions that the rules accept now: by tool, a JSON Schema of its arguments."""
        result: dict[str, JsonObject] = self._ask("environment/legal", self._named())
        return result["tools"]

    def state(self) -> JsonObject:
        """Returns the state of the session, private part included: never show it to a player."""
        result: dict[str, JsonObject] = self._ask("environment/state", self._named())
        return result["state"]

    def publish(self, type: str, data: JsonObject | None = None, *, id: str | None = None) -> JsonObject:  # noqa: A002
        """Publishes an outside event, exactly once per `id`. The rules apply it before the next step."""
        event = {**self._named(), "type": type, "data": dict(data or {}), "id": id or secrets.token_urlsafe(18)}
        result: JsonObject = self._ask("environment/publish", event)
        return result

    def snapshot(self, at: int | None = None) -> JsonObject:
        """Returns the session after `at` steps (default: now), as plain JSON. It contains the private state."""
        request = self._named() if at is None else {**self._named(), "at": at}
        result: dict[str, JsonObject] = self._ask("environment/snapshot", request)
        return result["snapshot"]

    def fork(self, count: int = 1, *, at: int | None = None, seed: str | None = None) -> list[Episode]:
        """Returns episodes that continue from here, or from step `at`, and share nothing with this one.

        Without `seed`, the same actions get the same answers; with it, each fork has random streams of its own.
        """
        request = {**self._named(), "count": count, "requestKey": secrets.token_urlsafe(24)}
        if at is not None:
            request["at"] = at
        if seed is not None:
            request["seed"] = seed
        forks = self._ask("environment/fork", request)["forks"]
        return [Episode(self._call, self.info, opened, self._agent_url) for opened in forks]

    def close(self) -> End | None:
        """Ends the episode on the server and returns how it ended. Safe to call twice: then it returns `end`."""
        if not self._open:
            return self.end
        self._open = False
        if self._over is None:
            self._over = "The episode is closed"
        try:
            # No retries for a server that did not answer the last call: the session expires there.
            result = self._call("environment/close", self._named(), self._answered)
            self.end = end_of(result["end"])
            self.success = result.get("success", self.success)
        except EpisodicError as error:
            # The session is closed or expired already.
            if error.code not in VOIDING:
                raise
        return self.end

    def __enter__(self) -> Episode:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.close()
        except EpisodicError:
            # The error that left the block says more than the failure to close.
            if error is None:
                raise

    def _named(self) -> dict[str, Json]:
        return {"session": self._session}

    def _ask(self, method: str, params: JsonObject) -> Json:
        if not self._open:
            raise EpisodicError("not-playing", "The episode is closed. Open another.", retryable=False)
        self._answered = False
        try:
            result = self._call(method, params, True)
        except EpisodicError as error:
            self._answered = error.code != "connection-failed"
            if error.code in VOIDING:
                self._over = f"The episode is void ({error.code})"
                # Another client owns the session now, so `close` must not end it.
                self._open = error.code != "fenced"
            raise
        self._answered = True
        return result
