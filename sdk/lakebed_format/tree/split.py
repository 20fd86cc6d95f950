"""Where a range ends: after a row when it is large enough and its path says so, or when it is too large.

The path decides, not its neighbours: so the boundary finds itself again after an edit, and unchanged ranges are
shared between commits (`ARCHITECTURE.md` 6).
"""

from __future__ import annotations

from typing import Any, Final
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakebed_format.schemas import flat

MIN_BYTES: Final = 1 << 20
"""A range holds at least this many raw bytes, unless it is the last one or an edit shrank it."""

MAX_BYTES: Final = 8 << 20
"""A range closes after the row that reaches this many raw bytes."""

RAGGEDNESS: Final = 5000
"""Between the two sizes, a path closes a range when crc32(path) is a multiple of this number."""

_LOOK: Final = 4000
"""Paths that are hashed together in the search for a boundary."""

_FIXED: Final = 4 + 8 + 8 + 32
"""Raw bytes of parts, size, mtime and identity."""


def closes(path: str, raw_bytes: int, *, min_bytes: int = MIN_BYTES, max_bytes: int = MAX_BYTES) -> bool:
    """Whether a range of `raw_bytes` that ends with `path` is closed, or would take more rows."""
    if raw_bytes >= max_bytes:
        return True
    return raw_bytes >= min_bytes and crc32(path.encode()) % RAGGEDNESS == 0


def row_sizes(rows: pa.Table) -> Any:
    """Raw bytes of each row, as an int64 numpy array: text by its UTF-8 length, numbers by their width."""
    total = np.full(rows.num_rows, _FIXED, dtype=np.int64)
    for name in ("path", "physical_address", "checksum", "content_type"):
        total += pc.binary_length(rows.column(name)).to_numpy()
    total += _map_sizes(flat(rows.column("metadata")))
    return total


def total_size(rows: pa.Table) -> int:
    """Raw bytes of all rows: the sum of `row_sizes`, from the ends of the columns alone."""
    total: int = _FIXED * rows.num_rows
    names = rows.schema.names
    texts = [names.index(name) for name in ("path", "physical_address", "checksum", "content_type")]
    metadata = names.index("metadata")
    for batch in rows.to_batches():
        for index in texts:
            first, last = _ends(batch.column(index))
            total += last - first
        pairs = batch.column(metadata)
        first, last = _ends(pairs)
        if first != last:
            for column in (pairs.keys[first:last], pairs.items[first:last]):
                begin, end = _ends(column)
                total += end - begin
    return total


def _ends(column: Any) -> tuple[int, int]:
    """The first and the last offset of a column of text or of maps."""
    if len(column) == 0:
        return 0, 0
    offsets: memoryview[int] = memoryview(column.buffers()[1]).cast("i")
    return offsets[column.offset], offsets[column.offset + len(column)]


def _map_sizes(column: Any) -> Any:
    offsets = np.frombuffer(column.buffers()[1], dtype="<i4", count=len(column) + 1, offset=4 * column.offset)
    first, last = int(offsets[0]), int(offsets[-1])
    if first == last:
        return 0
    lengths = (
        pc.binary_length(column.keys[first:last]).to_numpy() + pc.binary_length(column.items[first:last]).to_numpy()
    )
    ends = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return ends[offsets[1:] - first] - ends[offsets[:-1] - first]


def split_points(rows: pa.Table, *, min_bytes: int = MIN_BYTES, max_bytes: int = MAX_BYTES) -> list[int]:
    """The row counts after which a range closes, ascending; rows after the last point are still open.

    `rows` are sorted and begin where a range begins. Bounds may be lowered by tests only: they decide ids.
    """
    if rows.num_rows == 0:
        return []
    ends = np.cumsum(row_sizes(rows))
    if ends[-1] < min_bytes:
        return []
    paths = flat(rows.column("path")).cast(pa.binary())
    points: list[int] = []
    start = 0
    while True:
        before = int(ends[start - 1]) if start else 0
        earliest = int(np.searchsorted(ends, before + min_bytes))
        latest = min(int(np.searchsorted(ends, before + max_bytes)), rows.num_rows)
        last = _first_mark(paths, earliest, latest)
        if last >= rows.num_rows:
            return points
        start = last + 1
        points.append(start)


def _first_mark(paths: Any, first: int, last: int) -> int:
    """The first row from `first` on whose path closes a range; `last` when there is none before it."""
    for begin in range(first, last, _LOOK):
        end = min(begin + _LOOK, last)
        hashes = np.fromiter(map(crc32, paths[begin:end].to_pylist()), dtype=np.uint64, count=end - begin)
        marks = np.flatnonzero(hashes % RAGGEDNESS == 0)
        if len(marks):
            return begin + int(marks[0])
    return last
