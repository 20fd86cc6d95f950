"""Patterns of branches: `*` is any characters, `?` is one, `[a-c]` is one of a set and `[!a-c]` one outside it.

A pattern that no branch name can match is an error, because the rule would never run.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

LONGEST: Final = 256
"""Characters of a pattern."""
_OF_NAMES: Final = frozenset(string.ascii_letters + string.digits + "_-")
"""The characters of branch names."""


def check(pattern: str) -> None:
    """Raise ValueError for a pattern that cannot be read, or that no branch name can match."""
    if not pattern or len(pattern) > LONGEST:
        raise ValueError(f"a pattern of branches has 1 to {LONGEST} characters")
    place = 0
    while place < len(pattern):
        char = pattern[place]
        place += 1
        if char == "[":
            place = _set(pattern, place)
        elif char not in _OF_NAMES and char not in "*?":
            raise ValueError(
                f"the pattern {pattern[:80]!r} matches no branch: branch names have ASCII letters, digits, '_' and "
                f"'-', not {char!r}"
            )
    if pattern.startswith("-"):
        raise ValueError(f"the pattern {pattern[:80]!r} matches no branch: branch names do not begin with '-'")


def matches(branch: str, patterns: Iterable[str]) -> bool:
    """Whether a branch matches one of these patterns. True without patterns."""
    chosen = [pattern.replace("[^", "[!") for pattern in patterns]
    return not chosen or any(fnmatchcase(branch, pattern) for pattern in chosen)


def _set(pattern: str, start: int) -> int:
    """Check a set such as `[a-c_]`, and return its end. `start` is the position after its bracket."""
    begin = start + pattern.startswith(("!", "^"), start)
    end = pattern.find("]", begin + 1)  # a bracket at the beginning belongs to the set
    shown = repr(pattern[:80])
    if end < 0:
        raise ValueError(f"the pattern {shown} has a '[' without its ']'")
    members, place = set[str](), begin
    while place < end:
        low = high = pattern[place]
        if pattern[place + 1] == "-" and place + 2 < end:
            high = pattern[place + 2]
            place += 2
        if high < low:
            raise ValueError(f"the pattern {shown} has the range {low}-{high}, which ends before it begins")
        members |= {char for char in _OF_NAMES if low <= char <= high}
        place += 1
    if not (_OF_NAMES - members if begin > start else members):
        raise ValueError(f"the pattern {shown} has a set that no character of a branch name is in")
    return end + 1
