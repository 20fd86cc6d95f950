"""Statistics of the columns of a table: from its rows if they are few bytes, else from the footers of Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lakebed_wire import models
from msgspec import UNSET

from lakebed_server.tables import parquet
from lakebed_server.tables.cells import cells_of, kind_of, plain
from lakebed_server.tables.files import Source
from lakebed_server.tables.messages import TOO_LARGE, PageRequest, TableTooLarge
from lakebed_server.tables.parts import Kept, Parts

BINS: Final = 20
FREQUENT: Final = 10
_LONGEST: Final = 100
"""Characters of a value in the statistics."""

_READ_SHARE: Final = 4
"""Rows are read for statistics up to this share of the bytes of a request."""


def of_columns(
    request: PageRequest, source: Source, kept: Kept, parts: Parts, columns: Sequence[str]
) -> list[models.ColumnStatistics]:
    """The statistics of some columns. Raises TableTooLarge when they need too many bytes."""
    size = sum(part.size(columns) for part in parts.parts)
    if request.format != "parquet" and not parts.complete:
        raise TableTooLarge(TOO_LARGE)
    if request.format == "parquet" and size > request.most_bytes // _READ_SHARE:
        metadata = parquet.metadata_of(source, kept)
        return [_of_footers(name, metadata) for name in columns]
    found = []
    for name in columns:
        loaded = [part.load([name], None) for part in parts.parts]
        chunks = [plain(one.column(0)) for one in loaded if one.num_columns]
        missing = sum(one.num_rows for one in loaded if not one.num_columns)
        found.append(_of_rows(name, chunks, missing))
    return found


def _of_rows(name: str, columns: Sequence[pa.ChunkedArray], missing: int) -> models.ColumnStatistics:
    made = models.ColumnStatistics(column=name, source="rows")
    made.nulls = sum(column.null_count for column in columns) + missing
    kinds = {column.type for column in columns}
    if len(kinds) != 1:
        return made
    column = pa.chunked_array([chunk for one in columns for chunk in one.chunks], type=kinds.pop()).drop_null()
    kind = kind_of(column.type)
    if kind in ("nested", "null") or not len(column):
        made.distinct = UNSET if kind == "nested" else 0
        return made
    made.distinct = pc.count_distinct(column).as_py()
    if kind in ("text", "boolean", "integer"):
        made.frequent = _frequent(column)
    if kind not in ("binary", "boolean") and not pa.types.is_duration(column.type):
        ends = pc.min_max(column)
        made.minimum, made.maximum = (_cell(ends[end]) for end in ("min", "max"))
    if kind in ("integer", "number", "decimal", "time"):
        made.histogram = _histogram(column)
    return made


def _cell(scalar: pa.Scalar) -> Any:
    return cells_of(pa.repeat(scalar, 1), _LONGEST)[0]


def _frequent(column: pa.ChunkedArray) -> list[models.FrequentValue]:
    counts = pc.value_counts(column)
    values, numbers = counts.field(0), counts.field(1)
    first = pc.select_k_unstable(pa.table({"": numbers}), FREQUENT, sort_keys=[("", "descending")])
    cells = cells_of(values.take(first), _LONGEST)
    return [
        models.FrequentValue(value=cell, count=count)
        for cell, count in zip(cells, numbers.take(first).to_pylist(), strict=True)
    ]


def _histogram(column: pa.ChunkedArray) -> Any:
    """The numbers of values in ranges of equal width. Values that are not finite are not counted."""
    kind = column.type
    if pa.types.is_temporal(kind):
        column = column.cast(_integer(kind))
    values = column.cast(pa.float64(), safe=False).to_numpy()
    values = values[np.isfinite(values)]
    if not len(values):
        return UNSET
    try:
        counts, edges = np.histogram(values, BINS)
    except ValueError:  # numbers so close or so far apart that no floating point numbers divide their range
        return UNSET
    ends = [_edge(edge, kind) for edge in edges.tolist()]
    return [
        models.HistogramBin(low=low, high=high, count=count)
        for low, high, count in zip(ends[:-1], ends[1:], counts.tolist(), strict=True)
    ]


def _edge(edge: float, kind: pa.DataType) -> Any:
    if not pa.types.is_temporal(kind):
        return edge
    return cells_of(pa.array([round(edge)], _integer(kind)).cast(kind), _LONGEST)[0]


def _integer(kind: pa.DataType) -> pa.DataType:
    """The type of the numbers that times are stored as."""
    return pa.int64() if kind.bit_width == 64 else pa.int32()


def _of_footers(name: str, metadata: Sequence[Any]) -> models.ColumnStatistics:
    """What the footers say of a column that is not nested. Nothing, unless all of them say it."""
    made = models.ColumnStatistics(column=name, source="footers")
    chunks = [
        group.column(index)
        for one in metadata
        for group in map(one.row_group, range(one.num_row_groups))
        for index in range(group.num_columns)
        if group.column(index).path_in_schema == name
    ]
    found = [chunk.statistics for chunk in chunks]
    if not found or any(one is None for one in found):
        return made
    if all(one.has_null_count for one in found):
        made.nulls = sum(one.null_count for one in found)
    if all(one.has_min_max or one.num_values == 0 for one in found):
        known = [one for one in found if one.has_min_max]
        if known:
            made.minimum = cells_of(pa.array([min(one.min for one in known)]), _LONGEST)[0]
            made.maximum = cells_of(pa.array([max(one.max for one in known)]), _LONGEST)[0]
    return made
