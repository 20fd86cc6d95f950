"""The drain: moves the events of a repository from the KV store to files in its bucket.

A drain takes the lease and the number of the next file in one batch. Then it reads the rows, puts the file if it is
absent, and removes the rows and completes the number in another batch. So:

1. Rows are removed only after their file is durable, and only by the batch that completes its number. A process that
   dies before that leaves the number and the rows. The next drain uses the same number. If the file is there, it
   removes the rows of that file.
2. All rows of a file were read after the previous number was complete, when its rows were already removed. So an event
is in one file only. 3. A batch that completes a number checks that the head is unchanged since this drain wrote it. So
of two drains at the same time, one changes nothing.

Rows are in the order of their versions. So an event comes after all events that were acknowledged before its own
request began. If there are more than `MOST_ROWS` rows, the oldest are read first, by the clocks of the servers that
wrote them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec
from lakebed_format.decoding import FormatError
from lakebed_format.journal import decode_journal, encode_journal, journal_file
from lakebed_format.keys import REPOSITORY_MARKER
from lakebed_format.refs import decode_marker

from lakebed_engine.operations.context import BAD_ROW, Context, Repo, active_records, encode, open_repo, opened
from lakebed_engine.operations.events.rows import DELETED, Head, decode_head, in_order, next_number
from lakebed_engine.operations.keys import JOURNAL, JOURNAL_HEAD, event_key, under
from lakebed_engine.operations.undrained import Waiting
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, Put, Row
from lakebed_engine.vocabulary.errors import (
    BlobExists,
    BlobNotFound,
    CorruptDataError,
    EngineError,
    NotFoundError,
    PredicateFailed,
)
from lakebed_engine.vocabulary.events import Flush
from lakebed_engine.vocabulary.records import Repository

LEASE: Final = 30.0
"""Seconds after which another process takes over from a drain that does not end."""
EVERY_REPOSITORY: Final = 60.0
"""Seconds between two checks of all repositories. They find the rows of dead processes."""
MOST_ROWS: Final = 100_000
"""Rows that a drain reads and sorts at a time."""
_FEW: Final = 200
"""Up to this number of events are encoded on the event loop: handing them to another thread would take longer."""

log = logging.getLogger("lakebed.engine")


class _Turn(NamedTuple):
    """A head that this drain has written, and its version."""

    head: Head
    version: int


async def drain(ctx: Context, repo: Repo, most: int = Flush().rows) -> int | None:
    """Move all events of a repository to files of at most `most` events. Returns how many events it moved.

    None: another process drains the repository. Raises StoreError.
    """
    if not await ctx.kv.scan(repo.partition, *under(JOURNAL), 1):
        return 0
    turn, moved = await _take(ctx, repo), 0
    if turn is None:
        return None
    while turn is not None:
        rows = await ctx.kv.scan(repo.partition, *under(JOURNAL), MOST_ROWS)
        ids = await _write(ctx, repo, turn.head.next, rows, most)
        turn = await _complete(ctx, repo, turn, ids, more=len(rows) > len(ids))
        moved += len(ids)
    return moved


async def _take(ctx: Context, repo: Repo) -> _Turn | None:
    """Take the lease and a number. None: another process has it."""
    found = await ctx.kv.get(repo.partition, JOURNAL_HEAD)
    head = Head() if found is None else decode_head(found.value)
    now = ctx.clock.now()
    if now < head.until <= now + LEASE:  # a later end is from a wrong clock
        return None
    taken = Head(number=head.number, next=head.next or next_number(ctx, head.number), until=now + LEASE)
    return await _put_head(ctx, repo, ABSENT if found is None else found.version, taken)


async def _write(ctx: Context, repo: Repo, number: int, rows: Sequence[Row], most: int) -> list[str]:
    """Put the file of a number, with the first `most` events, if it is absent. Returns the ids of the events in it."""
    if not rows:
        return []
    try:
        events = [msgspec.to_builtins(event) for event in in_order(rows)[:most]]
    except BAD_ROW as error:
        raise CorruptDataError(f"an event of repository {repo.name!r} cannot be read: {error}") from error
    data = await ctx.runtime.cpu(encode_journal, number, events, small=len(events) <= _FEW)
    try:
        await repo.store.put(journal_file(number), data, if_absent=True)
    except BlobExists:  # the file of a drain that has not completed it
        return await _ids_of(repo, number)
    return [event["id"] for event in events]


async def _ids_of(repo: Repo, number: int) -> list[str]:
    """The ids of the events of a file. Empty for a damaged file: its number is completed without it."""
    try:
        return [event["id"] for _, event in decode_journal(await repo.store.get(journal_file(number)))]
    except (FormatError, CorruptDataError) as error:
        log.warning("repository %s: %s is damaged and was skipped: %s", repo.name, journal_file(number), error)
        return []


async def _complete(ctx: Context, repo: Repo, turn: _Turn, ids: Sequence[str], *, more: bool) -> _Turn | None:
    """Remove the rows of a file, and give the lease back. With `more`, keep the lease and take the next number."""
    head = Head(number=turn.head.next)
    if more:
        head = Head(number=head.number, next=next_number(ctx, head.number), until=ctx.clock.now() + LEASE)
    done = await _put_head(ctx, repo, turn.version, head, [Delete(repo.partition, event_key(one)) for one in ids])
    return done if more else None


async def _put_head(ctx: Context, repo: Repo, version: int, head: Head, deletes: Sequence[Delete] = ()) -> _Turn | None:
    """Replace the head that has this version. None when it has changed."""
    checks = [Check(repo.partition, JOURNAL_HEAD, version)]
    puts = [Put(repo.partition, JOURNAL_HEAD, encode(head))]
    try:
        return _Turn(head, await ctx.kv.apply(Batch(checks=checks, puts=puts, deletes=deletes)))
    except PredicateFailed:
        return None


async def drain_deleted(ctx: Context, partition: str) -> None:
    """Drain a deleted repository, of which only rows remain. Its last event names its bucket. Raises StoreError.

    Gives up the events if the bucket belongs to another repository or no longer has a marker.
    """
    rows = await ctx.kv.scan(partition, *under(JOURNAL), MOST_ROWS)
    try:
        last = next((event for event in in_order(rows) if event.type == DELETED), None)
    except BAD_ROW:
        return
    if last is None:
        return
    record = Repository(
        uid=last.repository_uid,
        name=last.repository,
        storage_namespace=last.data["storage_namespace"],
        storage_id=last.data.get("storage_id", ""),
        default_branch="",
        creation_date=0,
    )
    repo = opened(ctx, record)
    try:
        marker = decode_marker(await repo.store.get(REPOSITORY_MARKER))
    except (BlobNotFound, CorruptDataError, FormatError):
        return
    if marker.get("uid") == record.uid:
        await drain(ctx, repo)


class Drainer:
    """Drains the repositories whose events this process has recorded, and from time to time all repositories."""

    def __init__(self, ctx: Context, flush: Flush) -> None:
        self._ctx = ctx
        self._flush = flush
        self._looked = ctx.clock.monotonic()

    async def run(self, *, everything: bool = False) -> int:
        """Make one pass over the repositories that are due. Returns how many events it moved.

        `everything`: all events that this process has recorded. A failure of one repository does not stop the others.
        """
        now = self._ctx.clock.monotonic()
        due = [name for name, one in self._ctx.undrained.repositories.items() if everything or self._is_due(one, now)]
        moved = sum(await self._ctx.runtime.gather([partial(self._drain, name) for name in due]))
        if now - self._looked >= EVERY_REPOSITORY:
            self._looked = now
            async for record in active_records(self._ctx):
                moved += await self._drain(record.name)
        return moved

    def _is_due(self, waiting: Waiting, now: float) -> bool:
        age, rows, size = self._flush
        return now - waiting.since >= age or waiting.rows >= rows or waiting.bytes >= size

    async def _drain(self, name: str) -> int:
        waiting = self._ctx.undrained.repositories.pop(name, None)
        try:
            moved = await drain(self._ctx, await open_repo(self._ctx, name), self._flush.rows)
        except NotFoundError:
            return 0
        except EngineError as error:
            log.warning("repository %s: its events stay in the KV store for now: %s", name, error.message)
            moved = None
        if moved is None and waiting is not None:
            self._ctx.undrained.put_back(name, waiting)
        return moved or 0
