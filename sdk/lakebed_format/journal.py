"""Files of the event log: events in order, as Parquet.

The number of a file is the time when it was started, in Unix milliseconds, or one more than the number before it. So
keys are in order, and the number alone gives the key. The logical timestamp of an event is the number of its file times
2^20 plus its place in the file.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed_format.arrow import read_rows
from lakebed_format.decoding import FormatError
from lakebed_format.keys import JOURNAL, JOURNAL_FILE

PLACES: Final = 1 << 20
"""More than the largest number of events of a file."""

MOST_NUMBER: Final = (1 << 63) // PLACES - 1
"""The largest number of a file."""

_TEXTS: Final = ("id", "type", "repository_uid", "branch", "path", "user", "request_id", "commit_id")
_REST: Final = ("repository", "gen", "before", "after", "data")

JOURNAL_SCHEMA: Final = pa.schema(
    [
        pa.field("logical_timestamp", pa.int64(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("time", pa.timestamp("us", tz="UTC"), nullable=False),
        *(pa.field(name, pa.string()) for name in _TEXTS[2:]),
        pa.field("payload", pa.string(), nullable=False),
    ]
)
"""The columns. `payload` is a JSON object with what has no column: repository, gen, before, after, data."""


def journal_file(number: int) -> str:
    """The key of a file. Example: `_lakebed/journal/date=2026-01-31/0001769817600000.parquet`."""
    day = dt.datetime.fromtimestamp(number / 1000, dt.UTC).strftime("%Y-%m-%d")
    return f"{JOURNAL}date={day}/{number:016d}.parquet"


def journal_number(key: str) -> int | None:
    """The number of a file. None for a key that is not of the event log."""
    found = JOURNAL_FILE.fullmatch(key)
    number = 0 if found is None else int(found[1])
    return number if 0 < number <= MOST_NUMBER and journal_file(number) == key else None


def encode_journal(number: int, events: Sequence[dict[str, Any]]) -> bytes:
    """A file from events, in order. An event has the fields of the stored rows; `time` is in Unix milliseconds."""
    columns: list[pa.Array] = [
        pa.array(range(number * PLACES, number * PLACES + len(events)), pa.int64()),
        *(pa.array([one[name] for one in events], pa.string()) for name in _TEXTS[:2]),
        pa.array([one["time"] * 1000 for one in events], pa.timestamp("us", tz="UTC")),
        *(pa.array([one.get(name) or None for one in events], pa.string()) for name in _TEXTS[2:]),
        pa.array([json.dumps({name: one[name] for name in _REST if name in one}) for one in events], pa.string()),
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, JOURNAL_SCHEMA), sink, compression="zstd")
    return bytes(sink.getvalue())


def decode_journal(data: bytes) -> list[tuple[int, dict[str, Any]]]:
    """The logical timestamps and events of a file. Raises FormatError."""
    try:
        rows = read_rows(data, JOURNAL_SCHEMA).to_pylist()
        return [(row["logical_timestamp"], _event(row)) for row in rows]
    except (pa.ArrowException, ValueError, TypeError, OSError) as error:
        raise FormatError(f"cannot be read as events ({error})") from error


def _event(row: dict[str, Any]) -> dict[str, Any]:
    texts = {name: row[name] for name in _TEXTS if row[name] is not None}
    return {**json.loads(row["payload"]), **texts, "time": int(row["time"].timestamp() * 1000)}
