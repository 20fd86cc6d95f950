"""A decoded piece of a range with point access: Arrow's buffers are read in place, no row is built until asked for.

Above `rows`. A bisect over 2,000 rows costs about 3 us, an Entry about 2 us.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from lakebed_format.schemas import flat

from lakebed_engine.vocabulary.records import Entry


class _Text:
    """A string column: its offsets and its bytes."""

    __slots__ = ("data", "offsets")

    def __init__(self, column: Any) -> None:
        buffers = column.buffers()
        self.offsets = memoryview(buffers[1]).cast("i")[column.offset :]
        self.data = memoryview(buffers[2]) if buffers[2] is not None else memoryview(b"")

    def raw(self, index: int) -> bytes:
        return bytes(self.data[self.offsets[index] : self.offsets[index + 1]])

    def text(self, index: int) -> str:
        return str(self.data[self.offsets[index] : self.offsets[index + 1]], "utf-8")


def _integers(column: Any, code: str) -> memoryview[int]:
    view: memoryview[int] = memoryview(column.buffers()[1]).cast(code)  # type: ignore[call-overload]
    return view[column.offset :]


class Block:
    """Rows of RANGE_SCHEMA or DELTA_SCHEMA, sorted by path. `nbytes` is what it holds in memory."""

    __slots__ = (
        "_address",
        "_checksum",
        "_deleted",
        "_identity",
        "_metadata",
        "_mtime",
        "_parts",
        "_path",
        "_size",
        "_type",
        "count",
        "nbytes",
        "rows",
    )

    def __init__(self, rows: pa.Table) -> None:
        columns = {name: flat(rows.column(name)) for name in rows.column_names}
        self.rows = rows
        self.count = rows.num_rows
        self.nbytes = int(rows.nbytes) + 2000
        self._path = _Text(columns["path"])
        self._address = _Text(columns["physical_address"])
        self._checksum = _Text(columns["checksum"])
        self._type = _Text(columns["content_type"])
        self._parts = _integers(columns["parts"], "i")
        self._size = _integers(columns["size_bytes"], "q")
        self._mtime = _integers(columns["mtime"], "q")
        self._identity = memoryview(columns["identity"].buffers()[1])[32 * columns["identity"].offset :]
        deleted = columns.get("deleted")
        self._deleted = None if deleted is None else deleted.cast(pa.uint8()).to_numpy().tobytes()
        self._metadata = columns["metadata"] if len(columns["metadata"].keys) else None

    def seek(self, path: str) -> int:
        """How many rows have a path less than `path`."""
        wanted = path.encode()
        offsets, data = self._path.offsets, self._path.data
        low, high = 0, self.count
        while low < high:
            middle = (low + high) >> 1
            if bytes(data[offsets[middle] : offsets[middle + 1]]) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def find(self, path: str) -> tuple[bool, Entry | None]:
        """Whether there is a row at exactly this path, and its entry; None for a tombstone."""
        index = self.seek(path)
        if index < self.count and self._path.text(index) == path:
            return True, self.entry(index)
        return False, None

    def path(self, index: int) -> str:
        """The path of one row."""
        return self._path.text(index)

    def entry(self, index: int) -> Entry | None:
        """One row; None for a tombstone."""
        if self._deleted is not None and self._deleted[index]:
            return None
        metadata = {} if self._metadata is None else dict(self._metadata[index].as_py())
        return Entry(
            self._address.text(index),
            self._checksum.text(index),
            self._parts[index],
            self._size[index],
            self._mtime[index],
            self._type.text(index),
            metadata,
            bytes(self._identity[32 * index : 32 * index + 32]),
        )
