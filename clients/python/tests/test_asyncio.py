"""Episodes of asyncio, over one WebSocket."""

from __future__ import annotations

import asyncio
import random
import threading

import pytest
from serving import LONG, LossyProxy, Server

from episodic_env import AsyncConnection, AsyncEpisode, Connection, EpisodicError, Step, Task, connect, connect_async

MOVES = ("up", "down", "left", "right")
EPISODES = 8
STEPS = 40

Seen = list[tuple[object, ...]]


def seen_of(step: Step) -> tuple[object, ...]:
    return (step.observation, dict(step.terms), step.reward, step.end, step.refused, step.state_hash)


def undisturbed(connection: Connection, seed: int) -> Seen:
    """Plays random steps of the warehouse, where every step changes the battery: one too many would be seen."""
    moves = random.Random(seed)
    with connection.open("warehouse", seed=seed) as episode:
        seen: Seen = [(episode.observation,)]
        while episode.end is None and episode.seq < STEPS:
            seen.append(seen_of(episode.step("move", {"direction": moves.choice(MOVES)})))
        return seen


async def one_by_one(connection: AsyncConnection, seed: int) -> tuple[AsyncEpisode, Seen]:
    moves = random.Random(seed)
    episode = await connection.open("warehouse", seed=seed)
    seen: Seen = [(episode.observation,)]
    while episode.end is None and episode.seq < STEPS:
        seen.append(seen_of(await episode.step("move", {"direction": moves.choice(MOVES)})))
    return episode, seen


async def all_at_once(connection: AsyncConnection, seeds: range) -> list[tuple[AsyncEpisode, Seen]]:
    opened = await asyncio.gather(*(connection.open("warehouse", seed=seed) for seed in seeds))
    drawn = [random.Random(seed) for seed in seeds]
    seen: list[Seen] = [[(episode.observation,)] for episode in opened]
    while playing := [i for i, episode in enumerate(opened) if episode.end is None and episode.seq < STEPS]:
        moves = [(opened[i], "move", {"direction": drawn[i].choice(MOVES)}) for i in playing]
        for i, step in zip(playing, await connection.step_all(moves), strict=True):
            assert isinstance(step, Step)
            seen[i].append(seen_of(step))
    return list(zip(opened, seen, strict=True))


async def in_tasks(connection: AsyncConnection, seeds: range) -> list[tuple[AsyncEpisode, Seen]]:
    return await asyncio.gather(*(one_by_one(connection, seed) for seed in seeds))


@pytest.mark.parametrize("play", [in_tasks, all_at_once])
@pytest.mark.parametrize("every", [0, 7])
def test_plays_each_step_once_whatever_is_lost(server: Server, proxy: LossyProxy, play: object, every: int) -> None:
    seeds = range(EPISODES)
    with connect(server.url, server.token) as direct:
        expected = [undisturbed(direct, seed) for seed in seeds]

        async def main() -> None:
            url = f"ws://127.0.0.1:{proxy.port}/env"
            async with connect_async(url, server.token, wait=LONG) as connection:
                await connection.environments()
                # Each loss ends the socket of all episodes, and handshakes are lost, too.
                proxy.lose_every(every, 1)
                played = await play(connection, seeds)  # type: ignore[operator]
                proxy.lose_every(0, 1)
                for (episode, seen), wanted in zip(played, expected, strict=True):
                    assert seen == wanted
                    logged = direct.attach(episode.handle).played().steps
                    assert [entry.step.seq for entry in logged] == list(range(1, len(wanted)))
                    await episode.close()

        asyncio.run(main())
    assert (proxy.lost > 5) == (every > 0)


def test_counts_as_the_other_client_does(connection: Connection, server: Server) -> None:
    async def main() -> None:
        async with connect_async(server.url, server.token) as other:
            task = Task("number-guessing", {"high": 100}, seed="7")
            async with await other.open(task, limits={"steps": 50}) as episode:
                with connection.open(task, limits={"steps": 50}) as same:
                    for value in (50, 75, 62, 68, 65):
                        step, wanted = (
                            await episode.step("guess", {"value": value}),
                            same.step("guess", {"value": value}),
                        )
                        assert seen_of(step) == seen_of(wanted)
                    for name in ("params", "limits", "seed", "end", "success", "total", "summed", "potential", "seq"):
                        assert getattr(episode, name) == getattr(same, name)
                with pytest.raises(EpisodicError) as over:
                    await episode.step("guess", {"value": 1})
                assert over.value.code == "not-playing"
            closing = await other.open("number-guessing")
            closed = await closing.close()
            assert closed is not None and (closed.kind, closed.reason) == ("truncated", "closed")
            assert await closing.close() == closed

    asyncio.run(main())


def test_a_failure_is_in_its_place(server: Server) -> None:
    async def main() -> None:
        async with connect_async(server.url, server.token) as connection:
            episodes = [await connection.open("number-guessing", seed="7") for _ in range(4)]
            over, gone, wrong, right = episodes
            for value in (50, 75, 62, 68, 65):
                await over.step("guess", {"value": value})
            with connect(server.url, server.token) as direct:
                direct.attach(gone.handle).close()
            moves = [(over, "guess", {"value": 1}), (gone, "guess", {"value": 1})]
            moves += [(wrong, "guess", {"value": object()}), (right, "guess", {"value": 1})]
            *errors, step = await connection.step_all(moves)
            assert [error.code for error in errors if isinstance(error, EpisodicError)] == [
                "not-playing",
                "session-not-found",
                "option-invalid",
            ]
            assert isinstance(step, Step) and (step.seq, right.seq, wrong.seq) == (1, 1, 0)
            with pytest.raises(EpisodicError, match="void"):
                await gone.step("guess", {"value": 1})
            with pytest.raises(EpisodicError, match="two moves"):
                await connection.step_all([moves[3], moves[3]])
            assert await connection.step_all([]) == []

    asyncio.run(main())


def test_a_cancelled_step_can_only_be_followed_by_itself(server: Server) -> None:
    async def main() -> None:
        async with connect_async(server.url, server.token) as connection:
            episode = await connection.open("number-guessing", seed="7")
            stepping = asyncio.ensure_future(episode.step("guess", {"value": 50}))
            # It has been sent when its task has had a turn.
            await asyncio.sleep(0)
            stepping.cancel()
            with pytest.raises(asyncio.CancelledError):
                await stepping
            with pytest.raises(EpisodicError) as refused:
                await episode.step("guess", {"value": 51})
            assert refused.value.code == "seq-reused"
            step = await episode.step("guess", {"value": 50})
            assert (step.replayed, episode.seq) == (True, 1)
            await episode.close()

    asyncio.run(main())


def test_waits_for_a_killed_server(durable: Server) -> None:
    async def main() -> None:
        async with connect_async(durable.url, durable.token, wait=float("inf")) as connection:
            episodes = [await connection.open("number-guessing", seed=seed) for seed in range(3)]
            await connection.step_all([(episode, "guess", {"value": 0}) for episode in episodes])
            restarting = threading.Thread(target=durable.restart)
            restarting.start()
            for seq in (2, 3, 4):
                # Refused, and counted.
                steps = await connection.step_all([(episode, "guess", {"value": 0}) for episode in episodes])
                assert [step.seq for step in steps if isinstance(step, Step)] == [seq] * 3
            await asyncio.to_thread(restarting.join)

    asyncio.run(main())


def test_what_a_player_leaves_is_judged_once_it_is_closed(server: Server) -> None:
    async def main() -> None:
        async with connect_async(server.websocket_url, server.token) as connection:
            async with await connection.open("garden") as episode:
                await episode.step("sow")
            assert (episode.total, episode.success) == (1.0, True)
            assert episode.left is not None
            with pytest.raises(ZeroDivisionError):
                async with await connection.open("garden") as given_up:
                    await given_up.step("sow")
                    _ = 1 / 0
            assert (given_up.total, given_up.left) == (0.0, None)

    asyncio.run(main())


def test_says_what_is_wrong(server: Server) -> None:
    async def code_of(url: str, token: str, environment: str) -> str:
        async with connect_async(url, token, wait=0) as connection:
            with pytest.raises(EpisodicError) as failed:
                await connection.open(environment)
            return failed.value.code

    async def main() -> None:
        assert await code_of(server.url, "another", "number-guessing") == "unauthorized"
        assert await code_of(server.url, server.token, "chess") == "unknown-environment"
        assert await code_of(server.url, server.token, "kuhn-poker") == "option-invalid"
        assert await code_of("http://127.0.0.1:1/env", "token", "number-guessing") == "connection-failed"
        assert await code_of(server.url.replace("/env", "/nothing"), server.token, "x") == "connection-failed"
        connection = connect_async(server.url, server.token)
        await connection.close()
        with pytest.raises(EpisodicError, match="closed"):
            await connection.environments()

    asyncio.run(main())
    with pytest.raises(EpisodicError):
        connect_async("file:///env")


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_keeps_a_host_that_is_named_after_a_scheme(scheme: str) -> None:
    shown = repr(connect_async(f"{scheme}://http.example:1/env"))
    assert shown == "<AsyncConnection to ws://http.example:1/env>"
