"""Decoded data that a process keeps for the next page of the same table."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

T = TypeVar("T")

KEPT_BYTES: Final = 192 << 20


class Kept:
    """The last values by their keys, `most_bytes` in total."""

    def __init__(self, most_bytes: int = KEPT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0

    def has(self, key: Hashable) -> bool:
        """Whether the value of a key is here."""
        return key in self._values

    def get(self, key: Hashable, make: Callable[[], T], size_of: Callable[[T], int]) -> T:
        """The value of a key, made if it is not here. `size_of` returns its size in bytes."""
        if key in self._values:
            self._values.move_to_end(key)
            found: T = self._values[key][0]
            return found
        made = make()
        size = size_of(made)
        if size <= self._most_bytes:
            self._values[key] = (made, size)
            self._bytes += size
        while self._bytes > self._most_bytes:
            self._bytes -= self._values.popitem(last=False)[1][1]
        return made
