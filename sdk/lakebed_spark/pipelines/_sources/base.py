"""Folders of objects that other tools wrote, as tasks list them. `ingest` uses these types. They know no store.

A source is a frozen value that goes to executors, and each opens the store itself. Keys are relative to the folder.
Keys and checksums follow the server's rules (docs/ingest.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

from lakebed_spark.history.key_ranges import Span

LISTED = pa.schema(
    [
        pa.field("key", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("mtime", pa.float64()),
        pa.field("version", pa.string()),
    ]
)
"""A listed object: key below the folder, bytes, Unix seconds, and `etag:...` or `stat:...` as a checksum."""

Row = tuple[str, int, float, str]

BATCH = 20_000
"""Approximate number of rows of a table."""


class Disordered(Exception):
    """A bucket does not list in byte order of its keys."""


class Source(Protocol):
    """A folder that can be listed in parts."""

    @property
    def uri(self) -> str:
        """The folder, ending in a slash: an object's address is this and its key."""
        ...

    @property
    def divides(self) -> bool:
        """Whether listings may begin between any two keys: it lists in byte order. Else, at folders."""
        ...

    def undivided(self) -> Source:
        """The same, each folder listed as a whole and then sorted, whatever its order."""
        ...

    def folders(self, below: str) -> list[str]:
        """The folders right below another, sorted, each with a slash at its end."""
        ...

    def listed(self, span: Span, rows: int = BATCH) -> Iterator[pa.Table]:
        """Yield the objects whose keys are in a span, in order, in tables of LISTED with about `rows` rows.

        Raises Disordered.
        """
        ...


def listed_table(rows: list[Row]) -> pa.Table:
    """Rows as a table of LISTED."""
    columns = zip(zip(*rows, strict=True), LISTED, strict=True)
    return pa.table([pa.array(column, field.type) for column, field in columns], schema=LISTED)
