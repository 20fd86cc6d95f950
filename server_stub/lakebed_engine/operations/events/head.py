"""The head of the event log: which files of events are complete, and which process writes the next one."""

from __future__ import annotations

import msgspec
from lakebed_format.journal import journal_number
from lakebed_format.keys import JOURNAL

from lakebed_engine.operations.context import Context
from lakebed_engine.stores.objects.base import ObjectStore


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The stored row.

    `number` is of the newest file whose events have no rows any more. `next` is the number of the file that a drain has
    begun: it may be in the bucket already. 0: none. That drain has the lease until `until`, in Unix seconds.
    """

    number: int = 0
    next: int = 0
    until: float = 0.0


decode_head = msgspec.json.Decoder(Head).decode


def next_number(ctx: Context, number: int) -> int:
    """The number of a file that begins now, after the file of this number."""
    return max(number + 1, int(ctx.clock.now() * 1000))


async def newest_file(store: ObjectStore) -> int:
    """The number of the newest file in the bucket. 0: there is none."""
    newest = 0
    async for blob in store.list(JOURNAL):
        newest = max(newest, journal_number(blob.key) or 0)
    return newest
