"""Many objects at once: into a workspace, or down from any ref. Concurrent, with bounded memory, resumable.

An upload goes batch by batch: bytes of one batch are written while the one before it is made durable, noted in the
journal and registered, in this order. So whatever the journal names is in the store, and a run that begins again only
registers it.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lakebed._async.bulk.bulk_routes import Way, way_of
from lakebed._async.http.pagination import Listing
from lakebed._async.objects import download
from lakebed._async.objects.interfaces import ObjectReader, WorkspaceWriter
from lakebed._bulk.batches import BATCH_FILES, Batch, Item, Journal, batches, of_tree, refuse_unreadable
from lakebed._bulk.hash_cache import Known, Memory, journal_for
from lakebed._bulk.local_tree import Stamp, folder, inside, refuse_no_directory, walk
from lakebed._bulk.progress import Report, Tally
from lakebed._compat.aio import gather, run_in_thread
from lakebed._gateway.operations import objects
from lakebed._values.signed import Elsewhere
from lakebed.errors import CorruptTransferError, InvalidRequestError, ObjectFailure, PartialFailureError
from lakebed.model import ObjectInfo, TransferResult

JOBS = 8
"""Transfers at the same time."""

_FEW_FAILURES = 100
"""After so many files that could not be read, something is wrong with all of them."""


class Upload:
    """One upload on its way."""

    def __init__(self, way: Way, journal: Journal, tally: Tally) -> None:
        self._way = way
        self._journal = journal
        self._tally = tally
        self.failures: list[ObjectFailure] = []
        self.files = 0
        self.bytes = 0

    async def run(self, items: Iterable[Item], deletes: Sequence[str] = ()) -> None:
        """Store and register everything. What one file is to blame for ends in `failures`, and the others go on."""
        source = batches(self._announced(items), self._finished)
        waiting: list[Callable[[], Any]] = []
        while (batch := await run_in_thread(next, source, None)) is not None:
            started = time.time_ns()
            stored: list[tuple[Item, ObjectInfo]] = []
            steps: list[Callable[[], Any]] = [partial(self._store, batch, stored), *waiting]
            await gather(steps, limit=2)
            waiting = [partial(self._finish, batch, stored, started)]
        for step in waiting:
            await step()
        for start in range(0, len(deletes), BATCH_FILES):
            await self._way.register((), deletes[start : start + BATCH_FILES])

    def _announced(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            self._tally.expect(item.size or 0)
            yield item
        self._tally.no_more()

    def _finished(self, item: Item) -> ObjectInfo | None:
        row = self._journal.finished(item)
        if row is None or not self._way.still_there(row):
            return None
        self._tally.skip(row.size)
        return row

    async def _store(self, batch: Batch, stored: list[tuple[Item, ObjectInfo]]) -> None:
        """Write the bytes of a batch, durably; what was written comes into `stored`."""
        counted = 0

        def moved(size: int) -> None:
            nonlocal counted
            counted += size  # from several threads: good enough to take back what a failed attempt has told
            self._tally.moved(size)

        items = batch.items
        try:
            rows = await self._way.store(items, moved) if items else []
        except (CorruptTransferError, FileNotFoundError, PermissionError, IsADirectoryError):
            items = await run_in_thread(self._readable, items)
            if len(items) == len(batch.items):
                raise
            self._tally.moved(-counted)
            rows = await self._way.store(items, self._tally.moved) if items else []
        stored += zip(items, rows, strict=True)

    def _readable(self, items: list[Item]) -> list[Item]:
        """Without the files that cannot be read, or changed since they were looked at."""
        left: list[Item] = []
        for item in items:
            try:
                if item.local is not None:
                    refuse_unreadable(item.local)
                left.append(item)
            except (CorruptTransferError, OSError) as error:
                self.failures.append(failure(item.path, error))
        return left

    async def _finish(self, batch: Batch, stored: list[tuple[Item, ObjectInfo]], started: int) -> None:
        await run_in_thread(self._journal.stored, stored, started)
        await self._way.register([*(row for _, row in stored), *batch.done], ())
        self.files += len(stored) + len(batch.done)
        self.bytes += sum(row.size for _, row in stored)
        self._tally.done(len(stored))


async def put_items(
    workspace: WorkspaceWriter,
    items: Iterable[Item],
    *,
    delete: Sequence[str] = (),
    memory: Memory | None = None,
    progress: Report = None,
    jobs: int = JOBS,
) -> TransferResult:
    """Upload items into a workspace. Raises PartialFailureError, after trying all, when files could not be read."""
    tally = Tally(progress)
    way = await way_of(workspace, jobs)
    work = Upload(way, Journal(memory), tally)
    try:
        if memory is not None and memory.count():
            await way.resume()
        await work.run(items, delete)
    finally:
        tally.end()
    moment = tally.now()
    if work.failures:
        raise partial_failure(f"could not be uploaded to {workspace._target}", work.failures, moment.files_total)
    return TransferResult(work.files, work.bytes, moment.skipped, moment.seconds)


async def upload_tree(
    workspace: WorkspaceWriter,
    source: str | os.PathLike[str],
    prefix: str = "",
    *,
    progress: Report = None,
    jobs: int = JOBS,
    journal: str | os.PathLike[str] | None = None,
) -> TransferResult:
    """Upload what is in a directory, below a prefix that is taken as a folder.

    What is done is noted in a journal, in `~/.cache/lakebed` or where `journal` says, until all of it is: when the
    process is killed, the same call for the same workspace goes on where it stopped. Raises PartialFailureError, after
    trying all, when files could not be read, and InvalidRequestError for a source that is no directory.
    """
    top, under = Path(source), folder(prefix)
    await run_in_thread(refuse_no_directory, top)
    where = workspace._target
    key = ("upload", where.transport.settings.endpoint, where.repository, workspace.workspace_id, under)
    with await run_in_thread(journal_for, key, top, journal) as memory:
        items = of_tree(walk(top), under)
        result = await put_items(workspace, items, memory=memory, progress=progress, jobs=jobs)
        await run_in_thread(memory.destroy)
        return result


def failure(path: str, error: Exception) -> ObjectFailure:
    """Why one file could not be moved."""
    said = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return ObjectFailure(path, getattr(error, "status", None) or 0, said)


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

    def __init__(self, ref: ObjectReader, memory: Memory | None, tally: Tally, jobs: int) -> None:
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


async def fetch(ref: ObjectReader, info: ObjectInfo, name: str, local: Path, tally: Tally) -> Known:
    """Download one object to a file, and say how it looks."""
    started = time.time_ns()
    got = await download.save(ref._download(info.path, 0, None, known=info.checksum), local, tally.moved)
    return await run_in_thread(describe, name, local, got.checksum, started)


def describe(name: str, local: Path, checksum: str, started_ns: int) -> Known:
    """A file that was just written with an object's content. The MD5 is read from it where the lake has another."""
    from lakebed._bulk.hashing import is_md5, md5_of

    stamp = Stamp.of(os.stat(local))
    return Known(name, stamp, checksum if is_md5(checksum) else md5_of(local), checksum, "", started_ns)


def _to_fetch(ref: ObjectReader, prefix: str) -> Listing[Any]:
    """What is below a prefix. Where the server signs the addresses come along, and no object is asked for by itself."""
    if ref._reads_proxied():
        return ref.list(prefix)
    target = ref._target
    addresses = target.transport.addresses

    def keep(info: ObjectInfo, found: Elsewhere, expires: int) -> None:
        addresses.keep((target.repository, target.ref, info.path, info.checksum), found, expires)

    return Listing(
        target.transport,
        lambda after, amount: objects.list_addresses_page(
            target.repository, target.ref, prefix=prefix, after=after, amount=amount, keep=keep
        ),
        ObjectInfo.COLUMNS,
        f"objects of {target.ref}",
    )


async def download_tree(
    ref: ObjectReader,
    prefix: str,
    target: str | os.PathLike[str],
    *,
    progress: Report = None,
    jobs: int = JOBS,
    journal: str | os.PathLike[str] | None = None,
) -> TransferResult:
    """Download everything under a prefix, taken as a folder, to a directory. Each file appears when it is complete.

    When the process is killed, the same call goes on where it stopped; files that were there before are replaced.
    Raises PartialFailureError, after trying all, when some could not be downloaded or cannot be files.
    """
    if jobs < 1:
        raise InvalidRequestError(f"jobs must be at least 1, not {jobs}")
    base, top, tally = folder(prefix), Path(target), Tally(progress)
    where = ref._target
    key = ("download", where.transport.settings.endpoint, where.repository, where.ref, base)
    with await run_in_thread(journal_for, key, top, journal) as memory:
        work = Fetch(ref, memory, tally, jobs)
        try:
            await work.run(aiter(_to_fetch(ref, base)), base, top)
        finally:
            tally.end()
        moment = tally.now()
        if work.failures:
            raise partial_failure(f"of {where.ref} could not be downloaded", work.failures, moment.files_total)
        await run_in_thread(memory.destroy)
    return TransferResult(work.files, work.bytes, moment.skipped, moment.seconds)
