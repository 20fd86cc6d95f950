"""Compare two states of a table by key: added, removed and changed rows. Blocking, with pyarrow.

For large tables it first distributes the rows to buckets on disk, by a hash of their key. So memory holds one bucket of
both sides, and the differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakebed_tables.schemas import ColumnDifference, differences, plain_schema, plain_type

BUCKET = 32 << 20
"""Bytes of files, of both sides together, for each bucket."""

_MOST = 128
_ROW = ("__left_row__", "__right_row__")


class KeyProblem(ValueError):
    """The key does not identify the rows of a state. `kind`: `unknown_column`, or `invalid_request`."""

    def __init__(self, message: str, kind: str = "invalid_request") -> None:
        super().__init__(message)
        self.kind = kind


class KeyTypesDiffer(KeyProblem):
    """A column of the key has different types in the two states."""


class State(NamedTuple):
    """One state of the table: its schema, and a function that yields its rows."""

    schema: pa.Schema
    batches: Callable[[], Iterable[pa.RecordBatch]]


class RowDiff(NamedTuple):
    """The differences, in the order of the key.

    `added` and `removed` have whole rows. `changed` has the key, `columns` (the names of the columns that differ in the
    row), and `<name>_before` and `<name>_after` for each column that both states have with one type.
    """

    added: pa.Table
    removed: pa.Table
    changed: pa.Table
    schema: tuple[ColumnDifference, ...]

    def differing(self) -> set[str]:
        """The columns that differ in any row."""
        return set(pc.unique(pc.list_flatten(self.changed.column("columns"))).to_pylist())


def buckets_for(size: int) -> int:
    """The number of buckets for files with `size` bytes in total."""
    return min(_MOST, size // BUCKET + 1)


def compare(
    before: State | None, after: State | None, key: Sequence[str], folder: Path | None = None, buckets: int = 1
) -> RowDiff:
    """Compare two states. A state that is None has no such table. Raises KeyProblem.

    `folder` is a directory for the buckets. With one bucket, everything is in memory.
    """
    one_side = before or after
    assert one_side is not None
    old_schema = before.schema if before else one_side.schema
    new_schema = after.schema if after else one_side.schema
    _check_key(old_schema, new_schema, key)
    common = [
        field.name
        for field in new_schema
        if field.name not in key
        and old_schema.get_field_index(field.name) >= 0
        and plain_type(old_schema.field(field.name).type) == plain_type(field.type)
    ]
    sides = [
        _Side(state, schema, key, name).dealt(folder and folder / name, buckets)
        for state, schema, name in ((before, old_schema, "before"), (after, new_schema, "after"))
    ]
    found = _Found(key, common, plain_schema(old_schema), plain_schema(new_schema))
    for old, new in zip(*sides, strict=True):
        found.add(_without_twins(old, key, "before"), _without_twins(new, key, "after"))
    return found.result(
        tuple(differences(before.schema if before else pa.schema([]), after.schema if after else pa.schema([])))
    )


def _check_key(before: pa.Schema, after: pa.Schema, key: Sequence[str]) -> None:
    if not key or len(set(key)) < len(key):
        raise KeyProblem(f"key must name columns that identify a row, each once: {list(key)}")
    for schema, side in ((before, "before"), (after, "after")):
        missing = [name for name in key if schema.get_field_index(name) < 0]
        if missing:
            problem = f"no key column {missing} in the state {side}: its columns are {schema.names}"
            raise KeyProblem(problem, "unknown_column")
    for name in key:
        kinds = [plain_type(schema.field(name).type) for schema in (before, after)]
        if kinds[0] != kinds[1]:
            problem = f"the key column {name!r} has another type: {kinds[0]} before, {kinds[1]} after"
            raise KeyTypesDiffer(problem)
        if pa.types.is_nested(kinds[0]) or pa.types.is_null(kinds[0]):
            raise KeyProblem(f"the column {name!r} ({kinds[0]}) cannot be a key")


class _Side:
    """One state of the table."""

    def __init__(self, state: State | None, schema: pa.Schema, key: Sequence[str], name: str) -> None:
        self._state = state
        self._schema = plain_schema(schema)
        self._key = list(key)
        self._name = name

    def dealt(self, folder: Path | None, count: int) -> Iterator[pa.Table]:
        """Yield the rows in `count` buckets, one bucket after the other."""
        if count == 1:
            return iter([pa.Table.from_batches(list(self._batches()), self._schema)])
        assert folder is not None, "several buckets are files"
        folder.mkdir()
        files = [folder / f"{number}.arrow" for number in range(count)]
        writers = [pa.ipc.new_file(str(file), self._schema) for file in files]
        for batch in self._batches():
            self._deal(batch, writers)
        for writer in writers:
            writer.close()
        return (_loaded(file) for file in files)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._state.batches() if self._state else ():
            plain = batch.replace_schema_metadata(None).cast(self._schema)
            for name in self._key:
                column = plain.column(name)
                nothing = column.null_count or (pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py())
                if nothing:
                    problem = f"the key column {name!r} is null in some rows of the state {self._name}"
                    raise KeyProblem(f"{problem}: a key must identify each row; use other columns")
            yield plain

    def _deal(self, batch: pa.RecordBatch, writers: Sequence[Any]) -> None:
        import pandas as pd  # only for large tables: it takes long to import

        hashes = pd.util.hash_pandas_object(batch.select(self._key).to_pandas(), index=False).to_numpy()
        buckets = hashes % len(writers)
        order = np.argsort(buckets, kind="stable")
        ends = np.cumsum(np.bincount(buckets.astype(np.int64), minlength=len(writers))).tolist()
        rows = batch.take(pa.array(order))
        for writer, start, end in zip(writers, [0, *ends[:-1]], ends, strict=True):
            if end > start:
                writer.write_batch(rows.slice(start, end - start))


def _loaded(file: Path) -> pa.Table:
    with pa.OSFile(str(file)) as source, pa.ipc.open_file(source) as opened:
        table = opened.read_all()
    file.unlink()
    return table


def _without_twins(table: pa.Table, key: Sequence[str], side: str) -> pa.Table:
    counts = table.group_by(list(key)).aggregate([([], "count_all")])
    twins = counts.filter(pc.greater(counts.column("count_all"), 1))
    if twins.num_rows:
        row = twins.slice(0, 1).to_pylist()[0]
        times = row.pop("count_all")
        problem = f"the key is not unique in the state {side}: {row} is in {times} rows"
        raise KeyProblem(f"{problem}; use more columns")
    return table


class _Found:
    """The differences so far."""

    def __init__(self, key: Sequence[str], common: Sequence[str], before: pa.Schema, after: pa.Schema) -> None:
        self._key = list(key)
        self._common = list(common)
        self._added = [after.empty_table()]
        self._removed = [before.empty_table()]
        pairs = [pa.field(f"{name}_{side}", after.field(name).type) for name in common for side in ("before", "after")]
        names = pa.field("columns", pa.list_(pa.string()))
        self._changed = [pa.schema([*(after.field(name) for name in key), names, *pairs]).empty_table()]

    def add(self, old: pa.Table, new: pa.Table) -> None:
        """Compare one bucket."""
        keys = [
            table.select(self._key).append_column(row, pa.array(np.arange(table.num_rows)))
            for table, row in zip((old, new), _ROW, strict=True)
        ]
        joined = keys[0].join(keys[1], keys=self._key, join_type="full outer")
        at_old, at_new = (joined.column(row) for row in _ROW)
        self._added.append(new.take(at_new.filter(pc.is_null(at_old))))
        self._removed.append(old.take(at_old.filter(pc.is_null(at_new))))
        both = pc.and_(pc.is_valid(at_old), pc.is_valid(at_new))
        self._compare(old.take(at_old.filter(both)), new.take(at_new.filter(both)))

    def _compare(self, old: pa.Table, new: pa.Table) -> None:
        masks = {name: _unequal(old.column(name), new.column(name)) for name in self._common}
        if not masks:
            return
        any_ = np.logical_or.reduce(list(masks.values()))
        rows = pa.array(np.flatnonzero(any_))
        columns = [new.column(name).take(rows) for name in self._key]
        columns.append(_names(self._common, np.column_stack(list(masks.values()))[rows]))
        for name in self._common:
            columns += [old.column(name).take(rows), new.column(name).take(rows)]
        self._changed.append(pa.table(columns, schema=self._changed[0].schema))

    def result(self, schema: tuple[ColumnDifference, ...]) -> RowDiff:
        """Return all differences, in the order of the key."""
        order = [(name, "ascending") for name in self._key]
        added, removed, changed = (
            pa.concat_tables(tables).sort_by(order) for tables in (self._added, self._removed, self._changed)
        )
        return RowDiff(added, removed, changed, schema)


def _names(names: Sequence[str], masks: Any) -> pa.Array:
    """For each row of a matrix of booleans, the names of the columns that are true."""
    at_row, at_column = masks.nonzero()
    ends = np.searchsorted(at_row, np.arange(len(masks) + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(names, pa.string()).take(pa.array(at_column)))


def _unequal(one: pa.ChunkedArray, other: pa.ChunkedArray) -> Any:
    """Mark where two columns differ. Null equals null, and NaN equals NaN."""
    nulls = [column.is_null().to_numpy() for column in (one, other)]
    try:
        same = pc.fill_null(pc.equal(one, other), False).to_numpy()
    except pa.ArrowNotImplementedError:  # lists, structs and maps
        pairs = zip(one.to_pylist(), other.to_pylist(), strict=True)
        same = np.fromiter((a == b or repr(a) == repr(b) for a, b in pairs), bool, len(one))
    if pa.types.is_floating(one.type):
        nan = [pc.fill_null(pc.is_nan(column), False).to_numpy() for column in (one, other)]
        same = same | (nan[0] & nan[1])
    return ~(same | (nulls[0] & nulls[1]))
