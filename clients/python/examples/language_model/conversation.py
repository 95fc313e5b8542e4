"""What the model has seen and said in an episode, as tokens."""

from __future__ import annotations

from collections.abc import Sequence

from vocabulary import CALL, END, OBSERVATION, Vocabulary


class Conversation:
    """Observations and calls in turn: `<observation> text <call> text <end>`."""

    def __init__(self, vocabulary: Vocabulary, *, remembers: bool, longest: int) -> None:
        """Keeps the whole episode if it `remembers`, else the latest observation alone.

        Of an observation it keeps the last tokens, at most `longest`. What is cut off is the start of a refusal, which
        quotes a malformed call in single characters.
        """
        self._vocabulary = vocabulary
        self._remembers = remembers
        self._longest = longest
        self._tokens: list[int] = []

    def forked(self) -> Conversation:
        """Returns a conversation that goes on from the same tokens."""
        fork = Conversation(self._vocabulary, remembers=self._remembers, longest=self._longest)
        fork._tokens = list(self._tokens)
        return fork

    def observe(self, text: str) -> tuple[int, ...]:
        """Adds an observation, and returns what the next call is drawn after."""
        if not self._remembers:
            self._tokens = []
        self._tokens += [OBSERVATION, *self._vocabulary.encode(text)[-self._longest :], CALL]
        return tuple(self._tokens)

    def answer(self, tokens: Sequence[int]) -> None:
        """Adds a call, with the very tokens that were drawn."""
        self._tokens += tokens

    def call_tokens(self, text: str) -> list[int]:
        """Returns the tokens of a call that the model did not draw."""
        return [*self._vocabulary.encode(text), END]
