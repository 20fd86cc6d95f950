"""Many objects at once: into a workspace, or down from any ref. Concurrent, with bounded memory, resumable.

Over the ways that bytes travel (`bulk_ways`), under the handles. An upload goes batch by batch: bytes of one batch are
written while the one before it is made durable, noted in the journal and registered, in this order. So whatever the
journal names is in the store, and a run that begins again only registers it.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed._async.bulk_ways import Way
from lakebed._bulk.jobs import BATCH_FILES, Batch, BulkResult, Item, Journal, batches, failure
from lakebed._bulk.memory import Known, Memory
from lakebed._bulk.tally import Report, Tally
from lakebed._bulk.trees import Stamp, folder, inside
from lakebed._compat.aio import gather, run_in_thread
from lakebed.errors import CorruptTransferError, InvalidRequestError, ObjectFailure, PartialFailureError
from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    from lakebed._async.ref import Ref

_FEW_FAILURES = 100
"""After so many files that could not be read, something is wrong with all of them."""


class Upload:
    """One upload on its way."""

    def __init__(self, way: Way, journal: Journal, tally: Tally, jobs: int) -> None:
        self._way = way
        self._journal = journal
        self._tally = tally
        self._jobs = jobs
        self.failures: list[ObjectFailure] = []
        self.files = 0
        self.bytes = 0

    async def run(self, items: Iterable[Item]) -> None:
        """Store and register everything. What one file is to blame for ends in `failures`, and the others go on."""
        source = batches(self._announced(items), self._finished)
        waiting: list[Callable[[], Any]] = []
        while True:
            batch = await run_in_thread(next, source, None)
            if batch is None:
                break
            started, stored = time.time_ns(), []
            steps = [partial(self._store, batch, stored), *waiting]
            await gather(steps, limit=2)
            waiting = [partial(self._finish, batch, stored, started)]
        for step in waiting:
            await step()

    def _announced(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            self._tally.expect(item.size)
            yield item
        self._tally.no_more()

    def _finished(self, item: Item) -> ObjectInfo | None:
        row = self._journal.finished(item)
        if row is None or not self._way.still_there(row):
            return None
        self._tally.skip(item.size)
        return row

    async def _store(self, batch: Batch, stored: list[tuple[Item, Any]]) -> None:
        """Write the bytes of a batch; what was written comes into `stored`."""

        async def store_group(group: list[Item]) -> None:
            for item, result in await self._way.store(group, self._tally.moved):
                if isinstance(result, Exception):
                    self._fail(item, result)
                else:
                    stored.append((item, result))

        await gather([partial(store_group, group) for group in batch.groups()], limit=self._jobs)

    async def _finish(self, batch: Batch, stored: list[tuple[Item, Any]], started: int) -> None:
        rows = await self._way.publish(stored)
        await run_in_thread(self._journal.stored, rows, started)
        await self._way.register([*(row for _, row in rows), *batch.done])
        self.files += len(rows) + len(batch.done)
        self.bytes += sum(row.size for _, row in rows)
        self._tally.done(len(rows))

    def _fail(self, item: Item, error: Exception) -> None:
        """One file that cannot be read is told in the end; whatever would meet all of them ends the run."""
        of_one_file = isinstance(error, CorruptTransferError | FileNotFoundError | PermissionError | IsADirectoryError)
        if item.local is None or not of_one_file or len(self.failures) >= _FEW_FAILURES:
            raise error
        self.failures.append(failure(item.path, error))


async def upload(
    way: Way, items: Iterable[Item], memory: Memory | None, report: Report, jobs: int, where: str
) -> BulkResult:
    """Upload items by a way. Raises PartialFailureError, after trying all, when files could not be read."""
    if jobs < 1:
        raise InvalidRequestError(f"jobs must be at least 1, not {jobs}")
    tally = Tally(report)
    work = Upload(way, Journal(memory), tally, jobs)
    try:
        if memory is not None and memory.count():
            await way.resume()
        await work.run(items)
    finally:
        await run_in_thread(way.close)
        tally.end()
    moment = tally.now()
    if work.failures:
        raise partial_failure(f"could not be uploaded to {where}", work.failures, moment.files_total)
    return BulkResult(work.files, work.bytes, moment.skipped, moment.seconds)


def partial_failure(what: str, failures: list[ObjectFailure], of: int) -> PartialFailureError:
    """Some of many failed."""
    first = failures[0]
    error = PartialFailureError(
        f"{len(failures)} of {of} files {what}, the first {first.path!r}: {first.message}; the others are done, "
        "and the same call again tries these"
    )
    error.failures = tuple(failures)
    return error


class Fetch:
    """One download of many objects on its way. `placed` is called with the rows of files that are in place."""

    def __init__(self, ref: Ref, memory: Memory | None, tally: Tally, jobs: int) -> None:
        self._ref = ref
        self._memory = memory
        self._tally = tally
        self._jobs = jobs
        self.failures: list[ObjectFailure] = []
        self.files = 0
        self.bytes = 0

    async def run(self, found: AsyncIterator[Any], prefix: str, target: Path) -> None:
        """Download every object of a listing to its place below `target`."""
        batch: list[ObjectInfo] = []
        async for info in found:
            self._tally.expect(info.size)
            batch.append(info)
            if len(batch) == BATCH_FILES:
                await self._batch(batch, prefix, target)
                batch = []
        self._tally.no_more()
        await self._batch(batch, prefix, target)

    async def _batch(self, batch: list[ObjectInfo], prefix: str, target: Path) -> None:
        done: list[Known] = []
        jobs = [partial(self._one, info, info.path.removeprefix(prefix), target, done) for info in batch]
        try:
            await gather(jobs, limit=self._jobs)
        finally:
            if self._memory is not None:
                await run_in_thread(self._memory.remember, done)

    async def _one(self, info: ObjectInfo, name: str, target: Path, done: list[Known]) -> None:
        try:
            local = inside(target, name)
            if await run_in_thread(self._is_there, info, name, local):
                self._tally.skip(info.size)
                self.files += 1
                return
            await run_in_thread(local.parent.mkdir, parents=True, exist_ok=True)
            known = await fetch(self._ref, info, name, local, self._tally)
        except (InvalidRequestError, CorruptTransferError, FileNotFoundError, FileExistsError, NotADirectoryError,
                IsADirectoryError) as error:  # fmt: skip
            self.failures.append(failure(info.path, error))
            if len(self.failures) > _FEW_FAILURES:
                raise
            return
        done.append(known)
        self.files += 1
        self.bytes += known.stamp.size
        self._tally.done(1)

    def _is_there(self, info: ObjectInfo, name: str, local: Path) -> bool:
        known = None if self._memory is None else self._memory.get(name)
        if known is None or known.checksum != info.checksum:
            return False
        try:
            return Stamp.of(local.stat()) == known.stamp
        except OSError:
            return False


async def fetch(ref: Ref, info: ObjectInfo, name: str, local: Path, tally: Tally) -> Known:
    """Download one object to a file, and say how it looks."""
    started = time.time_ns()
    got = await ref.download(info.path, local, progress=tally.moved)
    return await run_in_thread(describe, name, local, got.checksum, started)


def describe(name: str, local: Path, checksum: str, started_ns: int) -> Known:
    """A file that was just written with an object's content. The MD5 is read from it where the lake has another."""
    from lakebed._bulk.hashing import is_md5, md5_of

    stamp = Stamp.of(os.stat(local))
    return Known(name, stamp, checksum if is_md5(checksum) else md5_of(local), checksum, "", started_ns)


async def download_tree(
    ref: Ref,
    prefix: str,
    target: str | os.PathLike[str],
    *,
    progress: Report = None,
    jobs: int = 8,
    memory: Memory | None = None,
) -> BulkResult:
    """Download everything under a prefix, taken as a folder, to a directory.

    Raises PartialFailureError, after trying all, when some could not be downloaded or cannot be files.
    """
    if jobs < 1:
        raise InvalidRequestError(f"jobs must be at least 1, not {jobs}")
    base, tally = folder(prefix), Tally(progress)
    work = Fetch(ref, memory, tally, jobs)
    try:
        await work.run(aiter(ref.list(base)), base, Path(target))
    finally:
        tally.end()
    moment = tally.now()
    if work.failures:
        raise partial_failure(f"of {ref.id} could not be downloaded", work.failures, moment.files_total)
    return BulkResult(work.files, work.bytes, moment.skipped, moment.seconds)
