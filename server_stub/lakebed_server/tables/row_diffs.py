"""A page of the rows of a table that differ between two states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import pyarrow as pa
from lakebed_tables import row_diff, schemas
from lakebed_wire import models
from msgspec import UNSET

from lakebed_server.tables.cells import kind_of
from lakebed_server.tables.files import Source
from lakebed_server.tables.messages import TOO_LARGE, DiffRequest, InvalidTableRequest, State, TableTooLarge
from lakebed_server.tables.pages import SHOWN, check_columns, open_parts, rows_of, whole
from lakebed_server.tables.parts import Kept

_ALL: Final = 2**53


def page(request: DiffRequest, source: Source, kept: Kept) -> models.TableDiffPage:
    """The page. Raises TableError."""
    identities = tuple(file.identity for file in request.files)
    key = ("diff", identities, request.before, request.after, request.key, request.columns)
    diff, schema = kept.get(key, partial(_compared, request, source, kept), _size)
    columns = _columns(request, schema)
    return models.TableDiffPage(
        path=request.path,
        format=request.format,
        key=list(request.key),
        schema=[models.TableColumn(name=one.name, type=str(one.type), kind=kind_of(one.type)) for one in schema],
        schema_changes=[
            models.ColumnChange(column=name, before=before or UNSET, after=after or UNSET)
            for name, before, after in diff.schema
        ],
        columns=columns,
        added=diff.added.num_rows,
        removed=diff.removed.num_rows,
        changed=diff.changed.num_rows,
        rows=list(_rows(request, diff, columns)),
        offset=request.offset,
        has_more=request.offset + request.limit < sum(one.num_rows for one in _shown(request, diff).values()),
    )


def _size(found: tuple[row_diff.RowDiff, pa.Schema]) -> int:
    diff, _ = found
    return int(diff.added.nbytes + diff.removed.nbytes + diff.changed.nbytes)


def _columns(request: DiffRequest, schema: pa.Schema) -> list[str]:
    others = request.columns or [name for name in schema.names if name not in request.key]
    return [*request.key, *(name for name in others if name not in request.key)][: max(SHOWN, len(request.key))]


def _compared(request: DiffRequest, source: Source, kept: Kept) -> tuple[row_diff.RowDiff, pa.Schema]:
    """The differences, and the columns of both states."""
    tables = [_table(request, state, source, kept) for state in (request.before, request.after)]
    found = [table.schema for table in reversed(tables) if table is not None]
    schema = schemas.united(found)[0]
    check_columns(schema, request.columns)
    before, after = (
        None if table is None else row_diff.State(table.schema, partial(_batches, table)) for table in tables
    )
    try:
        return row_diff.compare(before, after, request.key), schema
    except row_diff.KeyProblem as problem:
        raise InvalidTableRequest(str(problem)) from None


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    return table.combine_chunks().to_batches()  # type: ignore[no-any-return]


def _table(request: DiffRequest, state: State, source: Source, kept: Kept) -> pa.Table | None:
    """The rows of one state. Of a sample only the schema counts."""
    if not state.files and state.sample is None:
        return None
    files = source.subset(state.files or [state.sample or 0])
    parts = open_parts(request.format, files, kept, _ALL if state.files else 0)
    schema = parts.schema()
    wanted = [*request.key, *request.columns] if request.columns else schema.names
    columns = [name for name in dict.fromkeys(wanted) if schema.get_field_index(name) >= 0]
    if not state.files:
        return pa.schema([schema.field(name) for name in columns]).empty_table()
    if not parts.complete or sum(part.size(columns) for part in parts.parts) > source.most_bytes:
        raise TableTooLarge(TOO_LARGE)
    return whole(parts, columns)


def _shown(request: DiffRequest, diff: row_diff.RowDiff) -> dict[str, pa.Table]:
    """The tables of the rows to return, in order, by the kind of change."""
    tables = {"changed": diff.changed, "added": diff.added, "removed": diff.removed}
    return {change: table for change, table in tables.items() if request.change in ("", change)}


def _rows(request: DiffRequest, diff: row_diff.RowDiff, columns: Sequence[str]) -> Iterator[models.TableDiffRow]:
    begin, left = request.offset, request.limit
    for change, table in _shown(request, diff).items():
        part = table.slice(begin, left)
        begin, left = max(0, begin - table.num_rows), left - part.num_rows
        if change == "added":
            yield from (models.TableDiffRow(change=change, after=row) for row in rows_of([part], columns))
        elif change == "removed":
            yield from (models.TableDiffRow(change=change, before=row) for row in rows_of([part], columns))
        elif part.num_rows:
            yield from _changed(part, len(request.key), columns)


def _changed(pairs: pa.Table, keys: int, columns: Sequence[str]) -> Iterator[models.TableDiffRow]:
    """Changed rows: the key, the names of the columns that differ, then each column before and after."""
    names = [name.removesuffix("_before") for name in pairs.column_names[keys + 1 :: 2]]
    sides = []
    for shift in (1, 2):
        found = [*pairs.columns[:keys], *pairs.columns[keys + shift :: 2]]
        sides.append(rows_of([pa.table(found, names=[*pairs.column_names[:keys], *names])], columns))
    for differing, before, after in zip(pairs.column(keys).to_pylist(), *sides, strict=True):
        yield models.TableDiffRow(change="changed", columns=differing, before=before, after=after)
