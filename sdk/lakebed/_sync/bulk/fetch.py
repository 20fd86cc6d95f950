# Generated from sdk/lakebed/_async/bulk/fetch.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Downloads the objects of a listing to a directory: concurrent, and with bounded memory.

Copies objects whose files are on this machine, reads small objects in batches, and sends one request for each other
object.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from lakebed._bulk.batches import BATCH_FILES, SMALL, Finished, failure, of_one_file
from lakebed._bulk.hash_cache import Known, Memory, distinct_mtime, is_md5, md5_of
from lakebed._bulk.local_tree import FileStat, inside
from lakebed._bulk.progress import Tally
from lakebed._compat.sync import gather, run_in_thread
from lakebed._direct.copy import copy_object
from lakebed._direct.shared_directory import SharedDirectory
from lakebed._files import write_file
from lakebed._http.object_frames import ObjectRead
from lakebed._sync.objects.download import save
from lakebed._sync.objects.interfaces import ObjectReader
from lakebed._sync.objects.read_many import Wanted, read_batches
from lakebed._sync.objects.shared_directory import shared_directory
from lakebed._values.upload_source import CHUNK
from lakebed.errors import ObjectFailure, UnsupportedOperationError
from lakebed.model import ObjectInfo

_GROUP = 50
"""Maximum number of small objects that one thread writes together."""

_COPIERS = 2
"""Threads that copy small files. More would not help: most of the work holds the GIL."""

_TOGETHER = 250
"""Maximum number of small objects in one request."""

_FEW_FAILURES = 100
"""Maximum number of failed files. More failures indicate a common cause, so the transfer stops."""


class Fetch:
    """A download of the objects below `prefix` into the directory `target`."""

    def __init__(
        self,
        ref: ObjectReader,
        prefix: str,
        target: Path,
        memory: Memory | None,
        tally: Tally,
        jobs: int,
        finished: Finished | None = None,
    ) -> None:
        self._ref = ref
        self._prefix = prefix
        self._directory = target
        self._memory = memory
        self._tally = tally
        self._jobs = jobs
        self._report = finished
        self._lock = threading.Lock()
        self._done: list[Known] = []
        self.failures: list[ObjectFailure] = []
        self.files = 0
        self.bytes = 0

    def run(self, found: Iterator[Any]) -> None:
        """Download every object of a listing."""
        batch: list[ObjectInfo] = []
        for info in found:
            self._tally.expect(info.size)
            batch.append(info)
            if len(batch) == BATCH_FILES:
                self._batch(batch)
                batch = []
        self._tally.no_more()
        if batch:
            self._batch(batch)

    def _batch(self, batch: list[ObjectInfo]) -> None:
        try:
            missing = run_in_thread(self._missing, batch)
            self._fetch(self._copy(missing))
        finally:
            if self._memory is not None:
                run_in_thread(self._memory.remember, self._done)
                self._done = []

    def _missing(self, batch: list[ObjectInfo]) -> list[ObjectInfo]:
        """The objects whose paths can be files and that no earlier run has downloaded."""
        names = [info.path.removeprefix(self._prefix) for info in batch]
        known = {} if self._memory is None else self._memory.between(min(names), max(names))
        missing = []
        for info, name in zip(batch, names, strict=True):
            with self._failing(info.path):
                if not _is_there(inside(self._directory, name), info, known.get(name)):
                    missing.append(info)
                    continue
                self._tally.skip(info.size)
                self.files += 1
        return missing

    def _copy(self, batch: list[ObjectInfo]) -> list[ObjectInfo]:
        """Copy objects whose files are on this machine. Returns the others."""
        if not batch or not batch[0].physical_address.startswith("local://") or self._ref._reads_proxied():
            return batch
        shared = shared_directory(self._ref._target)
        if not shared:
            return batch
        small = [info for info in batch if info.size <= SMALL]
        groups = [small[start::_COPIERS] for start in range(_COPIERS)]
        groups += [[info] for info in batch if info.size > SMALL]
        jobs = [partial(run_in_thread, self._copy_group, shared, group) for group in groups]
        return [info for left in gather(jobs, limit=self._jobs, stop=self._tally.stop) for info in left]

    def _copy_group(self, shared: SharedDirectory, group: list[ObjectInfo]) -> list[ObjectInfo]:
        left = []
        for info in group:
            with self._failing(info.path):
                local, started = self._local(info.path), time.time_ns()
                if not copy_object(shared, info, local, distinct_mtime(started)):
                    left.append(info)
                    continue
                self._tally.moved(info.size)
                self._succeed(info.path, info, local, started)
        return left

    def _fetch(self, batch: list[ObjectInfo]) -> None:
        """Download objects. Small objects are read in batches, unless the store serves them directly."""
        small: list[ObjectInfo] = []
        others: list[ObjectInfo] = []
        for info in batch:
            (small if info.size <= SMALL and not self._is_signed(info) else others).append(info)
        groups = [small[start : start + _TOGETHER] for start in range(0, len(small), _TOGETHER)]
        jobs = [partial(self._together, group) for group in groups]
        gather(jobs, limit=self._jobs, stop=self._tally.stop)
        self._one_by_one(others)

    def _one_by_one(self, batch: list[ObjectInfo]) -> None:
        gather([partial(self._one, info) for info in batch], limit=self._jobs, stop=self._tally.stop)

    def _is_signed(self, info: ObjectInfo) -> bool:
        """Whether the object has a presigned URL."""
        where, addresses = self._ref._target, self._ref._target.transport.addresses
        if self._ref._reads_proxied() or not addresses.reachable:
            return False
        return addresses.get((where.repository, where.ref, info.path, info.checksum)) is not None

    def _together(self, group: list[ObjectInfo]) -> None:
        """Download small objects in one request."""
        arrived: list[ObjectRead] = []
        alone: list[ObjectInfo] = []
        size = 0
        try:
            for read in read_batches(self._ref._target, Wanted([info.path for info in group])):
                if read.alone:
                    alone += [info for info in group if info.path == read.path]
                    continue
                arrived.append(read)
                size += len(read.data)
                if len(arrived) == _GROUP or size >= CHUNK:
                    run_in_thread(self._write_group, arrived)
                    arrived, size = [], 0
        except UnsupportedOperationError:  # an older server: nothing has arrived
            alone = group
        run_in_thread(self._write_group, arrived)
        self._one_by_one(alone)

    def _write_group(self, group: list[ObjectRead]) -> None:
        for read in group:
            with self._failing(read.path):
                if read.info is None or read.error is not None:
                    raise read.error or ValueError(read.path)
                local, started = self._local(read.path), time.time_ns()
                write_file(local, read.data, distinct_mtime(started))
                self._tally.moved(len(read.data))
                self._succeed(read.path, read.info, local, started)

    def _one(self, info: ObjectInfo) -> None:
        with self._failing(info.path):
            local, started = self._local(info.path), time.time_ns()
            run_in_thread(local.parent.mkdir, parents=True, exist_ok=True)
            download = self._ref._download(info.path, 0, None, known=info.checksum)
            got = save(download, local, self._tally.moved, distinct_mtime(started))
            run_in_thread(self._succeed, info.path, got, local, started)

    def _local(self, path: str) -> Path:
        return inside(self._directory, path.removeprefix(self._prefix))

    def _succeed(self, path: str, got: ObjectInfo, local: Path, started_ns: int) -> None:
        if self._memory is not None:
            self._done.append(describe(path.removeprefix(self._prefix), local, got.checksum, started_ns))
        with self._lock:
            self.files += 1
            self.bytes += got.size
        self._tally.done(1)
        if self._report is not None:
            self._report(path, got)

    @contextmanager
    def _failing(self, path: str) -> Iterator[None]:
        """Record the error of one file, so that the other files continue."""
        try:
            yield
        except Exception as error:
            if not of_one_file(error):
                raise
            self.failures.append(failure(path, error))
            if self._report is not None:
                self._report(path, error)
            elif len(self.failures) > _FEW_FAILURES:
                raise


def _is_there(local: Path, info: ObjectInfo, known: Known | None) -> bool:
    if known is None or known.checksum != info.checksum:
        return False
    try:
        return FileStat.of(os.stat(local)) == known.stat
    except OSError:
        return False


def describe(name: str, local: Path, checksum: str, started_ns: int) -> Known:
    """A file that was just written with an object's content. The MD5 is read from it where the lake has another."""
    stat = FileStat.of(os.stat(local))
    return Known(name, stat, checksum if is_md5(checksum) else md5_of(local), checksum, "", started_ns)
