"""Rows of events. A caller puts them into the batch of the change, so neither exists without the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from lakebed_engine.operations.context import Context, Repo, encode
from lakebed_engine.operations.keys import event_key
from lakebed_engine.stores.kv.base import Put, Row
from lakebed_engine.vocabulary.events import Event, NewEvent

MOST_TOGETHER: Final = 1 << 20
"""The largest number of events of one batch."""


DELETED: Final = "repository.deleted"
"""The type of the last event of a repository. Its data has the `storage_namespace`."""

_decode = msgspec.json.Decoder(Event).decode


def in_order(rows: Iterable[Row]) -> list[Event]:
    """The events of rows, in the order of their batches. Raises `BAD_ROW`."""
    return [_decode(row.value) for row in sorted(rows, key=lambda row: (row.version, row.key))]


def event_rows(ctx: Context, repo: Repo, *events: NewEvent) -> list[Put]:
    """The rows of the events of one change, in their order.

    The id of an event begins with the time in milliseconds, and ends with the place of the event in its batch.
    """
    assert len(events) <= MOST_TOGETHER
    if not events:
        return []
    now = int(ctx.clock.now() * 1000)
    start = f"{now:012x}{ctx.ids.new()}"
    puts = []
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
    ctx.undrained.note(repo.name, puts)
    return puts
