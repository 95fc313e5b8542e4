"""One step: a tool call that carries its place in the order of a seat's steps."""

from __future__ import annotations

from collections.abc import Callable

from .environment_info import EnvironmentInfo
from .errors import malformed
from .json_types import Json, JsonObject, by_name
from .observation import answered_observation
from .rpc import REPLAYED, SEAT, SEQ, SESSION, STEP
from .step import Step, step_of

Ask = Callable[[str, JsonObject], Json]
"""Calls a method with parameters, with retries."""


def play_step(
    ask: Ask,
    info: EnvironmentInfo,
    tool: str,
    arguments: JsonObject | None,
    *,
    session: str,
    seat: str,
    seq: int,
    meta: JsonObject | None = None,
) -> Step:
    """Plays the step of a seat after `seq` answered ones. A repeated call returns the stored answer."""
    request = step_request(info, tool, arguments, session=session, seat=seat, seq=seq, meta=meta)
    return read_step(info, ask("tools/call", request), seat=seat, seq=seq)


def step_request(
    info: EnvironmentInfo,
    tool: str,
    arguments: JsonObject | None,
    *,
    session: str,
    seat: str,
    seq: int,
    meta: JsonObject | None = None,
) -> JsonObject:
    """Returns the parameters of the `tools/call` that is the step of a seat after `seq` answered ones."""
    named = {SEAT: seat} if info.seats else {}
    sent = {SESSION: session, SEQ: seq, **named, **(meta or {})}
    return {"name": tool, "arguments": by_name(arguments, f"arguments of {tool}"), "_meta": sent}


def read_step(info: EnvironmentInfo, result: Json, *, seat: str, seq: int) -> Step:
    """Reads the answer to a step. Raises `reply-malformed`."""
    if not isinstance(result, dict) or not isinstance(result.get("_meta"), dict):
        raise malformed("The answer to a step has no report.")
    replayed = result["_meta"].get(REPLAYED) is True
    step = step_of(info, answered_observation(result), result["_meta"].get(STEP), replayed, seat)
    if step.seq != seq + 1:
        raise malformed(f"The server counts {step.seq} steps, and {seq + 1} were sent.")
    return step
