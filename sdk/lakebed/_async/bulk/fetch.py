"""Downloads the objects of a listing to a directory: concurrent, and with bounded memory.

Objects whose files are on this machine are copied. Small objects arrive many in one request. Others have one request
each.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

from lakebed._async.objects.download import save
from lakebed._async.objects.interfaces import ObjectReader
from lakebed._async.objects.read_many import Wanted, read_batches
from lakebed._async.objects.shared_directory import shared_directory
from lakebed._bulk.batches import BATCH_FILES, SMALL
from lakebed._bulk.failures import Finished, failure, of_one_file
from lakebed._bulk.hash_cache import Known, Memory, is_md5, md5_of
from lakebed._bulk.local_tree import FileStat, inside
from lakebed._bulk.progress import Tally
from lakebed._compat.aio import gather, run_in_thread
from lakebed._direct.copy import copy_object
from lakebed._direct.shared_directory import SharedDirectory
from lakebed._files import appearing
from lakebed._http.object_frames import ObjectRead
from lakebed._values.upload_source import CHUNK
from lakebed.errors import ObjectFailure, UnsupportedOperationError
from lakebed.model import ObjectInfo

_GROUP = 50
"""Files that one thread copies before it takes others."""

_TOGETHER = 250
"""Small objects of one request."""

_FEW_FAILURES = 100
"""Files that may fail. After more, something is wrong with all of them."""


class Fetch:
    """One download of many objects."""

    def __init__(
        self, ref: ObjectReader, memory: Memory | None, tally: Tally, jobs: int, finished: Finished | None = None
    ) -> None:
        self._ref = ref
        self._memory = memory
        self._tally = tally
        self._jobs = jobs
        self._report = finished
        self._lock = threading.Lock()
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
        try:
            left = await self._copy(batch, prefix, target, done)
            await self._fetch(left, prefix, target, done)
        finally:
            if self._memory is not None:
                await run_in_thread(self._memory.remember, done)

    async def _copy(self, batch: list[ObjectInfo], prefix: str, target: Path, done: list[Known]) -> list[ObjectInfo]:
        """Copy objects whose files are on this machine. Returns the others."""
        if not batch or not batch[0].physical_address.startswith("local://") or self._ref._reads_proxied():
            return batch
        shared = await shared_directory(self._ref._target)
        if not shared:
            return batch
        groups = [batch[start : start + _GROUP] for start in range(0, len(batch), _GROUP)]
        jobs = [partial(run_in_thread, self._copy_group, shared, group, prefix, target, done) for group in groups]
        return [info for left in await gather(jobs, limit=self._jobs, stop=self._tally.stop) for info in left]

    def _copy_group(
        self, shared: SharedDirectory, group: list[ObjectInfo], prefix: str, target: Path, done: list[Known]
    ) -> list[ObjectInfo]:
        left = []
        for info in group:
            name = info.path.removeprefix(prefix)
            try:
                local = inside(target, name)
                if self._skipped(info, name, local):
                    continue
                local.parent.mkdir(parents=True, exist_ok=True)
                started = time.time_ns()
                if not copy_object(shared, info, local):
                    left.append(info)
                    continue
                self._tally.moved(info.size)
                if self._memory is not None:
                    done.append(describe(name, local, info.checksum, started))
            except Exception as error:
                if not of_one_file(error):
                    raise
                self._fail(info.path, error)
            else:
                self._succeed(info.path, info)
        return left

    async def _fetch(self, batch: list[ObjectInfo], prefix: str, target: Path, done: list[Known]) -> None:
        """Download objects: small ones many in one request, unless the store itself gives them."""
        small: list[ObjectInfo] = []
        others: list[ObjectInfo] = []
        for info in batch:
            (small if info.size <= SMALL and not self._is_signed(info) else others).append(info)
        groups = [small[start : start + _TOGETHER] for start in range(0, len(small), _TOGETHER)]
        jobs = [partial(self._together, group, prefix, target, done) for group in groups]
        await gather(jobs, limit=self._jobs, stop=self._tally.stop)
        await self._one_by_one(others, prefix, target, done)

    async def _one_by_one(self, batch: list[ObjectInfo], prefix: str, target: Path, done: list[Known]) -> None:
        jobs = [partial(self._one, info, info.path.removeprefix(prefix), target, done) for info in batch]
        await gather(jobs, limit=self._jobs, stop=self._tally.stop)

    def _is_signed(self, info: ObjectInfo) -> bool:
        """Whether there is an address of the store at which this object can be read."""
        where, addresses = self._ref._target, self._ref._target.transport.addresses
        if self._ref._reads_proxied() or not addresses.reachable:
            return False
        return addresses.get((where.repository, where.ref, info.path, info.checksum)) is not None

    async def _together(self, group: list[ObjectInfo], prefix: str, target: Path, done: list[Known]) -> None:
        """Download small objects in one request."""
        wanted = await run_in_thread(self._missing, group, prefix, target)
        arrived: list[ObjectRead] = []
        alone: list[ObjectInfo] = []
        size = 0
        try:
            async for read in read_batches(self._ref._target, Wanted([info.path for info in wanted])):
                if read.alone:
                    alone += [info for info in wanted if info.path == read.path]
                    continue
                arrived.append(read)
                size += len(read.data)
                if len(arrived) == _GROUP or size >= CHUNK:
                    await run_in_thread(self._write_group, arrived, prefix, target, done)
                    arrived, size = [], 0
        except UnsupportedOperationError:  # an older server: nothing has arrived
            alone = wanted
        await run_in_thread(self._write_group, arrived, prefix, target, done)
        await self._one_by_one(alone, prefix, target, done)

    def _missing(self, group: list[ObjectInfo], prefix: str, target: Path) -> list[ObjectInfo]:
        """The objects that no earlier run has downloaded, and that can be files."""
        missing = []
        for info in group:
            name = info.path.removeprefix(prefix)
            try:
                if not self._skipped(info, name, inside(target, name)):
                    missing.append(info)
            except Exception as error:
                if not of_one_file(error):
                    raise
                self._fail(info.path, error)
        return missing

    def _write_group(self, group: list[ObjectRead], prefix: str, target: Path, done: list[Known]) -> None:
        for read in group:
            name = read.path.removeprefix(prefix)
            try:
                if read.info is None or read.error is not None:
                    raise read.error or ValueError(name)
                local = inside(target, name)
                local.parent.mkdir(parents=True, exist_ok=True)
                started = time.time_ns()
                with appearing(local) as file:
                    file.write(read.data)
                self._tally.moved(len(read.data))
                if self._memory is not None:
                    done.append(describe(name, local, read.info.checksum, started))
            except Exception as error:
                if not of_one_file(error):
                    raise
                self._fail(read.path, error)
            else:
                self._succeed(read.path, read.info)

    async def _one(self, info: ObjectInfo, name: str, target: Path, done: list[Known]) -> None:
        try:
            local = inside(target, name)
            if await run_in_thread(self._skipped, info, name, local):
                return
            await run_in_thread(local.parent.mkdir, parents=True, exist_ok=True)
            started = time.time_ns()
            got = await fetch(self._ref, info, local, self._tally)
            if self._memory is not None:
                done.append(await run_in_thread(describe, name, local, got.checksum, started))
        except Exception as error:
            if not of_one_file(error):
                raise
            self._fail(info.path, error)
            return
        self._succeed(info.path, got)

    def _succeed(self, path: str, got: ObjectInfo) -> None:
        with self._lock:
            self.files += 1
            self.bytes += got.size
        self._tally.done(1)
        if self._report is not None:
            self._report(path, got)

    def _skipped(self, info: ObjectInfo, name: str, local: Path) -> bool:
        """Whether an earlier run has downloaded the file, which is then counted."""
        if not self._is_there(info, name, local):
            return False
        self._tally.skip(info.size)
        with self._lock:
            self.files += 1
        return True

    def _fail(self, path: str, error: Exception) -> None:
        self.failures.append(failure(path, error))
        if self._report is not None:
            self._report(path, error)
        elif len(self.failures) > _FEW_FAILURES:
            raise error

    def _is_there(self, info: ObjectInfo, name: str, local: Path) -> bool:
        known = None if self._memory is None else self._memory.get(name)
        if known is None or known.checksum != info.checksum:
            return False
        try:
            return FileStat.of(local.stat()) == known.stat
        except OSError:
            return False


async def fetch(ref: ObjectReader, info: ObjectInfo, local: Path, tally: Tally) -> ObjectInfo:
    """Download one object to a file."""
    return await save(ref._download(info.path, 0, None, known=info.checksum), local, tally.moved)


def describe(name: str, local: Path, checksum: str, started_ns: int) -> Known:
    """A file that was just written with an object's content. The MD5 is read from it where the lake has another."""
    stat = FileStat.of(os.stat(local))
    return Known(name, stat, checksum if is_md5(checksum) else md5_of(local), checksum, "", started_ns)
