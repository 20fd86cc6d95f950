"""Ranges of a ref's objects as Arrow buffers, for the threads that read tables. Blocking.

The first read of a part of a small file fetches the whole file: footer and columns then take one request.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock

import pyarrow as pa

from lakebed._files import RangeRaw
from lakebed._process.exit import held_by_arrow
from lakebed.model import ObjectInfo

ReadRange = Callable[[str, int, int, str], pa.Buffer]
"""(path, start, length, expected checksum) -> exactly that many bytes."""

SMALL = 128 << 10
"""Maximum bytes of a file that is always fetched whole."""

SMALL_IF_WANTED = 1 << 20
"""Maximum bytes of a file that is fetched whole when the caller reads all columns."""

KEPT = 32 << 20
"""Maximum bytes of small files in memory. Above it, files are fetched in parts."""


class Ranged:
    """The objects of one ref, for one read of a table. Safe to use from many threads."""

    def __init__(self, read_range: ReadRange, *, small: int = SMALL) -> None:
        """`small`: files of at most this many bytes are fetched whole."""
        self._read_range = read_range
        self._small = small
        self._lock = Lock()
        self._room = KEPT
        self._kept: dict[str, pa.Buffer] = {}

    def open(self, info: ObjectInfo) -> RangeRaw:
        """An object as a file. Its reads raise what `read_range` raises."""
        file = RangeRaw(info.path, info.size, info.checksum, partial(self._read, info))
        held_by_arrow(file)
        return file

    def _read(self, info: ObjectInfo, start: int, length: int, checksum: str) -> pa.Buffer:
        kept = self._whole(info) if info.size <= self._small else None
        return self._read_range(info.path, start, length, checksum) if kept is None else kept.slice(start, length)

    def _whole(self, info: ObjectInfo) -> pa.Buffer | None:
        """The whole content of a file, if there is room for it."""
        with self._lock:
            kept = self._kept.get(info.path)
            if kept is not None or info.size > self._room:
                return kept
            self._room -= info.size
        kept = self._read_range(info.path, 0, info.size, info.checksum)  # a failure ends the whole read
        self._kept[info.path] = kept
        return kept
