"""What a notebook shows of observations and steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MOST_ROWS = 200
Cells = tuple[str | float, ...]
"""A row of a table."""


def html_text(text: str) -> str:
    """Returns a text as it is written, with its lines and spaces: worlds draw maps. Nothing in it is HTML."""
    return f'<pre style="margin:0;text-align:left;white-space:pre-wrap">{escape(text)}</pre>'


def html_table(head: Sequence[str], rows: Iterable[Cells], caption: str) -> str:
    """Returns a table of texts and numbers, of at most `MOST_ROWS` rows. Its caption says of what."""
    listed = list(rows)
    cut = f"; the first {MOST_ROWS} of {len(listed)} rows" if len(listed) > MOST_ROWS else ""
    heads = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in listed[:MOST_ROWS])
    return f"<table><caption>{escape(caption + cut)}</caption><tr>{heads}</tr>{body}</table>"


def _cell(value: str | float) -> str:
    return f"<td>{html_text(value) if isinstance(value, str) else f'{value:g}'}</td>"
