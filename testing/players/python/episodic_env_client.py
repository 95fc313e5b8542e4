"""Lets another program play scripts through `episodic_env`: its client, or its Gymnasium adapter.

It reads one script a line on standard input and writes what was seen of the episode on standard output.
"""

import json
import sys
from typing import Any

from episodic_env import Connection, End, Observation, Task, connect

JsonObject = dict[str, Any]


def main(how: str, url: str, token: str) -> None:
    """Plays scripts until standard input ends."""
    with connect(url, token) as connection:
        for line in sys.stdin:
            script = json.loads(line)
            seen = play_gymnasium(url, token, script) if how == "gymnasium" else play(connection, script)
            print(json.dumps(seen), flush=True)


def play(connection: Connection, script: JsonObject) -> JsonObject:
    """Plays a script by the client, and returns what was seen."""
    steps = []
    with connection.open(task_of(script)) as episode:
        for action in script["actions"]:
            step = episode.step(action["tool"], action["arguments"])
            steps.append(
                {
                    **shown(step.observation),
                    "refused": step.refused,
                    "reward": step.reward,
                    "terms": dict(step.terms),
                    "end": ended(step.end),
                    "success": step.success,
                    "potential": step.potential,
                    "stateHash": step.state_hash,
                    "seq": step.seq,
                }
            )
        return {"opening": shown(episode.opening), "steps": steps, "total": {"reward": episode.total}}


def play_gymnasium(url: str, token: str, script: JsonObject) -> JsonObject:
    """Plays a script by the Gymnasium adapter, whose actions are texts of JSON, and returns what was seen."""
    from episodic_env.gymnasium import EpisodicEnv

    env = EpisodicEnv(script["world"], url=url, token=token, tasks=[task_of(script)])
    try:
        text, info = env.reset()
        opening = shown(info["observation"])
        assert text == opening["text"]
        steps = []
        for action in script["actions"]:
            text, reward, terminated, truncated, info = env.step(json.dumps(action))
            observation = shown(info["observation"])
            assert text == observation["text"]
            steps.append(
                {
                    **observation,
                    "refused": info["refused"],
                    "reward": reward,
                    "terms": info["terms"],
                    "kind": "terminated" if terminated else "truncated" if truncated else None,
                    "success": info.get("success"),
                }
            )
        return {"opening": opening, "steps": steps, "total": {}}
    finally:
        env.close()


def task_of(script: JsonObject) -> Task:
    """The task of a script."""
    return Task(script["world"], params=script["params"], seed=script["seed"], limits=script["limits"])


def shown(observation: Observation) -> JsonObject:
    """The parts of an observation."""
    return {"text": observation.text, "structured": observation.structured}


def ended(end: End | None) -> JsonObject | None:
    """The parts of an end."""
    return end and {"kind": end.kind, "reason": end.reason}


if __name__ == "__main__":
    main(*sys.argv[1:4])
