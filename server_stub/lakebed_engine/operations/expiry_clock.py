"""The clock for expiries. It does not jump with the wall clock of the machine.

A server keeps its own time. This time runs with the monotonic clock and follows the wall clock, but at most twice and
at least half as fast as real time. An expiry is counted from the later of the two times, and is due when both have
reached it. So a jump of the wall clock, in either direction, expires nothing too early (docs/decisions/0047).
"""

from __future__ import annotations

import math

from lakebed_engine.operations.keys import EXPIRY_CLOCK, EXPIRY_CLOCK_TIME
from lakebed_engine.stores.kv.base import Batch, KVStore, Put
from lakebed_engine.vocabulary.ports import Clock

JUMP = 60.0
"""Seconds. A larger difference of the two times means that the wall clock has jumped. A smaller one is normal drift."""

REMEMBERED = 7 * 24 * 3600
"""Seconds for which idempotency keys, ended tasks and closed workspaces are kept."""

_WRITTEN = 3600.0
"""Seconds between two writes of the row."""


class ExpiryClock:
    """The clock of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._time, self._at = clock.now(), clock.monotonic()
        self._behind_at = -math.inf
        self._written: float | None = None

    def latest(self) -> int:
        """Whole Unix seconds from which an expiry is counted."""
        wall = self._look()
        return int(max(wall, self._time))

    def due(self) -> int:
        """Whole Unix seconds: everything with an expiry up to this time has certainly expired."""
        wall = self._look()
        return int(min(wall, self._time))

    def before(self, now: float, age: float) -> float:
        """Unix seconds: everything written before this time is certainly older than `age` seconds. `now`: by the clock
        of the writer.

        Returns 0.0 for `age` seconds after the wall clock was behind, because files written then appear too old.
        """
        wall = self._look()
        if self._clock.monotonic() - self._behind_at <= age:
            return 0.0
        ahead = wall - self._time
        return now - age - (ahead if ahead > JUMP else 0.0)

    async def keep(self, kv: KVStore) -> None:
        """Continue from the stored time of the last server, if this one has just started. Store the time regularly."""
        if self._written is None:
            found = await kv.get(EXPIRY_CLOCK, EXPIRY_CLOCK_TIME)
            if found is not None:
                self._time, self._written = float(found.value), float(found.value)
        self._look()
        if self._written is None or abs(self._time - self._written) >= _WRITTEN:
            await kv.apply(Batch(puts=[Put(EXPIRY_CLOCK, EXPIRY_CLOCK_TIME, str(int(self._time)).encode())]))
            self._written = self._time

    def _look(self) -> float:
        """Follow the wall clock as far as real time allows. Returns the wall clock, in Unix seconds."""
        wall, at = self._clock.now(), self._clock.monotonic()
        elapsed = max(0.0, at - self._at)
        self._at = at
        self._time = min(max(wall, self._time + elapsed / 2), self._time + 2 * elapsed)
        if wall < self._time - JUMP:
            self._behind_at = at
        return wall
