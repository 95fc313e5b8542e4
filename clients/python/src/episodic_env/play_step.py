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
    named = {SEAT: seat} if info.seats else {}
    sent = {SESSION: session, SEQ: seq, **named, **(meta or {})}
    result = ask("tools/call", {"name": tool, "arguments": by_name(arguments, f"arguments of {tool}"), "_meta": sent})
    if not isinstance(result, dict) or not isinstance(result.get("_meta"), dict):
        raise malformed("The answer to a step has no report.")
    replayed = result["_meta"].get(REPLAYED) is True
    step = step_of(info, answered_observation(result), result["_meta"].get(STEP), replayed, seat)
    if step.seq != seq + 1:
        raise malformed(f"The server counts {step.seq} steps, and {seq + 1} were sent.")
    return step
