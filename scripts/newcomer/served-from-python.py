"""Serves a world by its name from Python, where nothing of Node is installed but Node."""

from episodic_env import serve

with serve("number-guessing") as server, server.connect() as connection:
    with connection.open("number-guessing", seed=1) as episode:
        print(episode.step("guess", {"value": 50}).seq)
