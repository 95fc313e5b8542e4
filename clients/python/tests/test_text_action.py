"""Actions that a model writes as text."""

from __future__ import annotations

from serving import Server

from episodic_env import connect
from episodic_env.text_action import text_action


def test_text_that_is_no_call_is_said_where_words_are_a_move(server: Server) -> None:
    with connect(server.url, server.token) as connection:
        tools = connection.environment("desk").tools
        assert [tool.speech for tool in tools] == ["text", None]
        call = '{"tool": "look_up", "arguments": {"number": 4}}'
        assert text_action(call, tools) == ("look_up", {"number": 4})
        with connection.open("desk") as episode:
            assert episode.step(*text_action("Which number?", tools)).observation.text == "It is 42."
            assert episode.step(*text_action(call, tools)).observation.text == "4 is known."
            assert episode.step(*text_action("It is known.", tools)).end is not None
        guessing = connection.environment("number-guessing").tools
        assert text_action("I think it is 50.", guessing) == ("I think it is 50.", {})
