"""The PettingZoo adapter, by PettingZoo's own tests and by ours."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from serving import LossyProxy, Server

from episodic_env import EpisodicError, Observation, ToolInfo, connect
from episodic_env.derived_actions import finite_tools
from episodic_env.pettingzoo import AECGame, ParallelGame, aec, parallel

Make = Callable[..., Any]

ALWAYS = {
    # PettingZoo's tests say this of every environment with an action mask, except for some of its own.
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    # Who may not act has no legal action.
    "Action mask numpy array is all zeros (no legal actions).",
}
NAMED = {'We recommend agents to be named in the format <descriptor>_<number>, like "player_0"'}


@pytest.fixture
def make(server: Server) -> Iterator[Make]:
    made: list[AECGame | ParallelGame] = []

    def make(kind: Callable[..., Any], world: str, **options: Any) -> Any:
        made.append(kind(world, url=server.url, token=server.token, **options))
        return made[-1]

    yield make
    for env in made:
        env.close()


def warned(test: Callable[[], None]) -> set[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        test()
    return {str(warning.message) for warning in caught}


@pytest.mark.parametrize(
    "world",
    [
        "kuhn-poker",
        "leduc-poker",
        "tic-tac-toe",
        "connect-four",
        "rock-paper-scissors",
        "iterated-prisoners-dilemma",
        "sealed-bids",
        "pile",
    ],
)
def test_pettingzoo_finds_no_fault_with_agents_in_turn(make: Make, world: str) -> None:
    assert warned(lambda: api_test(make(aec, world), num_cycles=30)) <= ALWAYS | NAMED
    assert warned(lambda: seed_test(lambda: make(aec, world), num_cycles=30)) == set()


@pytest.mark.parametrize("world", ["rock-paper-scissors", "iterated-prisoners-dilemma", "sealed-bids"])
def test_pettingzoo_finds_no_fault_with_agents_at_once(make: Make, world: str) -> None:
    assert warned(lambda: parallel_api_test(make(parallel, world), num_cycles=30)) == set()
    assert warned(lambda: parallel_seed_test(lambda: make(parallel, world), num_cycles=30)) == set()


def test_a_round_pays_all_who_move_at_once(make: Make) -> None:
    env = make(parallel, "rock-paper-scissors", params={"rounds": 9})
    env.reset(seed=0)
    for first in range(3):
        for second in range(3):
            _, rewards, terminated, truncated, _ = env.step({"player_0": first, "player_1": second})
            won = [0.0, 1.0, -1.0][(first - second) % 3]
            assert rewards == {"player_0": won, "player_1": -won}
            assert truncated == {"player_0": False, "player_1": False}
            assert set(terminated.values()) == {first == second == 2}
    assert env.agents == []


def test_kuhn_poker_is_played_with_a_reward_for_each_agent(make: Make) -> None:
    env = make(aec, "kuhn-poker")
    assert str(env) == "kuhn-poker" and env.possible_agents == ["first", "second"]
    cards = set()
    for seed in range(12):
        env.reset(seed=seed)
        assert env.agent_selection == "first"
        env.step(1)
        assert (env.agent_selection, env.rewards) == ("second", {"first": 0.0, "second": 0.0})
        env.step(1)
        assert env.terminations == {"first": True, "second": True}
        assert env.rewards["first"] == -env.rewards["second"] != 0
        assert abs(env.rewards["first"]) == 2
        assert env.infos["second"] == {"terms": {"chips": env.rewards["second"]}, "refused": None, "end": "showdown"}
        cards.add(tuple(env.observe("first")["observation"]))
        for _ in range(2):
            env.step(None)
        assert env.agents == []
    assert len(cards) == 3


def test_a_seed_repeats_the_episodes_that_follow(make: Make) -> None:
    env, other = make(aec, "sealed-bids"), make(parallel, "sealed-bids")

    def prizes() -> list[list[float]]:
        shown = []
        for seed in (3, None, None):
            env.reset(seed=seed)
            observations, infos = other.reset(seed=seed)
            assert infos == {agent: {} for agent in other.agents}
            assert all(
                (env.observe(agent)["observation"] == observations[agent]["observation"]).all() for agent in env.agents
            )
            shown.append(list(env.observe("player_1")["observation"]))
        return shown

    first = prizes()
    assert prizes() == first and first[0] != first[1] != first[2]


def test_options_are_parameters_and_others_are_ignored(make: Make) -> None:
    env = make(aec, "sealed-bids", params={"rounds": 1})
    env.reset(seed=1, options={"players": 2, "options": 1})
    assert env.agents == ["player_0", "player_1"] and env.max_num_agents == 3


def test_agents_at_once_earn_what_agents_in_turn_earn(make: Make) -> None:
    """Refused moves included: both are the same steps on the server, in the same order."""
    together = make(parallel, "sealed-bids", params={"rounds": 5})
    in_turn = make(aec, "sealed-bids", params={"rounds": 5})
    refusals = 0
    for seed in range(5):
        draws = random.Random(seed)
        observations, _ = together.reset(seed=seed)
        in_turn.reset(seed=seed)
        while together.agents:
            actions = {agent: draws.randrange(5) for agent in together.agents}
            acting = [agent for agent in together.agents if observations[agent]["action_mask"].any()]
            live = list(together.agents)
            observations, rewards, terminated, truncated, infos = together.step(actions)
            for agent in acting:
                assert in_turn.agent_selection == agent
                in_turn.step(actions[agent])
            assert {agent: in_turn.rewards[agent] for agent in live} == rewards
            assert {agent: in_turn.infos[agent] for agent in live} == infos
            assert {agent: in_turn.terminations[agent] for agent in live} == terminated
            assert not any(truncated.values())
            for agent in live:
                for part in ("observation", "action_mask"):
                    assert (in_turn.observe(agent)[part] == observations[agent][part]).all()
                refusals += infos[agent]["refused"] == "rules"
            while in_turn.agents and in_turn.terminations[in_turn.agent_selection]:
                in_turn.step(None)
            assert in_turn.agents == together.agents
    assert refusals > 0


def test_a_mask_allows_what_the_rules_accept(make: Make) -> None:
    env = make(aec, "sealed-bids", params={"players": 2})
    env.reset(seed=1)
    assert env.observe("player_0")["action_mask"].tolist() == [1, 1, 1, 1, 1]
    env.step(3)
    env.step(0)
    assert env.observe("player_0")["action_mask"].tolist() == [1, 1, 0, 0, 0]
    env.step(2)
    assert env.agent_selection == "player_1"
    env.step(0)
    # The round waits for another move of the one whose move was refused.
    assert (env.agent_selection, env.infos["player_0"]["refused"]) == ("player_0", "rules")
    assert env.rewards == {"player_0": -1.0, "player_1": 0.0}
    assert env.observe("player_1")["action_mask"].tolist() == [0] * 5
    env.step(1)
    assert env.infos["player_0"]["refused"] is None


def test_observations_and_masks_are_derived_from_schemas(make: Make) -> None:
    env = make(aec, "pile")
    env.reset(seed=0)
    space = env.observation_space("player_0")
    number, flag, letter = (0.0, 1.0), (0.0, 1.0), (0.0, float(0x10FFFF))
    bounds = [
        *[flag] * 4,  # seat and turn
        (0.0, 5.0),
        number,
        *[flag] * 3,  # last: whether there was a move, and whose
        (0.0, 3.0),
        flag,
        flag,
        (0.0, 3.0),
        flag,
        (0.0, 3.0),
        *[flag] * 2,
        *[letter] * 3,
        flag,
        (0.0, 9.0),
    ]
    assert list(zip(space["observation"].low.tolist(), space["observation"].high.tolist(), strict=True)) == bounds
    seen = env.observe("player_0")
    assert seen["observation"].tolist() == [1, 0, 1, 1, 5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 115, 111, 0, 1, 7]
    assert seen["action_mask"].tolist() == [1, 1, 1, 0] and env.action_space("player_0").n == 4
    env.step(2)
    assert env.agent_selection == "player_1"
    env.step(0)
    after = env.observe("player_0")["observation"]
    assert after[4:].tolist() == [1, np.float32(0.2), 1, 0, 1, 1, 1, 1, 3, 1, 1, 1, 0, 115, 111, 0, 1, 7]
    assert env.observe("player_1")["observation"][-2:].tolist() == [0, 0]
    env.step(1)
    assert env.infos["player_0"]["refused"] == "rules"


def test_a_tool_with_an_output_of_its_own_hides_no_view(make: Make) -> None:
    env = make(aec, "pile")
    env.reset(seed=0)
    env.step(0)
    before = env.observe("player_1")["observation"]
    env.step(3)
    after = env.observe("player_1")["observation"]
    assert [(old, new) for old, new in zip(before, after, strict=True) if old != new] == [(115, 104), (111, 109)]
    assert env.render() == "4 left."


def test_what_cannot_be_derived_says_why(make: Make, server: Server) -> None:
    cases: list[tuple[Callable[..., Any], str, dict[str, Any], str]] = [
        (parallel, "kuhn-poker", {}, "episodic_env.pettingzoo.aec"),
        (aec, "number-guessing", {}, "episodic_env.gymnasium"),
        (aec, "kuhn-poker", {"observe": len}, "observation_space"),
        (aec, "chatter", {}, "own.notes"),
    ]
    for kind, world, options, why in cases:
        with pytest.raises(EpisodicError, match=why) as refused:
            make(kind, world, **options)
        assert refused.value.code == "option-invalid"
    env = make(aec, "kuhn-poker")
    with pytest.raises(EpisodicError, match="reset"):
        env.observe("first")
    env.reset()
    with pytest.raises(EpisodicError, match="7 of first"):
        env.step(7)


def test_an_observation_of_ones_own(make: Make) -> None:
    def observe(observation: Observation) -> Any:
        assert observation.structured is not None
        return np.array([len(observation.structured["own"]["notes"])], np.float32)

    env = make(aec, "chatter", observe=observe, observation_space=Box(0, 1000, (1,), np.float32))
    env.reset()
    assert env.observe("player_0")["observation"].tolist() == [0]
    # A game that lists no legal actions: all of them for who may act.
    assert env.observe("player_0")["action_mask"].tolist() == [1, 1]
    assert env.observe("player_1")["action_mask"].tolist() == [0, 0]


def test_the_steps_that_the_server_takes_count(make: Make, server: Server) -> None:
    env = make(aec, "sealed-bids", params={"rounds": 5}, limits={"steps": 1})
    env.reset(seed=1)
    for _ in range(3):
        env.step(0)
    # Nobody has a step left, and the rules say what that means.
    assert env.terminations == dict.fromkeys(env.agents, True)
    assert {info["end"] for info in env.infos.values()} == {"gone"}
    assert set(env.observe("player_0")) == {"observation", "action_mask"}

    env = make(parallel, "sealed-bids", params={"rounds": 5, "players": 2})
    env.reset(seed=1)
    with connect(server.url, server.token) as elsewhere:
        elsewhere.seat("sealed-bids", "player_0", env.table.playing.handle("player_0")).leave()
    _, rewards, terminated, _, infos = env.step({"player_0": 1, "player_1": 2})
    assert terminated == {"player_0": True, "player_1": False} and infos["player_0"]["end"] == "gone"
    assert rewards["player_1"] > 0 and env.agents == ["player_1"]


def test_a_lost_answer_is_asked_for_again(server: Server, proxy: LossyProxy) -> None:
    expected = play(parallel("sealed-bids", url=server.url, token=server.token), 3)
    env = parallel("sealed-bids", url=f"http://127.0.0.1:{proxy.port}/env", token=server.token)
    env.reset()
    proxy.lose_every(4, 0)
    assert play(env, 3) == expected
    proxy.lose_every(0, 0)
    assert proxy.lost > 0


def test_another_action_in_place_of_a_lost_one_is_refused(server: Server, proxy: LossyProxy) -> None:
    env = aec(
        "chatter",
        url=f"http://127.0.0.1:{proxy.port}/env",
        token=server.token,
        observe=lambda _: np.ones(2, np.float32),
        observation_space=Box(0, 1, (2,), np.float32),
        wait=0,
    )
    env.reset(seed=1)
    for action, code in ((0, "connection-failed"), (1, "seq-reused")):
        proxy.lose(int(action == 0))
        with pytest.raises(EpisodicError) as failed:
            env.step(action)
        assert failed.value.code == code
        # Nothing that is read in between makes the next try another step.
        env.table.playing.turn("player_0")
        assert env.table.playing.catch_up() == ()
    env.step(0)
    assert (env.agent_selection, env.rewards) == ("player_1", {"player_0": 1.0, "player_1": 0.0})
    assert len(env.table.playing.played().steps) == 1
    env.close()


def test_legal_calls_may_leave_out_defaults() -> None:
    properties = {"word": {"enum": ["hear", "say"]}, "loud": {"type": "boolean", "default": False}}
    [tool] = finite_tools([ToolInfo("note", "", {"properties": properties, "required": ["word"]}, None)], {})
    assert [tool.arguments_of(number) for number in (1, 2)] == [
        {"word": "hear", "loud": True},
        {"word": "say", "loud": False},
    ]
    assert tool.allowed({"enum": [{"word": "hear"}, {"word": "say", "loud": True}]}) == [True, False, False, True]
    assert tool.allowed({"properties": {"word": {"const": "say"}}}) == [False, False, True, True]
    assert tool.allowed(None) == [False] * 4


def test_a_lost_server_is_an_exception(make: Make, server: Server) -> None:
    env = make(aec, "kuhn-poker")
    env.reset()
    game = env.table.playing
    with connect(server.url, server.token) as operator:
        operator._call("environment/close", {"session": game._session}, True)
    with pytest.raises(EpisodicError, match="no such session"):
        env.step(0)
    assert env.truncations == {"first": False, "second": False}
    env.reset()
    env.step(0)


def play(env: ParallelGame, seed: int) -> list[Any]:
    draws = random.Random(seed)
    observations, _ = env.reset(seed=seed)
    seen: list[Any] = []
    while env.agents:
        observations, *rest = env.step({agent: draws.randrange(5) for agent in env.agents})
        seen.append(([seen["observation"].tolist() for seen in observations.values()], rest))
    env.close()
    return seen
