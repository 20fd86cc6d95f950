"""How a loss chooses what reaches the disk."""

from __future__ import annotations

import random
from collections.abc import Sequence

_RECENT = 30
"""Many unsynced changes are old and of names that are not used any more, such as temporary files."""


class Policy:
    """The way of one loss.

    A coin for each change finds few of the faults that need one particular change alone. So a loss has a way: nothing,
    everything, everything but one, one alone, all up to a moment, names without bytes, bytes without names, or coins.
    """

    WAYS = ("nothing", "everything", "all but one", "one alone", "up to a moment", "names", "bytes", "coins", "coins")

    def __init__(self, chance: random.Random, unsynced: Sequence[int], way: str) -> None:
        self.chance = chance
        self.way = way or chance.choice(self.WAYS)
        self._one = chance.choice(unsynced[-chance.choice((_RECENT, len(unsynced))) :]) if unsynced else -1
        self._share = chance.choice((0.1, 0.5, 0.5, 0.9))

    def name(self, index: int) -> bool:
        """Whether a change of a name is on disk."""
        return self.way == "names" or (self.way != "bytes" and self._lands(index))

    def bytes(self, index: int) -> float:
        """Which share of a write's sectors is on disk: 0, 1, or some."""
        if self.way in ("names", "bytes"):
            return 1.0 if self.way == "bytes" else 0.0
        if self.way == "coins" and self.chance.random() < 0.4:
            return self.chance.random()
        if self.way in ("all but one", "one alone", "up to a moment") and index == self._one:
            return self.chance.choice((0.0, 0.5, 1.0))
        return 1.0 if self._lands(index) else 0.0

    def _lands(self, index: int) -> bool:
        match self.way:
            case "nothing":
                return False
            case "everything":
                return True
            case "all but one":
                return index != self._one
            case "one alone":
                return index == self._one
            case "up to a moment":
                return index <= self._one
        return self.chance.random() < self._share

    def size(self, sizes: Sequence[int]) -> int:
        """Of the sizes that a file has had since its last sync, the last one's share is half."""
        match self.way:
            case "nothing":
                return sizes[0]
            case "everything" | "bytes":
                return sizes[-1]
        if self.chance.random() < 0.5:
            return sizes[-1]
        return self.chance.choice((self.chance.choice(sizes), self.chance.randint(min(sizes), max(sizes))))
