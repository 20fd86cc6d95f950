"""Changes of valid inputs: of bytes, of JSON, and of Parquet files whose checksum is made to fit again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tests.format.hostile import reseal, varint

BYTES = (0, 1, 2, 0x0C, 0x15, 0x18, 0x19, 0x1C, 0x7F, 0x80, 0xFE, 0xFF)
"""Ends of ranges, and what begins a field of Thrift."""

NUMBERS = (0, 1, 127, 128, 2000, 2001, *(1 << bits for bits in (16, 31, 32, 62, 63)), (1 << 31) - 1, (1 << 64) - 1)

_SCALARS: Sequence[Any] = (
    None, True, "", "x", "\ud800", "\0", "é", "a" * 5000, "0" * 64, "../" * 9, 0, -1, 1 << 31, 1 << 63, 1 << 70, 0.5,
    float("inf"), float("-inf"), float("nan"),
)  # fmt: skip
_DEEP = "\1deep"
"""A placeholder for lists that are nested deeper than `json.dumps` writes."""


def of_bytes(random: Random, data: bytes) -> bytes:
    """One to four changes anywhere."""
    for _ in range(random.choice((1, 1, 2, 4))):
        data = _change(random, data)
    return data


def _change(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    length = random.choice((1, 2, 4, 8, 64, 1000))
    piece = data[at : at + length]
    match random.randrange(8):
        case 0:
            return data[:at] + bytes([random.choice(BYTES)]) + data[at + 1 :]
        case 1:
            return data[:at] + bytes([byte ^ 1 << random.randrange(8) for byte in data[at : at + 1]]) + data[at + 1 :]
        case 2:
            return data[:at] + data[at + length :]
        case 3:
            return data[:at] + piece * random.choice((2, 3, 100)) + data[at + length :]
        case 4:
            return data[:at] + random.randbytes(length) + data[at + length :]
        case 5:
            return data[:at] + varint(random.choice(NUMBERS)) + data[at + 1 :]
        case 6:
            other = random.randrange(len(data) + 1)
            return data[:at] + data[other : other + length] + data[at + length :]
        case _:
            return data[:at] if random.random() < 0.3 else data[:at] + piece + data[at:]


def of_parquet(random: Random, file: bytes) -> bytes:
    """Changes of the footer, of the header of a page, or anywhere; the length of the footer and the checksum fit."""
    end = len(file) - 8
    start = end - int.from_bytes(file[end : end + 4], "little")
    body, footer = file[: start - 8], file[start:end]
    where = random.random()
    if where < 0.6:
        footer = of_bytes(random, footer)
    elif where < 0.9:  # a header: where the pages of the first columns begin
        at = random.choice((4, 4, random.randrange(4, max(len(body), 5))))
        body = body[:at] + _change(random, body[at : at + 40]) + body[at + 40 :]
    else:
        body = of_bytes(random, body)
    whole = body + b"LBCK" + bytes(4) + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    return reseal(whole)


def of_json(random: Random, data: bytes, seal: Callable[[Any], None] = lambda _: None) -> bytes:
    """Another value for some members. `seal` makes the id fit the content, where it can."""
    if random.random() < 0.2:
        return of_bytes(random, data)
    body = json.loads(data)
    for _ in range(random.choice((1, 1, 2))):
        body = _value(random, body)
    if random.random() < 0.8:
        try:
            seal(body)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            pass  # it has no id
    text = json.dumps(body, ensure_ascii=random.random() < 0.5)
    text = text.replace(json.dumps(_DEEP), "[" * 3000 + "]" * 3000)
    return text.encode(errors="surrogatepass")


def _value(random: Random, body: Any) -> Any:
    if isinstance(body, dict) and body and random.random() < 0.9:
        name = random.choice(list(body))
        if random.random() < 0.1:
            return {other: value for other, value in body.items() if other != name}
        return {**body, name: _value(random, body[name])}
    if isinstance(body, list) and body and random.random() < 0.8:
        at = random.randrange(len(body))
        return [*body[:at], _value(random, body[at]), *body[at + 1 :]]
    return random.choice((*_SCALARS, [], {}, [[]], {"a": {"b": []}}, _DEEP))
