"""Reads Parquet files by their footers: columns, null counts, minimum and maximum values, and batches of rows for a
scan.

The writer of the file states the footer. Its minimum and maximum are used only for numbers, decimals, dates and times:
writers may truncate those of texts. By the Parquet specification, NaN is not among them.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from lakebed_hooks.contracts.bounds import Bounds
from lakebed_hooks.contracts.columns import ColumnAt, columns_of
from lakebed_hooks.reading import File, Side, Snapshot
from lakebed_hooks.snapshots import opened

LARGEST_FOOTER: Final = 64 << 20
_TAIL: Final = 64 << 10
_END: Final = 8
_MAGIC: Final = b"PAR1"
_ENCRYPTED: Final = b"PARE"
_BATCH_ROWS: Final = 64 << 10
_BATCH_BYTES: Final = 16 << 20
_AHEAD: Final = 1 << 20


class UnreadableFile(Exception):
    """The file cannot be read in the format of its name. The message is the end of a sentence about the file."""


class ParquetFile:
    """A Parquet file whose footer is read."""

    def __init__(self, snapshot: Snapshot, side: Side, file: File, layouts: Layouts) -> None:
        self._snapshot = snapshot
        self._side = side
        self._file = file
        self.metadata = read_footer(snapshot, side, file)
        self.rows: int = self.metadata.num_rows
        self._groups = [self.metadata.row_group(group) for group in range(self.metadata.num_row_groups)]
        self._known: dict[int, list[Any]] = {}
        self.columns = layouts.of(self.metadata)

    def groups_with_nulls(self, column: ColumnAt) -> tuple[int, ...]:
        """The row groups that have, or may have, nulls in a column."""
        groups = range(len(self._groups))
        if column.in_list or not column.is_leaf:
            return tuple(groups)
        if not self.metadata.schema.column(column.leaf).max_definition_level:
            return ()
        found = zip(groups, self._statistics(column.leaf), strict=True)
        return tuple(group for group, one in found if one is None or not one.has_null_count or one.null_count > 0)

    def suspects(self, column: ColumnAt, bounds: Bounds) -> tuple[int, ...]:
        """The row groups that may have values outside of bounds: the others do not need a scan."""
        groups = range(len(self._groups))
        if column.in_list or not column.is_leaf:
            return tuple(groups)
        physical = self.metadata.schema.column(column.leaf).physical_type
        number = _numbers(physical, bounds, column.type)
        if number is None:
            return tuple(groups)
        inside = _Inside(bounds, number)
        found = zip(groups, self._statistics(column.leaf), self._groups, strict=True)
        return tuple(group for group, one, of in found if one is None or not inside.contains(one, of.num_rows))

    def _statistics(self, leaf: int) -> list[Any]:
        """The statistics of a column in each row group. Several checks use them."""
        found = self._known.get(leaf)
        if found is None:
            found = self._known[leaf] = [group.column(leaf).statistics for group in self._groups]
        return found

    def batches(self, columns: Sequence[ColumnAt], groups: Sequence[int]) -> Iterator[tuple[int, Any]]:
        """Batches of some columns of row groups, each with the number of its first row. Raises UnreadableFile."""
        import pyarrow.parquet as pq

        names = list(dict.fromkeys(column.path for column in columns))
        firsts = [0]
        for one in self._groups:
            firsts.append(firsts[-1] + one.num_rows)
        with reading(), self._open() as source:
            reader = pq.ParquetFile(source, metadata=self.metadata, buffer_size=_AHEAD, pre_buffer=False)
            for group in groups:
                row = firsts[group]
                size = _batch_rows(self._groups[group])
                for batch in reader.iter_batches(size, row_groups=[group], columns=names, use_threads=False):
                    yield row, batch
                    row += batch.num_rows

    def _open(self) -> Any:
        import pyarrow as pa

        local = self._snapshot.local(self._side, self._file.path)
        return opened(self._snapshot, self._side, self._file) if local is None else pa.OSFile(local)


class _Inside:
    """Compares statistics with bounds. `number` converts a value of the statistics to a number."""

    def __init__(self, bounds: Bounds, number: Any) -> None:
        self._low = -math.inf if bounds.low is None else bounds.low
        self._high = math.inf if bounds.high is None else bounds.high
        self._number = number

    def contains(self, statistics: Any, rows: int) -> bool:
        """Whether all values of a row group are between the bounds, or null. NaN is never between bounds."""
        if not statistics.has_min_max:
            return bool(statistics.has_null_count and statistics.null_count == rows)
        low, high = self._number(statistics.min_raw), self._number(statistics.max_raw)
        return bool(self._low <= low <= self._high and self._low <= high <= self._high)


class Layouts:
    """The columns of schemas. Remembers the last schema, because most files of a table have the same one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: list[tuple[Any, bytes | None, Mapping[str, ColumnAt]]] = []

    def of(self, metadata: Any) -> Mapping[str, ColumnAt]:
        """The columns of a file."""
        schema = metadata.schema
        stored = (metadata.metadata or {}).get(b"ARROW:schema")
        with self._lock:
            for known, of_arrow, columns in self._known:
                if of_arrow == stored and known.equals(schema):
                    return columns
        made = columns_of(schema.to_arrow_schema())
        with self._lock:
            self._known = [(schema, stored, made), *self._known[:7]]
        return made


def read_footer(snapshot: Snapshot, side: Side, file: File) -> Any:
    """The footer of a file, as FileMetaData of pyarrow. Raises UnreadableFile."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    length = min(file.size, _TAIL)
    tail = snapshot.read(side, file.path, file.size - length, length)
    if len(tail) < 12 or tail[-4:] not in (_MAGIC, _ENCRYPTED):
        raise UnreadableFile("is not a Parquet file: its last bytes are not those of one")
    if tail[-4:] == _ENCRYPTED:
        raise UnreadableFile("has an encrypted footer, and Lakebed has no key for it")
    size = int.from_bytes(tail[-8:-4], "little") + _END
    if size > min(file.size, LARGEST_FOOTER):
        raise UnreadableFile("is not a complete Parquet file: its footer would be larger than the file or 64 MiB")
    if size > length:
        tail = snapshot.read(side, file.path, file.size - size, size)
    with reading():
        metadata = pq.read_metadata(pa.BufferReader(tail))
    if metadata.serialized_size != size - _END:
        # a signature follows the footer. pyarrow ends the process when it shows an encrypted column
        raise UnreadableFile("has encrypted columns, and Lakebed has no key for them, or its footer is damaged")
    return metadata


class reading:
    """Convert errors of Arrow about bad bytes to UnreadableFile. Errors of reading the bytes pass unchanged."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        import pyarrow as pa

        if isinstance(error, OSError) and (error.errno is not None or isinstance(error, ConnectionError)):
            return
        if isinstance(error, MemoryError | FileNotFoundError):
            return
        if isinstance(error, pa.ArrowException | OSError | ValueError | UnicodeError | OverflowError):
            said = (str(error).splitlines() or [type(error).__name__])[0][:200]
            raise UnreadableFile(f"cannot be read: {said}") from None


def _numbers(physical: str, bounds: Bounds, type_: Any) -> Any:
    """A function that converts a value of the statistics to a number for comparisons. None: the statistics are not
    compared.

    The type that Arrow reads has the unit that Parquet stores: no `date64`, and no times in seconds.
    """
    from pyarrow import types

    if bounds.kind == "float":
        return float if physical in ("FLOAT", "DOUBLE") else None
    if physical in ("INT32", "INT64"):
        if types.is_unsigned_integer(type_):
            mask = (1 << (32 if physical == "INT32" else 64)) - 1
            return lambda raw: raw & mask
        return int
    if bounds.kind == "decimal" and physical in ("FIXED_LEN_BYTE_ARRAY", "BYTE_ARRAY"):
        return lambda raw: int.from_bytes(raw, "big", signed=True)
    return None


def _batch_rows(group: Any) -> int:
    """Number of rows of a batch: fewer when rows are large."""
    rows: int = _BATCH_BYTES * max(group.num_rows, 1) // max(group.total_byte_size, 1)
    return max(256, min(_BATCH_ROWS, rows))
