"""Ranges of a ref's objects as Arrow buffers, for the threads that read tables. Blocking.

A small file is fetched whole by the first question for a part of it: its footer and its columns then take one request.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock

import pyarrow as pa

from lakebed._files import RangeRaw
from lakebed._gateway.operations import objects
from lakebed._http.thread_client import Lane, LongWay
from lakebed._process.exit import held_by_arrow
from lakebed.errors import LakebedError
from lakebed.model import ObjectInfo

LongRead = Callable[[str, int, int, str], pa.Buffer]
"""(path, start, length, expected checksum) -> exactly that many bytes."""

SMALL = 128 << 10
"""Bytes of a file that is fetched whole, whatever is wanted of it."""

SMALL_IF_WANTED = 1 << 20
"""The same where all of its columns are wanted."""

KEPT = 32 << 20
"""Bytes of small files that are held at most. What comes after them is fetched in parts."""


class Ranged:
    """The objects of one ref, for one reading."""

    def __init__(
        self,
        where: tuple[str, str],
        lane: Lane | None,
        long_way: LongRead,
        moved: Callable[[int], None] | None,
        *,
        small: int = SMALL,
    ) -> None:
        """`where` is repository and ref. `moved` hears of what arrives by the lane; the long way tells by itself."""
        self._where = where
        self._lane = lane
        self._long_way = long_way
        self._moved = moved
        self._small = small
        self._lock = Lock()
        self._room = KEPT
        self._kept: dict[str, pa.Buffer] = {}

    def open(self, info: ObjectInfo) -> RangeRaw:
        """An object as a file. Reading raises what the long way raises."""
        file = RangeRaw(info.path, info.size, info.checksum, partial(self._read, info))
        held_by_arrow(file)
        return file

    def _read(self, info: ObjectInfo, start: int, length: int, checksum: str) -> pa.Buffer:
        kept = self._whole(info) if info.size <= self._small else None
        return self._fetch(info.path, start, length, checksum) if kept is None else kept.slice(start, length)

    def _whole(self, info: ObjectInfo) -> pa.Buffer | None:
        """All of a file, if there is room for it."""
        with self._lock:
            kept = self._kept.get(info.path)
            if kept is not None or info.size > self._room:
                return kept
            self._room -= info.size
        kept = self._fetch(info.path, 0, info.size, info.checksum)  # its room stays taken if that fails, as all of it
        self._kept[info.path] = kept
        return kept

    def _fetch(self, path: str, start: int, length: int, checksum: str) -> pa.Buffer:
        if self._lane is not None:
            buffer = pa.allocate_buffer(length)
            with suppress(LongWay, LakebedError):
                call = objects.piece(*self._where, path, start, length)
                if self._lane.call(call, memoryview(buffer))[0].checksum == checksum:
                    if self._moved is not None:
                        self._moved(length)
                    return buffer
        return self._long_way(path, start, length, checksum)
