"""A bounded cache whose entries expire: answers of a store that may be used for a short time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class TtlCache(Generic[T]):
    """Keeps values for `seconds`, and at most `most` of them. Removes the oldest first."""

    def __init__(self, clock: Callable[[], float], seconds: float, most: int) -> None:
        self._clock = clock
        self._seconds = seconds
        self._most = most
        self._rows: dict[str, tuple[float, T]] = {}

    def get(self, key: str) -> T | None:
        """The value of a key, or None when there is none or it has expired."""
        row = self._rows.get(key)
        if row is None:
            return None
        if row[0] < self._clock():
            del self._rows[key]
            return None
        return row[1]

    def forget(self, key: str) -> None:
        """Remove a key, if it is there."""
        self._rows.pop(key, None)

    def put(self, key: str, value: T, since: float | None = None) -> None:
        """Keep a value for `seconds` from `since` on: the time of the read from the store, by default now."""
        now, rows = self._clock(), self._rows
        rows.pop(key, None)
        # all entries are kept for the same time, so they expire nearly in the order of their insertion
        while rows and (len(rows) >= self._most or next(iter(rows.values()))[0] < now):
            del rows[next(iter(rows))]
        rows[key] = ((now if since is None else since) + self._seconds, value)
