"""The adapter of ART. Runs in the environment of `pnpm interop python art`."""

from __future__ import annotations

import asyncio

import pytest

art = pytest.importorskip("art")

from openai import AsyncOpenAI  # noqa: E402
from openai.types.chat.chat_completion import Choice  # noqa: E402
from serving import LONG, LossyProxy, Server  # noqa: E402

from episodic_env import Task, connect, connect_async  # noqa: E402
from episodic_env.art import rollout  # noqa: E402

GUESSING = Task("number-guessing", {"high": 100}, seed="7", prompt="Find the number.")


def test_plays_groups_whatever_is_lost(server: Server, proxy: LossyProxy, model: str) -> None:
    async def main() -> None:
        client = AsyncOpenAI(base_url=model, api_key="none")
        url = f"ws://127.0.0.1:{proxy.port}/env"
        async with connect_async(url, server.token, wait=LONG) as connection, client:
            await connection.environments()
            proxy.lose_every(7, 1)
            groups = await art.gather_trajectory_groups(
                art.trajectory_group(rollout(connection, GUESSING, client, "halving") for _ in range(3))
                for _ in range(4)
            )
        assert proxy.lost > 0
        assert len(groups) == 4
        for trajectory in (trajectory for group in groups for trajectory in group.trajectories):
            assert trajectory.reward == pytest.approx(0.95)
            assert trajectory.metrics == {"solved": 1.0, "cost": pytest.approx(-0.05), "steps": 5}
            assert trajectory.metadata == {"seed": "7", "end": "solved"}
            prompt, *others = trajectory.messages_and_choices
            assert prompt["content"] == "Find the number.\n\nGuess a whole number from 1 to 100. 8 guesses left."
            assert [isinstance(item, Choice) for item in others] == [True, False] * 5
            assert "reward" not in str(trajectory.messages())
            assert trajectory.tools[0]["function"]["name"] == "guess"

    asyncio.run(main())


def test_a_failed_episode_is_an_exception_of_its_group(server: Server, model: str) -> None:
    async def main() -> None:
        async with (
            connect_async(server.url, server.token) as connection,
            AsyncOpenAI(base_url=model, api_key="x") as client,
        ):
            wrong = Task("number-guessing", {"hihg": 10})
            [group] = await art.gather_trajectory_groups(
                [
                    art.trajectory_group(
                        (rollout(connection, task, client, "halving") for task in (GUESSING, wrong)),
                        return_exceptions=True,
                    )
                ]
            )
        assert [trajectory.reward for trajectory in group.trajectories] == [pytest.approx(0.95)]
        assert len(group.exceptions) == 1

    asyncio.run(main())


def test_a_model_that_has_had_its_turns_is_scored(server: Server, model: str) -> None:
    async def main() -> None:
        async with (
            connect_async(server.url, server.token) as connection,
            AsyncOpenAI(base_url=model, api_key="x") as client,
        ):
            trajectory = await rollout(connection, GUESSING, client, "halving", turns=2)
        assert (trajectory.reward, trajectory.metadata["end"]) == (-0.02, "closed")

    with connect(server.url, server.token) as operator:
        before = operator._call("environment/sessions", {}, True)["total"]
        asyncio.run(main())
        assert operator._call("environment/sessions", {}, True)["total"] == before
