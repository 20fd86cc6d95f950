"""Stretches of the key space: what a prefix and filters on `path` leave to be read. Pure; imports no PySpark.

Paths are ordered by their UTF-8 bytes, which is the order of Python's strings as well. Filters are known by the names
of PySpark's classes (`EqualTo`, `StringStartsWith` ...): Spark checks each row again, so a span may only be too wide.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


@attrs.frozen
class Span:
    """Paths from `low` on, and below `high`; None means no end."""

    low: str = ""
    high: str | None = None

    @property
    def empty(self) -> bool:
        """Whether no path is in it."""
        return self.high is not None and self.high <= self.low

    def meets(self, first: str, last: str) -> bool:
        """Whether the span contains a part of a stretch of paths, both ends included."""
        return last >= self.low and (self.high is None or first < self.high)

    def holds(self, first: str, last: str) -> bool:
        """Whether the span contains a whole stretch of paths."""
        return first >= self.low and (self.high is None or last < self.high)

    def both(self, other: Span) -> Span:
        """Return the paths that are in both spans."""
        ends = [end for end in (self.high, other.high) if end is not None]
        return Span(max(self.low, other.low), min(ends) if ends else None)


def of_prefix(prefix: str) -> Span:
    """`a/b` -> from `a/b` to below `a/c`."""
    return Span(prefix, _behind(prefix))


def of_filters(filters: Iterable[Any]) -> Span:
    """The narrowest span that holds every path which passes all of these filters of a data source."""
    span = Span()
    for one in filters:
        if getattr(one, "attribute", None) == ("path",):
            span = span.both(_of(type(one).__name__, one))
    return span


def _of(name: str, one: Any) -> Span:
    value = getattr(one, "value", None)
    if name == "In":
        texts = [text for text in one.value if isinstance(text, str)]
        return Span(min(texts), _next(max(texts))) if texts else Span("", "")
    if not isinstance(value, str):
        return Span()
    if name in ("EqualTo", "EqualNullSafe"):
        return Span(value, _next(value))
    if name == "GreaterThanOrEqual":
        return Span(value)
    if name == "GreaterThan":
        return Span(_next(value))
    if name == "LessThanOrEqual":
        return Span("", _next(value))
    if name == "LessThan":
        return Span("", value)
    return of_prefix(value) if name == "StringStartsWith" else Span()


def _next(path: str) -> str:
    """The path right behind another: nothing sorts between them."""
    return path + "\0"


def _behind(prefix: str) -> str | None:
    """The first text behind all that begin with a prefix."""
    while prefix:
        following = ord(prefix[-1]) + 1
        if following <= _LAST:
            return prefix[:-1] + chr(_SURROGATES.stop if following in _SURROGATES else following)
        prefix = prefix[:-1]
    return None
