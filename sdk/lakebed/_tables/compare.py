"""Compare two states of a table by key: added, removed and changed rows. Blocking, with pyarrow.

For large tables it first distributes the rows to buckets on disk, by a hash of their key. So memory holds one bucket of
both sides, and the differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lakebed._tables import schemas
from lakebed._tables.compare_results import ColumnChange, TableDiff
from lakebed._tables.location import Place
from lakebed._tables.reading import Opened

BUCKET = 32 << 20
"""Bytes of files, of both sides together, for each bucket."""

_MOST = 128
_OPERATION = "diff.table"
_ROW = ("__left_row__", "__right_row__")


def compare(
    left: Opened | None, right: Opened | None, key: Sequence[str], where: Place, local: Path, size: int
) -> TableDiff:
    """Compare two states. A side that is None has no such table. Raises InvalidRequestError for invalid keys.

    `size` is the size of the files in bytes, `local` a directory for the buckets.
    """
    one_side = left or right
    assert one_side is not None
    before = left.schema if left else one_side.schema
    after = right.schema if right else one_side.schema
    _check_key(before, after, key, where)
    common = [
        field.name
        for field in after
        if field.name not in key
        and before.get_field_index(field.name) >= 0
        and schemas.plain_type(before.field(field.name).type) == schemas.plain_type(field.type)
    ]
    count = min(_MOST, size // BUCKET + 1)
    sides = [
        _Side(opened, schema, key, name, where).dealt(local / name, count)
        for opened, schema, name in ((left, before, "before"), (right, after, "after"))
    ]
    found = _Found(key, common, _plain(before), _plain(after))
    for old, new in zip(*sides, strict=True):
        found.add(_without_twins(old, key, "before", where), _without_twins(new, key, "after", where))
    columns = _columns(before if left else pa.schema([]), after if right else pa.schema([]))
    return found.result(where.path, columns)


def _columns(before: pa.Schema, after: pa.Schema) -> tuple[ColumnChange, ...]:
    return tuple(ColumnChange(one.column, one.expected, one.found) for one in schemas.differences("", before, after))


def _check_key(before: pa.Schema, after: pa.Schema, key: Sequence[str], where: Place) -> None:
    if not key or len(set(key)) < len(key):
        raise where.invalid(_OPERATION, f"key must name columns that identify a row, each once: {list(key)}")
    for schema, side in ((before, "before"), (after, "after")):
        missing = [name for name in key if schema.get_field_index(name) < 0]
        if missing:
            problem = f"no key column {missing} in the state {side}: its columns are {schema.names}"
            raise where.invalid(_OPERATION, problem, "unknown_column")
    for name in key:
        kinds = [schemas.plain_type(schema.field(name).type) for schema in (before, after)]
        if kinds[0] != kinds[1]:
            problem = f"the key column {name!r} has another type: {kinds[0]} before, {kinds[1]} after"
            raise where.invalid(_OPERATION, f"{problem}; give schema= an Arrow schema to read both as one")
        if pa.types.is_nested(kinds[0]) or pa.types.is_null(kinds[0]):
            raise where.invalid(_OPERATION, f"the column {name!r} ({kinds[0]}) cannot be a key")


def _plain(schema: pa.Schema) -> pa.Schema:
    return pa.schema([(field.name, schemas.plain_type(field.type)) for field in schema])


class _Side:
    """One state of the table."""

    def __init__(self, opened: Opened | None, schema: pa.Schema, key: Sequence[str], name: str, where: Place) -> None:
        self._opened = opened
        self._schema = _plain(schema)
        self._key = list(key)
        self._name = name
        self._where = where

    def dealt(self, folder: Path, count: int) -> Iterator[pa.Table]:
        """Yield the rows in `count` buckets, one bucket after the other."""
        if count == 1:
            return iter([pa.Table.from_batches(list(self._batches()), self._schema)])
        folder.mkdir()
        files = [folder / f"{number}.arrow" for number in range(count)]
        writers = [pa.ipc.new_file(str(file), self._schema) for file in files]
        for batch in self._batches():
            self._deal(batch, writers)
        for writer in writers:
            writer.close()
        return (_loaded(file) for file in files)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._opened.batches() if self._opened else ():
            plain = batch.replace_schema_metadata(None).cast(self._schema)
            for name in self._key:
                column = plain.column(name)
                nothing = column.null_count or (pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py())
                if nothing:
                    problem = f"the key column {name!r} is null in some rows of the state {self._name}"
                    raise self._where.invalid(_OPERATION, f"{problem}: a key must identify each row; use other columns")
            yield plain

    def _deal(self, batch: pa.RecordBatch, writers: Sequence[Any]) -> None:
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


def _without_twins(table: pa.Table, key: Sequence[str], side: str, where: Place) -> pa.Table:
    counts = table.group_by(list(key)).aggregate([([], "count_all")])
    twins = counts.filter(pc.greater(counts.column("count_all"), 1))
    if twins.num_rows:
        row = twins.slice(0, 1).to_pylist()[0]
        times = row.pop("count_all")
        problem = f"the key is not unique in the state {side}: {row} is in {times} rows"
        raise where.invalid(_OPERATION, f"{problem}; use more columns")
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
        names = [[name for name in self._common if masks[name][row]] for row in rows.to_pylist()]
        columns = [new.column(name).take(rows) for name in self._key]
        columns.append(pa.array(names, pa.list_(pa.string())))
        for name in self._common:
            columns += [old.column(name).take(rows), new.column(name).take(rows)]
        self._changed.append(pa.table(columns, schema=self._changed[0].schema))

    def result(self, path: str, schema: tuple[ColumnChange, ...]) -> TableDiff:
        """Return all differences, in the order of the key."""
        pairs = pa.concat_tables(self._changed)
        differing = set(pc.unique(pc.list_flatten(pairs.column("columns"))).to_pylist())
        unchanged = [f"{name}_{side}" for name in self._common if name not in differing for side in ("before", "after")]
        order = [(name, "ascending") for name in self._key]
        pairs = pairs.sort_by(order)
        return TableDiff(
            path,
            tuple(self._key),
            pa.concat_tables(self._added).sort_by(order),
            pa.concat_tables(self._removed).sort_by(order),
            pairs.drop_columns(unchanged),
            schema,
            pairs,
        )


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
