"""Reads the fields of a contract strictly: an unknown key, a wrong type or a wrong number is an error that names its
line.
"""

from __future__ import annotations

import datetime
import difflib
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from lakebed_hooks.vocabulary import ActionFileError

NAMES_MOST: Final = 2_000
_LONGEST: Final = 60
_SIZE: Final = re.compile(r"([0-9]{1,18}) ?([KMGT]i?B|B)?")
_UNITS: Final = {
    "B": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)},
    **{f"{letter}iB": 1024**power for power, letter in enumerate("KMGT", 1)},
}


class Fields:
    """Reads values of one hook. Each method raises ActionFileError, which names the file, the line and the field."""

    def __init__(self, path: str, line: int) -> None:
        self.path = path
        self.line = line

    def error(self, field: str, said: str) -> ActionFileError:
        """The error for a field. `said` continues the sentence."""
        return ActionFileError(
            f"{self.path} line {self.line}: {field} of the contract {said}", path=self.path, line=self.line
        )

    def mapping(self, value: Any, field: str, known: Sequence[str] = ()) -> Mapping[str, Any]:
        """A mapping with text keys. `known`: the only keys that it may have."""
        if not isinstance(value, Mapping):
            raise self.error(field, f"must be a mapping, not {shown(value)}")
        if len(value) > NAMES_MOST:
            raise self.error(field, f"has {len(value):,} keys, at most {NAMES_MOST:,}")
        for key in value:
            if not isinstance(key, str) or not key:
                raise self.error(field, f"has the key {shown(key)}, which is not text: put it in quotes")
            if known and key not in known:
                raise self.error(field, f"has the unknown key {key[:_LONGEST]!r}{did_you_mean(key, known)}")
        return value

    def sequence(self, value: Any, field: str, most: int = NAMES_MOST) -> Sequence[Any]:
        """A list with at least one item."""
        if not isinstance(value, list | tuple):
            raise self.error(field, f"must be a list, not {shown(value)}")
        if not 0 < len(value) <= most:
            raise self.error(field, f"has {len(value):,} items: give 1 to {most:,}")
        return value

    def names(self, value: Any, field: str) -> tuple[str, ...]:
        """A list of texts, or one text."""
        if isinstance(value, str):
            value = [value]
        return tuple(self.text(one, field) for one in self.sequence(value, field))

    def text(self, value: Any, field: str) -> str:
        """A text that is not empty."""
        if not isinstance(value, str) or not value:
            raise self.error(field, f"must be a text that is not empty, not {shown(value)}")
        return value

    def boolean(self, value: Any, field: str) -> bool:
        """True or false."""
        if not isinstance(value, bool):
            raise self.error(field, f"must be true or false, not {shown(value)}")
        return value

    def choice(self, value: Any, field: str, known: Sequence[str]) -> str:
        """One of the known texts."""
        if value not in known:
            raise self.error(
                field, f"must be one of {', '.join(known)}, not {shown(value)}{did_you_mean(value, known)}"
            )
        return str(value)

    def count(self, value: Any, field: str) -> int:
        """A whole number, 0 or more."""
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 62:
            raise self.error(field, f"must be a whole number, 0 or more, not {shown(value)}")
        return value

    def share(self, value: Any, field: str) -> float:
        """A number, 0 or more, such as 0.5 for a half."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise self.error(field, f"must be a number, 0 or more, such as 0.5 for a half, not {shown(value)}")
        return float(value)

    def size(self, value: Any, field: str) -> int:
        """Bytes: a number, or a text such as `1MiB`."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        found = _SIZE.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            raise self.error(field, f"must be a size such as 4096 or 1MiB, not {shown(value)}")
        unit: int = _UNITS[found[2] or "B"]
        return int(found[1]) * unit

    def plain(self, value: Any, field: str) -> Any:
        """A value of a column: a number, a text, a boolean, a date or a time."""
        kinds = (bool, int, float, str, Decimal, datetime.date, datetime.datetime)
        if not isinstance(value, kinds) or str(value).lower() in ("nan", "snan"):
            raise self.error(field, f"must be a number, a text, a boolean or a date, not {shown(value)}")
        return value


def shown(value: Any) -> str:
    """A value in an error."""
    if value is None:
        return "nothing"
    text = repr(value) if not isinstance(value, Mapping | list | tuple) else type(value).__name__
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def did_you_mean(name: Any, known: Sequence[str]) -> str:
    """`: did you mean 'range'?`, or the known names if no name is similar."""
    near = difflib.get_close_matches(str(name)[:_LONGEST], known, n=1)
    return f": did you mean {near[0]!r}?" if near else f" (known: {', '.join(sorted(known))})"
