"""number-guessing as a server of FastMCP over streamable HTTP: an episode is the state of an MCP session."""

import sys

from fastmcp import Context, FastMCP

from game import Game

mcp = FastMCP("number-guessing")


@mcp.tool
async def guess(value: int, ctx: Context) -> dict:
    """Guess the number. The answer says whether it is higher or lower than your guess."""
    state = await ctx.get_state("game")
    game = Game(**state) if state else Game(ctx.session_id)
    answer, _ = game.guess(value)
    await ctx.set_state(
        "game", {"seed": game.seed, "guesses_left": game.guesses_left, "guesses": game.guesses, "done": game.done}
    )
    return answer


if __name__ == "__main__":
    mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", show_banner=False)
