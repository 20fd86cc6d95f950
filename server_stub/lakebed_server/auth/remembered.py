"""Answers of a store that are kept for a moment, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Remembered(Generic[T]):
    """The answers of the last `seconds`, at most `most` of them; the oldest go first."""

    def __init__(self, clock: Callable[[], float], seconds: float, most: int) -> None:
        self._clock = clock
        self._seconds = seconds
        self._most = most
        self._rows: dict[str, tuple[float, T]] = {}

    def get(self, key: str) -> T | None:
        """What was put in lately."""
        row = self._rows.get(key)
        if row is None:
            return None
        if row[0] < self._clock():
            del self._rows[key]
            return None
        return row[1]

    def forget(self, key: str) -> None:
        """Know nothing of it."""
        self._rows.pop(key, None)

    def put(self, key: str, value: T, since: float | None = None) -> None:
        """Remember for `seconds`, and drop what is older. `since`: when the question was asked, if not now."""
        now, rows = self._clock(), self._rows
        rows.pop(key, None)
        # rows live equally long, so the order in which they came is nearly the order in which they end
        while rows and (len(rows) >= self._most or next(iter(rows.values()))[0] < now):
            del rows[next(iter(rows))]
        rows[key] = ((now if since is None else since) + self._seconds, value)
