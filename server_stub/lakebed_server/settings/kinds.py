"""The kinds of settings, and how text becomes a value.

YAML has numbers and booleans. The environment and flags have only text. This module reads both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import field
from decimal import Decimal
from typing import Any, Final, NamedTuple

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_UNITS = {"d": 24 * 3600, "h": 3600, "m": 60, "s": 1}
_TRUE = frozenset({"1", "t", "true", "yes", "on"})
_FALSE = frozenset({"0", "f", "false", "no", "off"})

Value = str | int | float | bool

FIRST_RELEASE: Final = "0.1"
"""The first release of Lakebed. Most settings exist since then."""


class Kind(NamedTuple):
    """A kind of value. `read` raises ValueError. `expected` completes the sentence "expected ...". `written` formats a
    value as a person would write it, and `read` accepts that: 900.0 -> "15m".
    """

    name: str
    expected: str
    read: Callable[[object], Value]
    written: Callable[[Value], str] = str


def setting(default: Value, kind: Kind, doc: str, *, secret: bool = False, since: str = FIRST_RELEASE) -> Any:
    """The field of a dataclass for one setting. `doc` is its row of docs/configuration.md. `since` is the release that
    added it.
    """
    return field(
        default=default,
        repr=not secret,
        metadata={"default": default, "kind": kind, "doc": doc, "secret": secret, "since": since},
    )


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


def _written_flag(value: Value) -> str:
    return "true" if value else "false"


def _written_size(value: Value) -> str:
    """268435456 -> "256MiB", 1000000 -> "1MB", 1500 -> "1500"."""
    size = int(value)
    for base, suffix in ((1024, "iB"), (1000, "B")):
        for unit, power in reversed(_POWERS.items()):
            if power and size and size % base**power == 0:
                return f"{size // base**power}{unit}{suffix}"
    return str(size)


def _written_duration(value: Value) -> str:
    """5400.0 -> "1h30m", 0.5 -> "0.5s"."""
    seconds = float(value)
    if seconds % 1 or not math.isfinite(seconds):
        return f"{Decimal(str(seconds)):f}s"
    left, parts = int(seconds), []
    for unit, length in _UNITS.items():
        count, left = divmod(left, length)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0"


TEXT: Final = Kind("text", "text", _text)
FLAG: Final = Kind("boolean", "true or false", _flag, _written_flag)
SIZE: Final = Kind("size", "a size in bytes, for example 1048576, 64MiB or 1GB", _size, _written_size)
DURATION: Final = Kind("duration", "a duration, for example 30, 90s, 5m, 1h30m or 7d", _duration, _written_duration)


def duration(least: int, most: int) -> Kind:
    """A duration between two inclusive bounds in seconds."""

    def read(raw: object) -> float:
        seconds = _duration(raw)
        if not least <= seconds <= most:
            raise ValueError
        return seconds

    shown = f"a duration from {_written_duration(least)} to {_written_duration(most)}, for example 90s, 5m or 1h30m"
    return Kind("duration", shown, read, _written_duration)


def integer(least: int, most: int) -> Kind:
    """A whole number between two inclusive bounds."""

    def read(raw: object) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int | str):
            raise ValueError
        number = int(raw)
        if not least <= number <= most:
            raise ValueError
        return number

    return Kind("integer", f"a whole number from {least} to {most}", read)


def choice(*words: str) -> Kind:
    """One of several words, in upper or lower case."""
    by_lower = {word.lower(): word for word in words}

    def read(raw: object) -> str:
        if not isinstance(raw, str) or raw.lower() not in by_lower:
            raise ValueError
        return by_lower[raw.lower()]

    return Kind("choice", f"one of {', '.join(words)}", read)
