"""Serves a world by its name from Python, where nothing of Node is installed but Node."""

from episodic_env import serve

with serve("cart-pole") as server, server.connect() as connection, connection.open("cart-pole", seed=1) as episode:
    print(episode.step("push", {"side": "left"}).seq)
