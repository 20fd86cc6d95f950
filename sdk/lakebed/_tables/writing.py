"""Write a stream of record batches as Parquet files. Blocking. The caller takes each finished file, in order.

Memory is bounded. Rows wait for their row group: at most ROW_GROUP_BYTES in each file, and BUFFERED in all files. The
same amount can be in the encoders. Disk space is bounded when the caller takes the files: FILE_BYTES for each open
directory, and AHEAD finished files.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
from lakebed_tables import partitions

from lakebed._tables.parquet_encoding import Encoders, Output
from lakebed.errors import InvalidRequestError

ROW_GROUP_BYTES = 32 << 20
"""Bytes of a row group in memory."""

ROW_GROUP_ROWS = 1 << 20
BUFFERED = 64 << 20
"""Bytes of rows that wait for their row group, in all files together. The encoders may hold the same amount."""

FILE_BYTES = 128 << 20
"""Bytes of a file. A file ends with the row group that reaches this size."""

_SLICE = 8 << 20
_MAX_FOLDERS = 10_000
_OPEN_FILES = 128
AHEAD = 4
"""Files that may be in their last step before the caller takes one."""

COMPRESSIONS = ("zstd", "snappy", "gzip", "brotli", "lz4", "none")

Key = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A finished file: its path in the table, the folder of this path, and the local file.

    `checksum` is the hex MD5.
    """

    place: str
    folder: str
    file: Path
    size: int
    rows: int
    checksum: str


@dataclass(slots=True)
class _Out:
    """One directory: its open file, if any, and the rows that wait for it."""

    folder: str
    batches: list[pa.RecordBatch] = field(default_factory=list)
    waiting: int = 0
    waiting_rows: int = 0
    used: int = 0
    file: Output | None = None

    @property
    def rows(self) -> int:
        """Rows in the file, and rows that wait for it."""
        return self.waiting_rows + (self.file.rows if self.file else 0)


class Writer:
    """Writes one table into local files. Raises InvalidRequestError for data that cannot be written."""

    def __init__(
        self,
        schema: pa.Schema,
        local: Path,
        partition_by: Sequence[str] = (),
        *,
        max_rows_per_file: int | None = None,
        compression: str = "zstd",
        one_file: bool = False,
        partition_values: str = "plain",
    ) -> None:
        check(schema, partition_by, max_rows_per_file, compression)
        self._schema = partitions.marked(schema, partition_by)
        self._types = [partitions.plain_field(schema.field(name)).type for name in partition_by]
        self._names = list(partition_by)
        self._hive = partition_values == "hive"
        self._local = local
        self._rows = max_rows_per_file
        self._encoders = Encoders(self._schema, compression, BUFFERED)
        self._ending: deque[tuple[Output, Future[None]]] = deque()
        self._largest = None if one_file else FILE_BYTES
        self._run = uuid4().hex
        self._outs: dict[Key, _Out] = {}
        self._folders: set[str] = set()
        self._waiting = self._count = self._clock = 0
        self._busy = threading.Lock()
        self._abandoned = False

    def pieces(self, reader: pa.RecordBatchReader, *, keep_schema: bool = True) -> Iterator[Piece]:
        """Write everything, and yield each file when it is finished. Without rows, one empty file keeps the schema."""
        for batch in reader:
            for part in _slices(batch):
                for key, rows in self._split(part):
                    yield from self._add(key, rows)
        for key in list(self._outs):
            self._close(key)
        if self._count == 0 and keep_schema:
            empty = self._outs[()] = _Out("")
            empty.file = self._new_file("")
            self._close(())
        yield from self._done(0)
        self._encoders.close()

    def steps(self, reader: pa.RecordBatchReader, *, keep_schema: bool = True) -> Callable[[], Piece | None]:
        """Like `pieces`: each step returns one file, and None at the end. The steps may run in different threads."""
        pieces = self.pieces(reader, keep_schema=keep_schema)

        def step() -> Piece | None:
            with self._busy:
                return None if self._abandoned else next(pieces, None)

        return step

    def abandon(self) -> None:
        """Close everything after an error. A step of a cancelled caller may still be running."""
        with self._busy:
            self._abandoned = True
            self._encoders.close()
            self._outs.clear()

    def _split(self, batch: pa.RecordBatch) -> Iterator[tuple[Key, pa.RecordBatch]]:
        """The rows of each partition, in their order."""
        if not self._names:
            yield (), batch
            return
        columns = [_plain(batch.column(name)) for name in self._names]
        codes = np.zeros(batch.num_rows, np.int64)
        for column in columns:
            known = column.dictionary_encode(null_encoding="encode")
            codes = codes * max(len(known.dictionary), 1) + known.indices.to_numpy(zero_copy_only=False)
            codes = np.unique(codes, return_inverse=True)[1].reshape(-1)  # renumber: many columns overflow
        _, firsts, counts = np.unique(codes, return_index=True, return_counts=True)
        rows = batch.select([name for name in batch.schema.names if name not in self._names])
        if len(firsts) > 1:
            rows = rows.take(pa.array(np.argsort(codes, kind="stable")))
        start = 0
        for first, count in zip(firsts.tolist(), counts.tolist(), strict=True):
            yield self._key(columns, first), rows.slice(start, count)
            start += count

    def _key(self, columns: Sequence[pa.Array], row: int) -> Key:
        texts: list[str | None] = []
        for name, column, kind in zip(self._names, columns, self._types, strict=True):
            value = column.slice(row, 1)
            text: str | None = value.cast(pa.string())[0].as_py()
            if not self._hive and (text is None or "/" in text):
                raise _odd(name, text, kind)
            if text == partitions.NULL:
                raise InvalidRequestError(
                    f"cannot partition by {name!r}: {text!r} means null in paths; change the value"
                )
            if text is not None and not pa.array([text]).cast(kind).equals(value.cast(kind)):
                raise InvalidRequestError(
                    f"cannot partition by {name!r}: a reader of the path would not get {text!r} back ({kind})"
                )
            texts.append(text)
        return tuple(texts)

    def _add(self, key: Key, rows: pa.RecordBatch) -> Iterator[Piece]:
        while rows.num_rows:
            out = self._out(key)
            fitting = rows.num_rows if self._rows is None else self._rows - out.rows
            part = rows.slice(0, min(fitting, ROW_GROUP_ROWS - out.waiting_rows))
            rows = rows.slice(part.num_rows)
            out.batches.append(part)
            out.waiting += part.nbytes
            out.waiting_rows += part.num_rows
            self._waiting += part.nbytes
            if out.waiting >= ROW_GROUP_BYTES or out.waiting_rows == ROW_GROUP_ROWS:
                self._flush(out)
            if self._rows is not None and out.rows >= self._rows:
                self._close(key)
        self._make_room()
        yield from self._done(AHEAD)

    def _out(self, key: Key) -> _Out:
        self._clock += 1
        if key not in self._outs:
            out = self._outs[key] = _Out(partitions.folder_of(self._names, key))
            self._folders.add(out.folder)
            if len(self._folders) > _MAX_FOLDERS:
                raise InvalidRequestError(
                    f"partition_by {self._names} creates more than {_MAX_FOLDERS} directories: choose columns "
                    "with fewer values"
                )
        self._outs[key].used = self._clock
        return self._outs[key]

    def _make_room(self) -> None:
        """Write the fullest buffers when the total is too large, and close the files that were unused for longest."""
        if self._waiting > BUFFERED:
            for out in sorted(self._outs.values(), key=lambda out: -out.waiting):
                self._flush(out)
                if self._waiting <= BUFFERED // 2:
                    break
        while len(opened := [key for key, out in self._outs.items() if out.file is not None]) > _OPEN_FILES:
            self._close(min(opened, key=lambda key: self._outs[key].used))

    def _new_file(self, folder: str) -> Output:
        name = f"part-{self._run}-{self._count:05}.parquet"
        self._count += 1
        return Output(self._local / name, folder)

    def _flush(self, out: _Out) -> None:
        """Give the waiting rows to the encoders, in a new file when the last one is large enough."""
        if not out.batches:
            return
        if out.file is not None and self._largest is not None:
            self._encoders.settle(out.file)
            if out.file.size >= self._largest:
                self._end(out)
        if out.file is None:
            out.file = self._new_file(out.folder)
        self._encoders.write(out.file, out.batches, out.waiting_rows, out.waiting)
        self._waiting -= out.waiting
        out.batches, out.waiting, out.waiting_rows = [], 0, 0

    def _end(self, out: _Out) -> None:
        if out.file is not None:
            self._ending.append((out.file, self._encoders.end(out.file)))
            out.file = None

    def _close(self, key: Key) -> None:
        out = self._outs.pop(key)
        self._flush(out)
        self._end(out)

    def _done(self, left: int) -> Iterator[Piece]:
        """Return the finished files, in order. Waits until at most `left` files are unfinished."""
        while self._ending and (len(self._ending) > left or self._ending[0][1].done()):
            file, done = self._ending.popleft()
            done.result()
            yield Piece(file.folder + file.file.name, file.folder, file.file, file.size, file.rows, file.checksum)


def check(schema: pa.Schema, partition_by: Sequence[str], max_rows: int | None, compression: str) -> None:
    """Raise InvalidRequestError for data that cannot be a table of Parquet files."""
    if compression not in COMPRESSIONS:
        raise InvalidRequestError(f"unknown compression {compression!r}: use one of {', '.join(COMPRESSIONS)}")
    if max_rows is not None and max_rows < 1:
        raise InvalidRequestError(f"max_rows_per_file must be positive: {max_rows}")
    if not len(schema):
        raise InvalidRequestError("a table without columns cannot be written")
    if twice := sorted({name for name in schema.names if schema.names.count(name) > 1}):
        raise InvalidRequestError(f"two columns have the same name: {twice}")
    missing = [name for name in partition_by if schema.get_field_index(name) < 0]
    if missing:
        raise InvalidRequestError(
            f"cannot partition by {missing}: the columns are {schema.names}", kind="unknown_column"
        )
    if len(set(partition_by)) < len(partition_by):
        raise InvalidRequestError(f"a column is twice in partition_by: {list(partition_by)}")
    if partition_by and len(partition_by) == len(schema.names):
        raise InvalidRequestError(
            "at least one column must not be a partition column: files contain only the other columns"
        )
    for name in partition_by:
        kind = partitions.plain_field(schema.field(name)).type
        if not name or pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise InvalidRequestError(f"cannot partition by {name!r}: {kind} cannot be in a path")


def _odd(name: str, text: str | None, kind: pa.DataType) -> InvalidRequestError:
    """Whether a path needs a special spelling for this value, which not every tool reads."""
    what = "null" if text is None else f"{text!r}, with `/`"
    spelled = partitions.folder_of([name], [text])
    return InvalidRequestError(
        f"cannot partition by {name!r} ({kind}): some rows have {what}, which is not a plain directory name; "
        f"change or filter these rows, or pass partition_values='hive' to write them as Hive does ({spelled!r})"
    )


def _plain(column: pa.Array) -> pa.Array:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Split a batch into pieces of about _SLICE bytes, without a copy."""
    rows = max(1, batch.num_rows * _SLICE // max(batch.nbytes, 1))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
