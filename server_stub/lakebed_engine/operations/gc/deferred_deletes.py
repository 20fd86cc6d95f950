"""The cleaner: removes data that swaps dropped, a grace period after it first saw the note (`PROTOCOL.md` 3, DROP).

It never deletes when something is unknown: after any error the note stays for the next pass. An object store that fails
does not stop the work on others: the pass raises its error at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from lakebed_engine.operations.branch.compare_and_swap import Note, everything_of
from lakebed_engine.operations.context import Context, Repo, active_records, decode_branch, decode_workspace, opened
from lakebed_engine.operations.events.drain import drain_deleted
from lakebed_engine.operations.keys import (
    BRANCH_ROWS,
    DROPPED_REPOSITORIES,
    DROPS,
    OPERATIONS,
    WORKSPACE_ROWS,
    repository_partition,
    staging,
    under,
)
from lakebed_engine.operations.retry import Failures
from lakebed_engine.stores.kv.base import Batch, Delete, scan_pages, scan_rows
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.records import Branch

_RECORDS: Sequence[tuple[bytes, Callable[[bytes], Branch]]] = (
    (BRANCH_ROWS, decode_branch),
    (WORKSPACE_ROWS, decode_workspace),
)
OPERATION_AGE = 3600
"""The shortest time that operation keys are kept, in seconds."""
EVENTS_AGE = 24 * 3600
"""Seconds for which the cleaner keeps the events of a deleted repository when its bucket does not accept them."""
PARTIAL_AGE = 24 * 3600
"""Seconds after which the cleaner removes the leftovers of an interrupted write."""


class Cleaner:
    """The cleaner of this process. It records, by its own monotonic clock, when it first saw each note."""

    def __init__(self, ctx: Context, grace: float) -> None:
        self._ctx = ctx
        self._grace = grace
        self._first_seen: dict[bytes, float] = {}

    async def run(self) -> int:
        """Make one pass. Returns the number of notes that it finished."""
        failures = Failures()
        settled = await self._drops(failures)
        async for record in active_records(self._ctx):
            with failures.kept():
                repo = opened(self._ctx, record)
                await self._operations(repo)
                await self._partials(repo)
        failures.raise_first()
        return settled

    async def _drops(self, failures: Failures) -> int:
        ctx = self._ctx
        notes = await ctx.kv.scan(DROPS, limit=10_000)
        now = ctx.clock.monotonic()  # after the scan: a slow scan returns notes that are younger than its start
        known = {row.key for row in notes}
        self._first_seen = {key: seen for key, seen in self._first_seen.items() if key in known}
        settled = 0
        for row in notes:
            if now - self._first_seen.setdefault(row.key, now) < self._grace:
                continue
            if row.key.startswith(DROPPED_REPOSITORIES):
                uid = row.key.removeprefix(DROPPED_REPOSITORIES).decode()
                if not await self._drop_repository(repository_partition(uid), int(row.value)):
                    continue
            else:
                with failures.kept() as kept:
                    await self._drop_layer(row.key.decode(), msgspec.json.decode(row.value, type=Note))
                if kept:
                    continue
            await ctx.kv.apply(Batch(deletes=[Delete(DROPS, row.key)]))
            settled += 1
        return settled

    async def _drop_layer(self, layer_id: str, note: Note) -> None:
        if note.files:
            await self._ctx.stores.open(note.namespace, note.storage_id).delete(note.files)
        else:
            await self._ctx.kv.drop_partition(staging(layer_id))

    async def _drop_repository(self, partition: str, at: int) -> bool:
        """Drop the rows of a repository that was deleted at a Unix second. False: its last events are still needed."""
        try:
            await drain_deleted(self._ctx, partition)
        except EngineError:
            if at > self._ctx.expiry_clock.before(self._ctx.clock.now(), EVENTS_AGE):
                return False
        for prefix, decode in _RECORDS:
            async for row in scan_rows(self._ctx.kv, partition, *under(prefix)):
                for layer in everything_of(decode(row.value)):
                    if layer.kind == "kv":  # layer files stay, like all files of the bucket
                        await self._ctx.kv.drop_partition(staging(layer.id))
        await self._ctx.kv.drop_partition(partition)
        return True

    async def _operations(self, repo: Repo) -> None:
        limit = self._ctx.expiry_clock.before(self._ctx.clock.now(), OPERATION_AGE)
        async for rows in scan_pages(self._ctx.kv, repo.partition, *under(OPERATIONS)):
            old = [Delete(repo.partition, row.key) for row in rows if int(row.value) < limit]
            if old:
                await self._ctx.kv.apply(Batch(deletes=old))

    async def _partials(self, repo: Repo) -> None:
        limit = self._ctx.expiry_clock.before(self._ctx.clock.now(), PARTIAL_AGE)
        async for leftover in repo.store.list_partial():
            if leftover.mtime < limit:
                await repo.store.delete_partial(leftover.key)
