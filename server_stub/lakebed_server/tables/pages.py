"""A page of a table: its schema, some rows in the order of the files or of a column, and statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from lakebed_wire import models
from msgspec import UNSET

from lakebed_server.tables import arrow, parquet, statistics, text
from lakebed_server.tables.cells import cells_of, kind_of, longest, plain
from lakebed_server.tables.files import Source
from lakebed_server.tables.messages import TOO_LARGE, InvalidTableRequest, PageRequest, TableTooLarge
from lakebed_server.tables.parts import Kept, Parts, with_partitions

SHOWN: Final = 200
"""Columns of a page when the request names none."""


def page(request: PageRequest, source: Source, kept: Kept) -> models.TablePage:
    """The page. Raises TableError."""
    needed = request.offset + request.limit + 1
    parts = open_parts(request.format, source, kept, needed)
    schema = parts.schema()
    columns = request.columns or tuple(dict.fromkeys(schema.names))[:SHOWN]
    check_columns(schema, (*columns, *([request.order] if request.order else ())))
    if request.order and not parts.complete:
        raise TableTooLarge(TOO_LARGE)
    if request.order:
        rows = _sorted(request, parts, columns, kept)
    else:
        rows = _slices(parts, columns, request.offset, request.limit)
    count = sum(table.num_rows for table in rows)
    total = sum(part.rows for part in parts.parts)
    return models.TablePage(
        path=request.path,
        format=request.format,
        files=len(request.files),
        size_bytes=sum(file.size for file in request.files),
        schema=[models.TableColumn(name=one.name, type=str(one.type), kind=kind_of(one.type)) for one in schema],
        columns=list(columns),
        rows=rows_of(rows, columns),
        offset=request.offset,
        total_rows=total if parts.complete else UNSET,
        has_more=request.offset + count < total or not parts.complete,
        complete=parts.complete,
        encoding=parts.encoding or UNSET,
        skipped_rows=parts.skipped_rows or UNSET,
        statistics=statistics.of_columns(request, source, kept, parts, columns) if request.statistics else UNSET,
    )


def open_parts(format: str, source: Source, kept: Kept, needed: int) -> Parts:
    """The files as parts. Raises UnreadableTable, and TableTooLarge."""
    if format == "parquet":
        parts = parquet.parts_of(source, kept)
    elif format == "arrow":
        parts = arrow.parts_of(source, kept, needed)
    else:
        parts = (text.csv_parts if format == "csv" else text.json_parts)(source, kept, needed)
    return with_partitions(parts, [file.place for file in source.files[: len(parts.file_schemas)]])


def check_columns(schema: pa.Schema, names: Sequence[str]) -> None:
    """Raise InvalidTableRequest for a column that is not in the table."""
    known = set(schema.names)
    missing = [name for name in names if name not in known]
    if missing:
        shown = ", ".join(map(repr, schema.names[:20]))
        raise InvalidTableRequest(f"no column {', '.join(map(repr, missing[:5]))}: the columns are {shown}")


def rows_of(tables: Sequence[pa.Table], columns: Sequence[str]) -> list[list[object]]:
    """The cells of the rows. A column that a file does not have is null in its rows."""
    count = sum(table.num_rows for table in tables)
    most = longest(count * len(columns))
    rows: list[list[object]] = []
    for table in tables:
        cells = [
            cells_of(table.column(index), most) if (index := _index(table, name)) >= 0 else [None] * table.num_rows
            for name in columns
        ]
        rows += map(list, zip(*cells, strict=True)) if cells else [[] for _ in range(table.num_rows)]
    return rows


def _index(table: pa.Table, name: str) -> int:
    """The first column with a name, or -1: a file may have several."""
    return next(iter(table.schema.get_all_field_indices(name)), -1)


def _slices(parts: Parts, columns: Sequence[str], offset: int, limit: int) -> list[pa.Table]:
    """The rows of a page in the order of the files. Only the parts that have them are loaded."""
    found: list[pa.Table] = []
    before, left = 0, limit
    for part in parts.parts:
        begin = max(0, offset - before)
        if left and begin < part.rows:
            rows = part.load(columns, begin + left).slice(begin, left)
            found.append(rows)
            left -= rows.num_rows
        before += part.rows
    return found


def _sorted(request: PageRequest, parts: Parts, columns: Sequence[str], kept: Kept) -> list[pa.Table]:
    """The rows of a page in the order of a column. All rows are read, and kept for the next page."""
    wanted = list(dict.fromkeys((*columns, request.order)))

    def made() -> pa.Table:
        if sum(part.size(wanted) for part in parts.parts) > request.most_bytes:
            raise TableTooLarge(TOO_LARGE)
        table = whole(parts, wanted)
        try:
            ranks = pc.sort_indices(
                pa.table({"": plain(table.column(request.order))}),
                sort_keys=[("", "descending" if request.descending else "ascending")],
            )
        except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise InvalidTableRequest(f"the column {request.order!r} cannot be sorted by") from error
        return table.take(ranks)

    identities = tuple(file.identity for file in request.files)
    key = ("sorted", identities, tuple(wanted), request.order, request.descending)
    return [kept.get(key, made, lambda table: table.nbytes).slice(request.offset, request.limit)]


def whole(parts: Parts, columns: Sequence[str]) -> pa.Table:
    """All rows as one table. Raises InvalidTableRequest when the types of its files differ."""
    tables = [part.load(columns, None) for part in parts.parts]
    schema = pa.schema([parts.schema().field(name) for name in columns])
    try:
        return pa.concat_tables([schema.empty_table(), *tables], promote_options="permissive").select(list(columns))
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InvalidTableRequest(f"the files have columns of different types: {str(error).splitlines()[0]}") from error
