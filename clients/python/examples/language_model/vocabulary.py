"""Text as token ids: numbers, and the text between them as played episodes have it, over single characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

PAD, OBSERVATION, CALL, END = range(4)
"""Special tokens: padding, the start of an observation, the start of a call, and the end of a call."""

SPECIAL = ("<pad>", "<observation>", "<call>", "<end>")
CHARACTERS = ("\n", *map(chr, range(32, 127)))
PIECE = re.compile(r"\d+|\D+", re.ASCII)


class Vocabulary:
    """A fixed list of tokens, which can encode every text of the characters that it has seen, and of ASCII."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Takes the pieces and the characters of some texts, beside all printable ASCII characters."""
        pieces = {piece for text in texts for piece in (*PIECE.findall(text), *text)}
        self.pieces = sorted(pieces.difference(CHARACTERS))
        """What the texts have beside ASCII characters. As texts, they make the same vocabulary again."""
        tokens = (*SPECIAL, *CHARACTERS, *self.pieces)
        # A multiple of 64, so that trainings with other demonstrations find their programs compiled.
        self.tokens = (*tokens, *(f"<unused {number}>" for number in range(-len(tokens) % 64)))
        self._ids = {token: number for number, token in enumerate(self.tokens) if number >= len(SPECIAL)}

    def encode(self, text: str) -> list[int]:
        """Returns the tokens of a text. A piece that is not in the vocabulary is spelled out in characters.

        Raises `KeyError` for a character outside of ASCII that was in no text.
        """
        pieces = (piece if piece in self._ids else tuple(piece) for piece in PIECE.findall(text))
        return [self._ids[token] for piece in pieces for token in ((piece,) if isinstance(piece, str) else piece)]

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of tokens, special ones by their names: a call that contains one is malformed."""
        return "".join(self.tokens[number] for number in ids)
