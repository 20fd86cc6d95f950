"""Many objects up: into a workspace, or staged on a branch. Concurrent, with bounded memory, resumable by a journal.

An upload goes batch by batch: bytes of one batch are written while the one before it is made durable, noted in the
journal and registered, in this order. So whatever the journal names is in the store, and a run that begins again only
registers it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lakebed import _checks
from lakebed._async.bulk.bulk_routes import ProxiedRoute, UploadRoute, route_of
from lakebed._async.objects.interfaces import ObjectWriter, WorkspaceWriter
from lakebed._bulk.batches import (
    BATCH_FILES,
    Batch,
    Finished,
    Item,
    Journal,
    batches,
    failure,
    of_tree,
    partial_failure,
    refuse_unreadable,
)
from lakebed._bulk.hash_cache import Memory, journal_for
from lakebed._bulk.local_tree import count_tree, folder, refuse_no_directory, walk
from lakebed._bulk.progress import JOBS, Report, Tally
from lakebed._compat.aio import gather, run_in_thread
from lakebed.errors import CorruptTransferError, InvalidRequestError, ObjectFailure
from lakebed.model import ObjectInfo, TransferResult


class Upload:
    """One upload of many objects."""

    def __init__(self, route: UploadRoute, journal: Journal, tally: Tally, finished: Finished | None = None) -> None:
        self._route = route
        self._journal = journal
        self._tally = tally
        self._report = finished
        self.failures: list[ObjectFailure] = []
        self.files = 0
        self.bytes = 0

    async def run(self, items: Iterable[Item], deletes: Sequence[str] = ()) -> None:
        """Store and register everything. Errors of single files end in `failures`, and the others go on."""
        source = batches(self._announced(items), self._finished)
        waiting: list[Callable[[], Any]] = []
        while (batch := await run_in_thread(next, source, None)) is not None:
            started = time.time_ns()
            stored: list[tuple[Item, ObjectInfo]] = []
            steps: list[Callable[[], Any]] = [partial(self._store, batch, stored), *waiting]
            await gather(steps, limit=2, stop=self._tally.stop)
            waiting = [partial(self._finish, batch, stored, started)]
        for step in waiting:
            await step()
        for start in range(0, len(deletes), BATCH_FILES):
            await self._route.register((), deletes[start : start + BATCH_FILES])

    def _announced(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            self._tally.expect(item.size or 0)
            yield item
        self._tally.no_more()

    def _finished(self, item: Item) -> ObjectInfo | None:
        row = self._journal.finished(item)
        if row is None or not self._route.still_there(row):
            return None
        self._tally.skip(row.size)
        return row

    async def _store(self, batch: Batch, stored: list[tuple[Item, ObjectInfo]]) -> None:
        """Write the bytes of a batch durably, and record the written objects in `stored`."""
        counted = 0

        def moved(size: int) -> None:
            nonlocal counted
            counted += size  # called from several threads: exact enough to undo the progress of a failed attempt
            self._tally.moved(size)

        items = batch.items
        try:
            rows = await self._route.store(items, moved) if items else []
        except (CorruptTransferError, FileNotFoundError, PermissionError, IsADirectoryError):
            items = await run_in_thread(self._readable, items)
            if len(items) == len(batch.items):
                raise
            self._tally.moved(-counted)
            rows = await self._route.store(items, self._tally.moved) if items else []
        for item, row in zip(items, rows, strict=True):
            if isinstance(row, ObjectInfo):
                stored.append((item, row))
            else:
                self.fail(item.path, row)

    def _readable(self, items: list[Item]) -> list[Item]:
        """The batch without files that cannot be read or that have changed since they were listed."""
        left: list[Item] = []
        for item in items:
            try:
                if item.local is not None:
                    refuse_unreadable(item.local)
                left.append(item)
            except (CorruptTransferError, OSError) as error:
                self.fail(item.path, error)
        return left

    def fail(self, path: str, error: Exception) -> None:
        """Record that one file could not be uploaded."""
        self.failures.append(failure(path, error))
        if self._report is not None:
            self._report(path, error)

    async def _finish(self, batch: Batch, stored: list[tuple[Item, ObjectInfo]], started: int) -> None:
        await run_in_thread(self._journal.stored, stored, started)
        await self._route.register([*(row for _, row in stored), *batch.done], ())
        self.files += len(stored) + len(batch.done)
        self.bytes += sum(row.size for _, row in stored)
        self._tally.done(len(stored))
        if self._report is not None:
            for _, row in stored:
                self._report(row.path, row)


async def put_items(
    workspace: WorkspaceWriter,
    items: Iterable[Item],
    *,
    delete: Sequence[str] = (),
    memory: Memory | None = None,
    progress: Report = None,
    jobs: int = JOBS,
    tree: Path | None = None,
) -> TransferResult:
    """Upload items into a workspace. Raises PartialFailureError, after trying all, when files could not be read.

    `tree` is the directory that the items come from: its total is counted before, when progress is shown.
    """
    tally = Tally(progress)
    if tree is not None and progress is not None:
        tally.announce(*await run_in_thread(count_tree, tree))
    route = await route_of(workspace, jobs, tally)
    work = Upload(route, Journal(memory), tally)
    if memory is not None and memory.count():
        await route.resume()
    return await _run(work, items, delete, tally, str(workspace._target))


async def stage_tree(
    branch: ObjectWriter,
    source: Path,
    prefix: str,
    *,
    content_type: str | Callable[[str], str | None] | None = None,
    metadata: Mapping[str, str] | None = None,
    if_absent: bool = False,
    progress: Report = None,
    jobs: int = JOBS,
    finished: Finished | None = None,
) -> TransferResult:
    """Upload the files of a directory to a branch, as uncommitted changes. With `if_absent`, nothing is replaced.

    `content_type` is that of all objects, or a function of the path.

    Raises PartialFailureError, after trying all, when some could not be uploaded, and what `finished` raises.
    """
    tally = Tally(progress)
    if progress is not None:
        tally.announce(*await run_in_thread(count_tree, source))
    route = ProxiedRoute(branch._target, jobs, tally, metadata=metadata, if_absent=if_absent)
    work = Upload(route, Journal(None), tally, finished)

    def items() -> Iterator[Item]:
        for file in walk(source):
            path = folder(prefix) + file.name
            try:
                kind = content_type(path) if callable(content_type) else content_type
                yield Item(_checks.check_path(path), file.stat.size, local=file, content_type=kind)
            except InvalidRequestError as error:
                tally.expect(0)
                work.fail(path, error)

    return await _run(work, items(), (), tally, str(branch._target))


async def _run(work: Upload, items: Iterable[Item], delete: Sequence[str], tally: Tally, where: str) -> TransferResult:
    try:
        await work.run(items, delete)
    finally:
        tally.end()
    moment = tally.now()
    if work.failures:
        raise partial_failure(f"could not be uploaded to {where}", work.failures, moment.files_total)
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
    """Upload the files of a directory below a prefix, which is treated as a folder.

    A journal, in `~/.cache/lakebed` or at `journal`, records the progress: after the process is killed, the same call
    for the same workspace continues where it stopped. Raises PartialFailureError, after trying all, when files could
    not be read, and InvalidRequestError for a source that is not a directory.
    """
    top, under = Path(source), folder(prefix)
    await run_in_thread(refuse_no_directory, top)
    where = workspace._target
    key = ("upload", where.transport.settings.endpoint, where.repository, workspace.workspace_id, under)
    with await run_in_thread(journal_for, key, top, journal) as memory:
        items = of_tree(walk(top), under)
        result = await put_items(workspace, items, memory=memory, progress=progress, jobs=jobs, tree=top)
        await run_in_thread(memory.destroy)
        return result
