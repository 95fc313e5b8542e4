"""Rollouts at a gateway: parked, resumed under newer weights, and handed to trainers in their own types."""

from __future__ import annotations

import asyncio
import json
import random
import runpy
import socket
import urllib.request
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError

import pytest
from serving import ROOT, Server, serving_gateway

from episodic_env import AsyncConnection, AsyncEpisode, EpisodicError, Rollout, Rollouts, Step, Task, connect_async
from episodic_env.samples import samples_of, to_prime_rl, to_skyrl, to_trl, to_trl_async, to_verl

TOKEN = "of-the-trainer-and-nobody-else"
MOVES = ("up", "down", "left", "right")
TASK = Task("number-guessing", {"high": 100}, "7", prompt="Find the number.")


def test_a_parked_episode_goes_on_over_another_connection_as_if_nothing_had_been(server: Server) -> None:
    async def play(parks: bool) -> list[object]:
        drawn, seen = random.Random(1), list[object]()
        connections = [connect_async(server.url, server.token) for _ in range(2)]
        episode = await connections[0].open("warehouse", seed=3)
        for turn in range(30):
            if parks and turn == 12:
                before, parked = episode, json.loads(json.dumps(await episode.park()))
                await before.close()
                with pytest.raises(EpisodicError, match="parked"):
                    await before.step("move", {"direction": "up"})
                episode = await connections[1].resume(parked)
                assert (episode.observation, episode.seq) == (before.observation, 12)
            step = await episode.step("move", {"direction": drawn.choice(MOVES)})
            seen.append((step.observation, dict(step.terms), step.state_hash, step.seq))
        seen.append((episode.total, dict(episode.summed)))
        for connection in connections:
            await connection.close()
        return seen

    assert asyncio.run(play(parks=True)) == asyncio.run(play(parks=False))


async def ask(rollout: Rollout, messages: list[Any]) -> dict[str, Any]:
    body = json.dumps({"model": "m", "messages": messages}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{rollout.url}/chat/completions", body, headers)

    def send() -> dict[str, Any]:
        with urllib.request.urlopen(request) as answer:
            message: dict[str, Any] = json.load(answer)["choices"][0]["message"]
            return message

    return await asyncio.to_thread(send)


async def play(rollout: Rollout, worlds: AsyncConnection, turns: int) -> tuple[AsyncEpisode, list[Any]]:
    """Plays so many turns of a rollout, from where it was parked."""
    episode = await rollout.open(worlds)
    opening = [{"role": "user", "content": f"{rollout.task['prompt']} {episode.observation.text}"}]
    messages = (rollout.note or {}).get("messages", opening)
    while episode.end is None and turns > 0:
        turns -= 1
        messages.append(await ask(rollout, messages))
        [call] = messages[-1]["tool_calls"]
        step: Step = await episode.step("guess", json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": step.observation.text})
    return episode, messages


def test_rollouts_are_parked_and_go_on_under_newer_weights(server: Server, model: str, tmp_path: Path) -> None:
    async def train(url: str) -> None:
        first, second = (Rollouts(url, TOKEN) for _ in range(2))
        await first.load("step-1")
        await first.add("void", TASK, 1)
        leases = [await first.resume("void.0", key="mine") for _ in range(2)]
        assert [each.lease for each in leases] == [1, 2]
        await leases[1].abandon("its machine is gone")
        await first.add("g", TASK, 2)
        async with connect_async(server.url, server.token) as worlds:
            for _ in range(2):
                leased = await first.lease()
                assert leased is not None
                with suppress(ConnectionError):
                    async with leased as rollout:
                        episode, messages = await play(rollout, worlds, 2)
                        if rollout.attempt == 1:
                            raise ConnectionError("its machine is gone")
                        await rollout.park(episode, {"messages": messages})
                        await episode.close()
        await second.hold()
        assert (await second.call("GET /weights", {}))["changing"]
        await second.load("step-2")
        async with connect_async(server.url, server.token) as worlds, await second.resume("g.0") as rollout:
            episode, _ = await play(rollout, worlds, 99)
            await rollout.finish(episode.total)
            assert episode.end is not None and episode.end.reason == "solved"
            await rollout.finish(episode.total)
        with pytest.raises(EpisodicError) as fenced:
            await second.resume("g.0")
        assert fenced.value.code == "fenced"
        assert await second.lease() is None
        groups = await second.batch("b", 1)
        assert groups == await first.batch("b", 1)
        [left, group] = groups
        assert (left["left_out"], left["rewards"], left["rollouts"]) == ("void", [], [])
        assert [each["reason"] for each in group["void"]] == ["ConnectionError: its machine is gone"]
        [sample] = samples_of(groups)
        versions = sample.sequence["response_versions"]
        assert [
            version for version, mask in zip(versions, sample.sequence["response_mask"], strict=True) if mask
        ] == sorted(each for each in versions if each)
        assert set(versions) == {None, "step-1", "step-2"}
        assert (sample.reward, sample.advantage, sample.weight) == (episode.total, 0.0, 1.0)
        check_types(groups)
        await second.discard("b")
        with pytest.raises(EpisodicError, match="discarded"):
            await second.batch("b", 1)
        await second.call("POST /sessions", {"session_id": "silent"})
        refused = {"none/trace": "session-not-found", "silent/trace": "option-invalid"}
        for path, code in refused.items():
            with pytest.raises(EpisodicError) as untraced:
                await second.call(f"GET /sessions/{path}", {})
            assert untraced.value.code == code

    with serving_gateway(tmp_path / "gateway", model, TOKEN) as url:
        asyncio.run(train(url))


def test_a_worker_asks_again_while_the_gateway_is_away_and_not_what_is_refused() -> None:
    ask_of_example = runpy.run_path(str(ROOT / "clients/python/examples/asynchronous/worker.py"))["ask"]
    message = {"role": "assistant", "content": "Yes."}
    whole = json.dumps({"choices": [{"message": message}]})
    said = ["", "HTTP/1.1 503 Away\r\n\r\n", f"HTTP/1.1 200 OK\r\nContent-Length: {len(whole)}\r\n\r\n{whole[:9]}"]
    said += [f"HTTP/1.1 200 OK\r\n\r\n{whole}", "HTTP/1.1 401 No\r\n\r\n"]
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            for each in said:
                with server.accept()[0] as connection:
                    connection.recv(65_536)
                    connection.sendall(each.encode())

        Thread(target=answer, daemon=True).start()
        rollout = SimpleNamespace(url=f"http://127.0.0.1:{server.getsockname()[1]}")
        episode = SimpleNamespace(info=SimpleNamespace(tools=[]))
        assert ask_of_example(rollout, episode, []) == message
        with pytest.raises(HTTPError):
            ask_of_example(rollout, episode, [])


def check_types(groups: list[dict[str, Any]]) -> None:
    """Checks that lists which a trainer reads side by side have one length."""
    [sample] = samples = list(samples_of(groups))
    trl, skyrl, verl, prime = to_trl(samples), to_skyrl(samples), to_verl(sample), to_prime_rl(sample, "guessing")
    lengths = {len(trl[name][0]) for name in ("completion_ids", "logprobs", "env_mask")}
    lengths |= {len(skyrl[name][0]) for name in ("response_ids", "loss_masks", "rollout_logprobs")}
    lengths |= {len(verl[name]) for name in ("response_ids", "response_mask", "response_logprobs")}
    given, sampled = (len(sample.sequence[name]) for name in ("prompt_ids", "response_ids"))
    assert lengths == {sampled}
    whole = {len(prime[name]) for name in ("token_ids", "mask", "logprobs", "temperatures", "advantages", "rl_weights")}
    asynchronous = to_trl_async(sample, 0, 9)
    whole |= {len(asynchronous[name]) for name in ("input_ids", "completion_mask", "old_log_probs")}
    assert whole == {given + sampled}
    assert asynchronous["model_version"] == 1
