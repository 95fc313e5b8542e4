"""Lets another program play through the clients of the Open Reward Standard: `openreward`, or `ors` of ors-sdk.

It reads one request a line on standard input and writes one answer a line on standard output. A `Place` opens a session
of a task, after the lists of the environment; a `Call` calls a tool; `null` closes the session, after which another one
may be opened. An error of a call is answered with its class and message, and the session goes on.
"""

import asyncio
import json
import os
import sys
from contextlib import AbstractAsyncContextManager
from typing import Any, TypedDict

JsonObject = dict[str, Any]


class Place(TypedDict):
    """Where a task is, and whether its session is opened with the row of it."""

    environment: str
    split: str
    index: int
    by_row: bool


async def serve(package: str, url: str, token: str) -> None:
    """Answers requests until standard input ends."""
    # Kept until the end: the finaliser of a client closes the connections under a live environment.
    client, environment_of = connect(package, url, token)
    while (place := await read()) is not None:
        environment = environment_of(place["environment"])
        task = await environment.get_task(place["split"], place["index"])
        async with session_of(environment, place, task) as session:
            write(
                {
                    "splits": await environment.list_splits(),
                    "count": await environment.num_tasks(place["split"]),
                    "task": task.task_spec,
                    "prompt": [block.text for block in await session.get_prompt()],
                    "tools": [tool.name for tool in await session.list_tools()],
                }
            )
            while (call := await read()) is not None:
                write(await answer(session, call))
        write({"closed": True})
    del client


def connect(package: str, url: str, token: str) -> tuple[Any, Any]:
    """The client of a package, and a function that returns an environment of it by name."""
    if package == "openreward":
        os.environ["OPENREWARD_API_URL"] = os.environ["OPENREWARD_SESSION_URL"] = url
        from openreward import AsyncOpenReward

        client = AsyncOpenReward(api_key=token)
        return client, lambda name: client.environments.get(name, variant=name)
    from ors.client import AsyncORS

    other = AsyncORS(base_url=url, api_key=token)
    return other, other.environment


def session_of(environment: Any, place: Place, task: Any) -> AbstractAsyncContextManager[Any]:
    """A session of a task, by its row or by its place."""
    if place["by_row"]:
        return environment.session(task)
    return environment.session(split=place["split"], index=place["index"])


async def answer(session: Any, call: JsonObject) -> JsonObject:
    """The answer to one call of a tool, as the client passes it on."""
    try:
        output = await session.call_tool(call["tool"], call["arguments"])
    except Exception as error:  # noqa: BLE001 (whatever a client throws is for the program that drives it)
        return {"error": type(error).__name__, "reason": getattr(error, "reason", None), "message": str(error)}
    return {
        "text": "\n".join(block.text for block in output.blocks),
        "reward": output.reward,
        "finished": output.finished,
        "metadata": output.metadata,
    }


async def read() -> Any:
    """The next request; `None` for `null` and at the end of the input."""
    line = await asyncio.to_thread(sys.stdin.readline)
    return json.loads(line) if line else None


def write(response: JsonObject) -> None:
    """Writes one line."""
    sys.stdout.write(json.dumps(response) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:4]))
