"""Finds the number with the MCP client of Python, within the sandbox of a trial: its address and the instruction."""

import asyncio
import re
import sys

from mcp import Client


async def play(url: str, instruction: str) -> None:
    """Halves the range until the number is found."""
    low, high = (int(number) for number in re.search(r"\((-?\d+) to (-?\d+)", instruction).groups())
    async with Client(url) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["guess"]
        while True:
            value = (low + high) // 2
            answer = (await client.call_tool("guess", {"value": value})).structured_content
            if answer["hint"] == "higher":
                low = value + 1
            elif answer["hint"] == "lower":
                high = value - 1
            else:
                return


asyncio.run(play(*sys.argv[1:]))
