"""What a setting can be, and how text becomes it.

At the bottom of `settings`. YAML gives numbers and booleans, the environment and flags only text: both are read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_TRUE = frozenset({"1", "t", "true", "yes", "on"})
_FALSE = frozenset({"0", "f", "false", "no", "off"})

Value = str | int | float | bool


class Kind(NamedTuple):
    """A kind of value. `read` raises ValueError; `expected` completes the sentence "expected ..."."""

    name: str
    expected: str
    read: Callable[[object], Value]


def _text(raw: object) -> str:
    if isinstance(raw, str):
        return raw
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return str(raw)
    raise ValueError


def _flag(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    word = raw.lower() if isinstance(raw, str) else ""
    if word not in _TRUE | _FALSE:
        raise ValueError
    return word in _TRUE


def _size(raw: object) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0:
        return raw
    match = _SIZE.fullmatch(raw.strip()) if isinstance(raw, str) else None
    if match is None:
        raise ValueError
    base = 1024 if match[3] or not match[2] else 1000
    return int(float(match[1]) * base ** _POWERS[match[2].upper()])


def _duration(raw: object) -> float:
    if isinstance(raw, int | float) and not isinstance(raw, bool) and raw >= 0:
        return float(raw)
    match = _DURATION.fullmatch(raw.strip()) if isinstance(raw, str) and raw.strip() else None
    if match is None:
        raise ValueError
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


TEXT: Final = Kind("text", "text", _text)
FLAG: Final = Kind("boolean", "true or false", _flag)
SIZE: Final = Kind("size", "a size in bytes, for example 1048576, 64MiB or 1GB", _size)
DURATION: Final = Kind("duration", "a duration, for example 30, 90s, 5m, 1h30m or 7d", _duration)


def duration(least: int, most: int) -> Kind:
    """A duration between two bounds in seconds, themselves included."""

    def read(raw: object) -> float:
        seconds = _duration(raw)
        if not least <= seconds <= most:
            raise ValueError
        return seconds

    return Kind("duration", f"a duration from {least} to {most} seconds, for example 90s, 5m or 1h30m", read)


def integer(least: int, most: int) -> Kind:
    """A whole number between two bounds, themselves included."""

    def read(raw: object) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int | str):
            raise ValueError
        number = int(raw)
        if not least <= number <= most:
            raise ValueError
        return number

    return Kind("integer", f"a whole number from {least} to {most}", read)


def choice(*words: str) -> Kind:
    """One of a few words; upper and lower case are the same."""
    by_lower = {word.lower(): word for word in words}

    def read(raw: object) -> str:
        if not isinstance(raw, str) or raw.lower() not in by_lower:
            raise ValueError
        return by_lower[raw.lower()]

    return Kind("choice", f"one of {', '.join(words)}", read)
