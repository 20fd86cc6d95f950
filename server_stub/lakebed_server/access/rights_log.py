"""Changes of rights as events: the rows `changes/ID` of the directory, from a moment on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from lakebed_engine.stores.kv.base import KVStore
from lakebed_engine.vocabulary.events import SKEW, Event, EventPage
from lakebed_format.journal import PLACES

from lakebed_server.access.transaction import scan
from lakebed_server.auth.records import CHANGES, EPOCH, PARTITION, Change

_MOST_READ: Final = 10_000
"""Rows that one page reads, unless all of them are within `SKEW`. A page with a filter may therefore be short."""


class RightsLog:
    """Rows are in the order of the epoch. Their times grow too, but for the difference of the clocks of servers."""

    def __init__(self, kv: KVStore) -> None:
        self._kv = kv

    async def page(self, after: int, wanted: Callable[[Event], bool], amount: int) -> EventPage:
        """The events after a logical timestamp. Every event up to `position` is among them, or among those before."""
        items: list[Event] = []
        newest, read = 0, 0
        async for id, value in scan(self._kv, CHANGES, after=await self._before(after // PLACES - SKEW)):
            event = _event(id, msgspec.json.decode(value, type=Change))
            newest, read = max(newest, event.time), read + 1
            if event.logical_timestamp > after and wanted(event):
                items.append(event)
            if read % 100 == 0:
                end = (newest - SKEW) * PLACES
                settled = [one for one in items if one.logical_timestamp <= end]
                if end > after and (len(settled) > amount or read >= _MOST_READ):
                    return EventPage(_in_order(settled), end, has_more=True)
        return EventPage(_in_order(items), after, has_more=False)

    async def _before(self, moment: int) -> str:
        """An id: no change with this id or a smaller one is as new as a moment, in Unix milliseconds."""
        found = await self._kv.get(PARTITION, EPOCH.encode())
        low, high = 0, (0 if found is None else int(found.value)) + 1
        while low < high:
            middle = (low + high) // 2
            rows = await self._kv.scan(PARTITION, f"{CHANGES}{middle:016}".encode(), CHANGES.encode() + b"\xff", 1)
            if not rows or _time(msgspec.json.decode(rows[0].value, type=Change)) >= moment:
                high = middle
            else:
                low = middle + 1
        return f"{low - 2:016}" if low >= 2 else ""  # behind the row of an epoch are the changes of keys of this epoch


def _in_order(events: list[Event]) -> list[Event]:
    return sorted(events, key=lambda one: (one.logical_timestamp, one.id))


def _time(change: Change) -> int:
    return change.milliseconds or change.time * 1000


def _event(id: str, change: Change) -> Event:
    is_server = change.by == "server" and not change.request_id
    return Event(
        id=f"rights-{id}",
        type=f"auth.{change.kind}_changed" if change.kind else "auth.changed",
        time=_time(change),
        repository="",
        repository_uid="",
        user="" if is_server else change.by,
        request_id=change.request_id,
        data={"what": change.what},
        logical_timestamp=_time(change) * PLACES + int(id[:16]) % PLACES,
    )
