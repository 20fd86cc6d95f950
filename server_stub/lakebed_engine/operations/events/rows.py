"""Rows of events. A caller puts them into the batch of the change, so neither exists without the other.

The head of the event log is also a row. It says which files of events are complete, and which process writes the next
one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from lakebed_format.journal import journal_number
from lakebed_format.keys import JOURNAL

from lakebed_engine.operations.context import Context, Repo, encode
from lakebed_engine.operations.keys import DELIVERIES_DUE, HOOK_DELIVERIES, delivery_order_key, due_key, event_key
from lakebed_engine.stores.kv.base import Put, Row
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.vocabulary.events import Event, NewDelivery, NewEvent
from lakebed_engine.vocabulary.hooks import Delivery
from lakebed_engine.vocabulary.records import Repository

MOST_TOGETHER: Final = 1 << 20
"""The largest number of events of one batch."""


DELETED: Final = "repository.deleted"
"""The type of the last event of a repository. Its data is `place_data`."""

_decode = msgspec.json.Decoder(Event).decode


def in_order(rows: Iterable[Row]) -> list[Event]:
    """The events of rows, in the order of their batches. Raises `BAD_ROW`."""
    return [_decode(row.value) for row in sorted(rows, key=lambda row: (row.version, row.key))]


def place_data(record: Repository) -> dict[str, str]:
    """Where the files of a repository are, as the data of an event."""
    place = {"storage_namespace": record.storage_namespace}
    return place | {"storage_id": record.storage_id} if record.storage_id else place


def event_rows(ctx: Context, repo: Repo, *events: NewEvent) -> list[Put]:
    """The rows of the events of one change, in their order.

    The id of an event begins with the time in milliseconds, and ends with the place of the event in its batch.
    """
    assert len(events) <= MOST_TOGETHER
    if not events:
        return []
    now = int(ctx.clock.now() * 1000)
    start = f"{now:012x}{ctx.ids.new()}"
    puts: list[Put] = []
    calls: list[Put] = []
    for place, new in enumerate(events):
        event = Event(
            id=f"{start}{place:05x}",
            type=new.type,
            time=now,
            repository=repo.name,
            repository_uid=repo.record.uid,
            branch=new.branch,
            gen=new.gen,
            user=new.actor.user,
            request_id=new.actor.request_id,
            commit_id=new.commit_id,
            before=new.before,
            after=new.after,
            data=dict(new.data),
        )
        puts.append(Put(repo.partition, event_key(event.id), encode(event)))
        for number, call in enumerate(new.deliveries):
            calls += _delivery_rows(event, number, call)
    ctx.undrained.note(repo.name, puts)
    return puts + calls


def _delivery_rows(event: Event, number: int, call: NewDelivery) -> list[Put]:
    """The row of a call that follows a change, due immediately, and its position among ordered calls."""
    delivery = Delivery(id=f"{event.id}{number:03x}", event=event, call=call, due=event.time / 1000)
    rows = [Put(HOOK_DELIVERIES, due_key(DELIVERIES_DUE, event.time // 1000, delivery.id), encode(delivery))]
    if call.ordered:
        rows.append(Put(HOOK_DELIVERIES, delivery_order_key(delivery.order, delivery.id), b""))
    return rows


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The stored row.

    `number` is the number of the newest file whose rows are removed. `next` is the number of the file that a drain has
    begun, and which may already be in the bucket. 0: none. That drain has the lease until `until`, in Unix seconds.
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
