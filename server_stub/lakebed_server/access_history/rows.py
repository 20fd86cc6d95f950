"""The columns of the access history, and how rows become Parquet and Arrow."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from lakebed_format.arrow import read_rows


class Row(NamedTuple):
    """One access. `time` is in microseconds since 1970. `auth`: how the user signed in. `took_us`: microseconds."""

    time: int
    request_id: str
    user: str
    auth: str
    access_key_id: str
    source_ip: str
    client: str
    interface: str
    operation: str
    repository: str
    ref: str
    commit_id: str
    path: str
    bytes_in: int
    bytes_out: int
    status: int
    took_us: int


SCHEMA: Final = pa.schema(
    [
        pa.field("time", pa.timestamp("us", tz="UTC")),
        *(
            pa.field(name, pa.string())
            for name in Row._fields
            if name not in ("time", "bytes_in", "bytes_out", "status", "took_us")
        ),
        pa.field("bytes_in", pa.int64()),
        pa.field("bytes_out", pa.int64()),
        pa.field("status", pa.int16()),
        pa.field("took_us", pa.int64()),
    ]
)


class Wanted(NamedTuple):
    """Which rows to read. Empty values choose all. Times in Unix seconds; `path` is a prefix."""

    since: float
    until: float
    user: str = ""
    path: str = ""
    operation: str = ""
    refused: bool = False


def encode(rows: Sequence[Row]) -> bytes:
    """Rows as a Parquet file, in order of time."""
    table = _table(sorted(rows))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def chosen(data: bytes, wanted: Wanted) -> pa.Table:
    """The rows of a Parquet file that are wanted."""
    table = read_rows(data, SCHEMA)
    keep = pc.and_(
        pc.greater_equal(table["time"], _moment(wanted.since)), pc.less(table["time"], _moment(wanted.until))
    )
    if wanted.user:
        keep = pc.and_(keep, pc.equal(table["user"], wanted.user))
    if wanted.path:
        keep = pc.and_(keep, pc.starts_with(table["path"], wanted.path))
    if wanted.operation:
        keep = pc.and_(keep, pc.equal(table["operation"], wanted.operation))
    if wanted.refused:
        keep = pc.and_(keep, pc.is_in(table["status"], pa.array([401, 403], pa.int16())))
    return table.filter(keep)


def days(first: float, last: float) -> tuple[str, str]:
    """The days of two moments, as in the names of folders."""
    return day(first), day(last)


def day(moment: float) -> str:
    """The day of a moment in UTC: `2026-01-31`."""
    return dt.datetime.fromtimestamp(moment, dt.UTC).strftime("%Y-%m-%d")


def second(moment: float) -> str:
    """The second of a moment in its day, in UTC: `235959`."""
    return dt.datetime.fromtimestamp(moment, dt.UTC).strftime("%H%M%S")


def by_day(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Rows grouped by day."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(day(row.time / 1e6), []).append(row)
    yield from found.items()


def _table(rows: Sequence[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(SCHEMA)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)], SCHEMA)


def _moment(seconds: float) -> pa.Scalar:
    return pa.scalar(int(seconds * 1e6), pa.timestamp("us", tz="UTC"))
