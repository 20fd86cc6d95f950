"""A cache bounded by bytes, for content that never changes. It evicts the least recently used values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any


class ByteCache:
    """A least-recently-used cache, bounded by the sizes of its values. Not thread-safe: for one event loop."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self.hits = 0
        self.misses = 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def get(self, key: Hashable) -> Any | None:
        """The value, which becomes the most recently used, or None."""
        found = self._values.get(key)
        if found is None:
            self.misses += 1
            return None
        self.hits += 1
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, value: Any, nbytes: int) -> None:
        """Keep a value of `nbytes`. Ignores a value that is larger than the whole cache."""
        old = self._values.pop(key, None)
        if old is not None:
            self.used -= old[1]
        if nbytes > self.limit:
            return
        self._values[key] = (value, nbytes)
        self.used += nbytes
        while self.used > self.limit:
            _, (_, gone) = self._values.popitem(last=False)
            self.used -= gone

    def values(self) -> list[Any]:
        """All values, the least recently used first."""
        return [value for value, _ in self._values.values()]

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()
        self.used = 0
