"""The parts of a bulk upload: items, their objects or failures, and batches of bounded size. Pure values."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lakebed import _checks
from lakebed._bulk.hash_cache import Known, Memory
from lakebed._bulk.local_tree import FileStat, LocalFile
from lakebed._process.local_files import is_full
from lakebed._values.upload_source import CHUNK, Source
from lakebed.errors import (
    CorruptDataError,
    CorruptTransferError,
    LakebedError,
    ObjectExistsError,
    ObjectFailure,
    ObjectGoneError,
    PartialFailureError,
)
from lakebed.model import ObjectInfo

BATCH_FILES = 1000
"""Objects that are registered together: one request."""

BATCH_BYTES = 256 << 20
"""Maximum bytes of a batch: a crash loses little."""

HELD_BYTES = 32 << 20
"""Maximum bytes of a batch of content in memory."""

SMALL = 1 << 20
"""Files up to this size travel in groups."""


@dataclass(frozen=True, slots=True)
class Item:
    """One object to upload: `local` when it is a file of a tree, else `data`. `size` is None while it is unknown."""

    path: str
    size: int | None
    data: Any = None
    local: LocalFile | None = None
    content_type: str | None = None


@dataclass(slots=True)
class Batch:
    """Items that are stored and registered together. `done` needs to be registered only."""

    items: list[Item] = field(default_factory=list)
    done: list[ObjectInfo] = field(default_factory=list)
    bytes: int = 0
    held: int = 0

    @property
    def full(self) -> bool:
        """Whether nothing more should be added."""
        return len(self.items) + len(self.done) >= BATCH_FILES or self.bytes >= BATCH_BYTES or self.held >= HELD_BYTES


def batches(items: Iterable[Item], finished: Callable[[Item], ObjectInfo | None]) -> Iterator[Batch]:
    """Cut items into batches. `finished` gives the row of an item that an earlier run has stored."""
    batch = Batch()
    for item in items:
        row = finished(item)
        if row is not None:
            batch.done.append(row)
        else:
            batch.items.append(item)
            batch.bytes += item.size or 0
            batch.held += item.size or 0 if isinstance(item.data, bytes | bytearray | memoryview) else 0
        if batch.full:
            yield batch
            batch = Batch()
    if batch.items or batch.done:
        yield batch


def of_tree(files: Iterable[LocalFile], prefix: str) -> Iterator[Item]:
    """The objects for the files of a tree. Raises InvalidRequestError for an invalid path."""
    for file in files:
        yield Item(_checks.check_path(prefix + file.name), file.stat.size, local=file)


class TreeSource(Source):
    """A file of a tree. Reading it raises CorruptTransferError when the file has changed since the walk."""

    def __init__(self, file: LocalFile) -> None:
        self._file = file
        self.size = file.stat.size

    def _read(self) -> Iterator[bytes]:
        return _file_chunks(self._file)


def refuse_unreadable(file: LocalFile) -> None:
    """Whether a file can be read and has not changed. Raises OSError and CorruptTransferError."""
    fd = os.open(file.file, os.O_RDONLY)
    try:
        _refuse_changed(file, os.fstat(fd))
    finally:
        os.close(fd)


def _file_chunks(file: LocalFile) -> Iterator[bytes]:
    fd = os.open(file.file, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    try:
        _refuse_changed(file, os.fstat(fd))
        while chunk := os.read(fd, CHUNK):
            yield chunk
            if len(chunk) < CHUNK and len(chunk) == file.stat.size:
                break  # a small file: spares the read that finds its end
        _refuse_changed(file, os.fstat(fd))
    finally:
        os.close(fd)


def _refuse_changed(file: LocalFile, found: os.stat_result) -> None:
    if FileStat.of(found) != file.stat:
        raise CorruptTransferError(f"{file.file} changed while it was read; upload it again")


class Journal:
    """Records which files an upload has stored, so that the next run can skip them. Without a cache it records
    nothing."""

    def __init__(self, memory: Memory | None) -> None:
        self._memory = memory

    def finished(self, item: Item) -> ObjectInfo | None:
        """The row of a file that is stored already, and has not changed since."""
        if self._memory is None or item.local is None:
            return None
        known = self._memory.get(item.path)
        if known is None or not known.address or not known.is_unchanged(item.local.stat):
            return None
        written = datetime.fromtimestamp(known.seen_ns // 1_000_000_000, UTC)
        return ObjectInfo(item.path, known.stat.size, known.md5, written, physical_address=known.address)

    def stored(self, items: Iterable[tuple[Item, ObjectInfo]], started_ns: int) -> None:
        """Record files that are durable in the store now. `started_ns`: when the first of them was read."""
        if self._memory is None:
            return
        self._memory.remember(
            Known(item.path, item.local.stat, row.checksum, row.checksum, row.physical_address, started_ns)
            for item, row in items
            if item.local is not None
        )


_OF_ONE = (
    ObjectExistsError,
    ObjectGoneError,
    CorruptDataError,
    CorruptTransferError,
    FileNotFoundError,
    ValueError,
)

Finished = Callable[[str, ObjectInfo | Exception], None]
"""Called from any thread, with each path and its outcome. An exception from it ends the transfer."""


def of_one_file(error: Exception) -> bool:
    """Whether other files can still succeed: not when the server is unreachable, a key is wrong or a disk is full."""
    if isinstance(error, LakebedError):
        return isinstance(error, _OF_ONE)
    if not isinstance(error, OSError) or error.errno == errno.EMFILE:
        return False
    return error.errno == errno.EFBIG or not is_full(error)  # EFBIG: smaller files may fit


def failure(path: str, error: Exception) -> ObjectFailure:
    """Why one file could not be moved."""
    said = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return ObjectFailure(path, getattr(error, "status", None) or 0, said)


def partial_failure(what: str, failures: Sequence[ObjectFailure], of: int) -> PartialFailureError:
    """Some of many failed."""
    first = failures[0]
    error = PartialFailureError(
        f"{len(failures)} of {of} files {what}, the first {first.path!r}: {first.message}; the others are done; "
        "repeat the call to retry these"
    )
    error.failures = tuple(failures)
    return error
