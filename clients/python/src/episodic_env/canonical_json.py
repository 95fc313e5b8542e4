"""The canonical form of JSON (RFC 8785), from which ids of tasks are made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal

from .errors import EpisodicError
from .json_types import Json

POSITIONAL = 21
"""Digits before the point from which JavaScript writes an exponent."""


def content_id(value: Json) -> str:
    """Returns 128 bits of the SHA-256 of a value's canonical form, as 32 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:32]


def canonical_json(value: Json) -> str:
    """Returns a value as JSON with sorted keys, no white space, and numbers as JavaScript writes them.

    Raises `option-invalid` for what is not JSON.
    """
    if value is None or isinstance(value, (bool, str)):
        return _text(value)
    if isinstance(value, (int, float)):
        return _number(float(value))
    if isinstance(value, Mapping):
        # By UTF-16 code units, as JavaScript compares texts.
        keys = sorted(value, key=lambda key: _checked(key).encode("utf-16-be"))
        return "{" + ",".join(f"{_text(key)}:{canonical_json(value[key])}" for key in keys) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    raise _invalid(value)


def _text(value: str | bool | None) -> str:
    return json.dumps(_checked(value) if isinstance(value, str) else value, ensure_ascii=False)


def _checked(text: object) -> str:
    if not isinstance(text, str) or any("\ud800" <= character <= "\udfff" for character in text):
        raise _invalid(text)
    return text


def _number(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        raise _invalid(value)
    if value == 0:
        return "0"
    # Both languages write the fewest digits that tell a number from its neighbours; the exponents differ.
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    shown = "".join(map(str, digits))
    point = len(shown) + exponent
    if 0 < point <= POSITIONAL:
        whole = shown[:point].ljust(point, "0")
        text = f"{whole}.{shown[point:]}" if len(shown) > point else whole
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{shown}"
    else:
        fraction = f".{shown[1:]}" if len(shown) > 1 else ""
        text = f"{shown[0]}{fraction}e{point - 1:+d}"
    return f"-{text}" if sign else text


def _invalid(value: object) -> EpisodicError:
    return EpisodicError("option-invalid", f"Only JSON can be written, and {value!r} is not.", retryable=False)
