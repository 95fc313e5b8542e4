"""Games of several seats, by one trainer and by one for each seat, over HTTP and over a WebSocket."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from serving import LONG, LossyProxy, Server

from episodic_env import Connection, EpisodicError, Game, connect

Seen = list[tuple[str, object]]


def play_bids(game: Game, seed: int) -> tuple[Seen, int]:
    """Plays random bids, some of them refused. Returns all that was seen, and how many answers were stored ones."""
    replayed = 0
    bids = random.Random(seed)
    seen: Seen = [(seat, game.openings[seat]) for seat in game.seats]
    while game.in_turn:
        for seat in game.in_turn:
            step = game.step(seat, "bid", {"amount": bids.randint(0, 4)})
            replayed += step.replayed
            assert step.seats is not None
            seen.append((seat, (step.observation, step.terms, step.seats, step.end, step.refused, step.state_hash)))
    return seen, replayed


def test_lists_the_seats_of_a_game(connection: Connection) -> None:
    info = connection.environment("sealed-bids")
    assert [seat.name for seat in info.seats] == ["player_0", "player_1", "player_2"]
    assert [tool.name for tool in info.seats[0].tools] == ["bid"] and info.tools[0].sealed
    assert info.view_schema is not None and "purse" in info.view_schema["properties"]["own"]["properties"]
    single = connection.environment("number-guessing")
    assert (single.seats, single.view_schema) == ((), None)
    assert not connection.environment("kuhn-poker").tools[0].sealed


def test_plays_both_seats_with_a_reward_for_each(connection: Connection) -> None:
    with connection.open_game("kuhn-poker", seed="cards") as game:
        assert (game.seats, game.in_turn) == (("first", "second"), ("first",))
        cards = {seat: game.openings[seat].structured["own"]["card"] for seat in game.seats}  # type: ignore[index]
        bet = game.step("first", "act", {"move": "bet"})
        assert bet.seats is not None and bet.end is None
        assert game.in_turn == bet.seats.turn == ("second",)
        assert bet.seats.views["second"].structured["moves"] == "b"  # type: ignore[index]
        called = game.step("second", "act", {"move": "bet"})
        assert called.end is not None and called.end.reason == "showdown"
        assert called.seats is not None
        won = 2.0 if "JQK".index(cards["second"]) > "JQK".index(cards["first"]) else -2.0
        assert (called.reward, called.seats.terms["first"]["chips"]) == (won, -won)
        assert game.totals == {"first": -won, "second": won}
        assert game.ends == {"first": called.end, "second": called.end} and game.end == called.end
        assert (game.seq("first"), game.seq("second"), game.in_turn) == (1, 1, ())
        first = game.turn("first")
        assert (first.mine, first.reward, first.due, first.seq) == (False, -won, {"chips": -won}, 1)
        with pytest.raises(EpisodicError) as over:
            game.step("first", "act", {"move": "bet"})
        assert over.value.code == "not-playing"


def test_a_step_out_of_turn_counts_nothing(connection: Connection) -> None:
    with connection.open_game("kuhn-poker") as game:
        with pytest.raises(EpisodicError) as early:
            game.step("second", "act", {"move": "bet"})
        assert (early.value.code, early.value.retryable) == ("not-your-turn", False)
        assert early.value.details["turn"] == ["first"]
        game.step("first", "act", {"move": "pass"})
        assert game.step("second", "act", {"move": "pass"}).seq == 1
        with pytest.raises(EpisodicError, match="first, second") as nobody:
            game.turn("third")
        assert nobody.value.code == "option-invalid"


def test_a_round_is_played_when_all_have_moved(connection: Connection) -> None:
    with connection.open_game("sealed-bids", {"players": 2, "rounds": 1}, seed=1) as game:
        assert game.in_turn == game.seats == ("player_0", "player_1")
        prize = game.openings["player_0"].structured["prize"]  # type: ignore[index]
        sealed = game.step("player_1", "bid", {"amount": 1})
        assert sealed.seats is not None and sealed.seats.sealed
        assert (sealed.reward, sealed.seats.terms, game.in_turn) == (0.0, {}, ("player_0",))
        assert set(game.legal("player_0")) == {"bid"} and game.legal("player_1") == {}
        settled = game.step("player_0", "bid", {"amount": 0})
        assert settled.seats is not None
        assert settled.seats.terms["player_1"] == {"prize": prize, "cost": -1.0, "refused": 0.0}
        assert settled.seats.sent == {"player_1": (f"You won {prize} for 1.",)}
        assert game.turn("player_1").messages == (f"You won {prize} for 1.",)
        assert game.totals == {"player_0": 0.0, "player_1": prize - 1.0}
        assert game.successes == {"player_0": True, "player_1": True}
        assert [(played.seat, played.step.seq) for played in game.played().steps] == [("player_1", 1), ("player_0", 1)]


def test_a_seat_leaves_and_others_play_on(connection: Connection) -> None:
    with connection.open_game("sealed-bids", {"rounds": 2}, seed=1) as game:
        for seat, amount in zip(game.seats, (4, 1, 0), strict=True):
            step = game.step(seat, "bid", {"amount": amount})
        assert game.ends["player_0"].reason == "broke" and game.end is None
        assert step.end is None and game.in_turn == ("player_1", "player_2")
        left = game.leave("player_1")
        assert left.end is not None and left.end.reason == "gone" and game.in_turn == ("player_2",)
        over = game.step("player_2", "bid", {"amount": 0})
        assert over.end is not None and over.end.reason == "sold" and over.success
        assert game.successes == {"player_0": False, "player_1": False, "player_2": True}
    with connection.open_game("kuhn-poker") as poker, pytest.raises(EpisodicError) as unsaid:
        poker.leave("first")
    assert unsaid.value.code == "invalid-params"


def test_catches_up_with_what_others_played(connection: Connection) -> None:
    with connection.open_game("kuhn-poker", seed="cards") as game:
        connection.seat("kuhn-poker", "first", game.handle("first")).step("act", {"move": "bet"})
        game.step("second", "act", {"move": "pass"})
        [played] = game.catch_up()
        assert (played.seat, played.step.seq) == ("first", 1) and game.catch_up() == ()
        assert (game.seq("first"), game.totals) == (1, {"first": 1.0, "second": -1.0})


def test_the_step_that_the_server_takes_for_a_seat_counts(connection: Connection) -> None:
    with connection.open_game("sealed-bids", {"rounds": 5, "players": 2}, limits={"steps": 1}, seed=1) as game:
        for seat in game.seats:
            game.step(seat, "bid", {"amount": 0})
        game.turn(game.in_turn[0])
        assert {(played.seat, played.tool) for played in game.catch_up()} == {(seat, "absent") for seat in game.seats}
        assert {end.reason for end in game.ends.values()} == {"gone"} and set(game.ends) == set(game.seats)


def test_each_seat_is_trained_by_its_handle(server: Server, connection: Connection) -> None:
    with connect(server.url, server.token) as elsewhere, connection.open_game("kuhn-poker", seed="cards") as game:
        first = connection.seat("kuhn-poker", "first", game.handle("first"))
        second = elsewhere.seat("kuhn-poker", "second", game.handle("second"))
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(second.turn, 60)
            bet = first.step("act", {"move": "bet"})
            assert waiting.result().mine
        assert bet.seats is not None and (bet.seats.views, bet.seats.terms, bet.state_hash) == ({}, {}, "")
        assert set(second.legal()) == {"act"} and first.legal() == {}
        folded = second.step("act", {"move": "pass"})
        assert folded.end is not None and second.end == folded.end and folded.end.reason == "fold"
        assert (second.total, first.total, first.end) == (-1.0, 0.0, None)
        assert first.turn().end == folded.end
        assert (first.total, first.seq, second.seq) == (1.0, 1, 1)
        with pytest.raises(EpisodicError, match="second") as other:
            connection.seat("kuhn-poker", "second", game.handle("first"))
        assert other.value.code == "unauthorized"


def test_forks_and_snapshots_go_on_in_the_middle_of_a_round(connection: Connection) -> None:
    with connection.open_game("sealed-bids", {"players": 2, "rounds": 1}, seed=1) as game:
        game.step("player_0", "bid", {"amount": 2})
        [fork] = game.fork()
        with fork, connection.restore_game(game.snapshot()) as restored:
            assert fork.in_turn == restored.in_turn == ("player_1",)
            hashes = [g.step("player_1", "bid", {"amount": 1}).state_hash for g in (game, fork, restored)]
            assert len(set(hashes)) == 1


def test_the_number_of_seats_says_how_to_open(connection: Connection) -> None:
    with pytest.raises(EpisodicError, match="open_game"):
        connection.open("kuhn-poker")
    with pytest.raises(EpisodicError, match="one seat"):
        connection.open_game("number-guessing")


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_no_step_of_any_seat_is_played_twice(server: Server, proxy: LossyProxy, scheme: str) -> None:
    with connect(server.url, server.token) as direct:
        for seed in range(2):
            with direct.open_game("sealed-bids", {"rounds": 5}, seed=seed) as game:
                (expected, _), totals = play_bids(game, seed), game.totals
            # A WebSocket loses the answers of its handshakes too.
            proxy.lose_every(3 if scheme == "http" else 6, seed)
            url = f"{scheme}://127.0.0.1:{proxy.port}/env"
            with (
                connect(url, server.token, wait=LONG) as lossy,
                lossy.open_game("sealed-bids", {"rounds": 5}, seed=seed) as game,
            ):
                played, replayed = play_bids(game, seed)
                logged = game.played().steps
                proxy.lose_every(0, seed)
            assert (played, game.totals) == (expected, totals)
            assert len(logged) == len(expected) - 3
            assert replayed > 0


def test_after_the_last_attempt_the_same_step_gets_the_stored_answer(server: Server, proxy: LossyProxy) -> None:
    url = f"http://127.0.0.1:{proxy.port}/env"
    with connect(url, server.token, wait=0) as lossy, lossy.open_game("kuhn-poker") as game:
        seat = lossy.seat("kuhn-poker", "second", game.handle("second"))
        for player in (lambda: game.step("first", "act", {"move": "pass"}), lambda: seat.step("act", {"move": "pass"})):
            proxy.lose(1)
            with pytest.raises(EpisodicError) as failed:
                player()
            assert failed.value.code == "connection-failed"
            # What is asked in between does not make it another step.
            assert (game.turn("first").seq, seat.turn().mine) in ((1, True), (1, False))
            step = player()
            assert (step.replayed, step.seq) == (True, 1)
        assert len(game.played().steps) == 2
