"""The columns of each table in Spark's types, and Arrow batches with exactly the columns that a query needs.

Spark refuses a batch whose types differ from the schema in any detail. So all batches go through `Shape`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import attrs
import pyarrow as pa
from lakebed.errors import InvalidRequestError
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

BATCH_ROWS: Final = 65_536
"""Largest number of rows of a batch for Spark."""

_METADATA: Final = MapType(StringType(), StringType())


def _table(*columns: tuple[str, DataType]) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns])


ENTRIES: Final = _table(
    ("path", StringType()),
    ("size", LongType()),
    ("checksum", StringType()),
    ("mtime", TimestampType()),
    ("content_type", StringType()),
    ("metadata", _METADATA),
    ("physical_address", StringType()),
)
"""The entry at each path."""

COMMITS: Final = _table(
    ("id", StringType()),
    ("parents", ArrayType(StringType())),
    ("message", StringType()),
    ("committer", StringType()),
    ("created", TimestampType()),
    ("metadata", _METADATA),
    ("generation", LongType()),
    ("metarange_id", StringType()),
    ("operation_id", StringType()),
)
"""The log of a ref, newest first."""

BRANCHES: Final = _table(("id", StringType()), ("commit_id", StringType()))
"""The commit that each branch points at."""

DIFF: Final = _table(
    ("type", StringType()),
    ("path", StringType()),
    ("left_size", LongType()),
    ("left_checksum", StringType()),
    ("left_physical_address", StringType()),
    ("right_size", LongType()),
    ("right_checksum", StringType()),
    ("right_physical_address", StringType()),
)
"""The differences between two states. Null where a side has no entry at the path."""

CHANGES: Final = StructType(
    [
        StructField("commit_id", StringType()),
        StructField("generation", LongType()),
        StructField("created", TimestampType()),
        StructField("committer", StringType()),
        StructField("message", StringType()),
        StructField("merge", BooleanType()),
        StructField("first_parent", BooleanType()),
        *DIFF.fields,
    ]
)
"""The changes of each commit of a log, against its first parent."""


@attrs.frozen
class Shape:
    """The columns of a table that a query needs."""

    names: tuple[str, ...]
    arrow: pa.Schema

    @classmethod
    def of(cls, source: str, known: StructType, wanted: StructType) -> Shape:
        """Return the chosen columns, in their order. Raises InvalidRequestError for an unknown column."""
        unknown = [name for name in wanted.fieldNames() if name not in known.fieldNames()]
        if unknown:
            raise InvalidRequestError(
                f"{source} has no column {unknown[0]!r}; its columns are {', '.join(known.fieldNames())}"
            )
        return cls(tuple(wanted.fieldNames()), to_arrow_schema(wanted, timezone="UTC"))

    def batches(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        """Rows of a table that has at least these columns."""
        if rows.num_rows:
            yield from rows.select(list(self.names)).cast(self.arrow).to_batches(max_chunksize=BATCH_ROWS)

    def of_values(self, values: Iterable[Any], known: StructType) -> Iterator[pa.RecordBatch]:
        """Values of the SDK as batches: an attribute for each column."""
        kinds = to_arrow_schema(known, timezone="UTC")
        group: list[Any] = []
        for value in values:
            group.append(value)
            if len(group) >= BATCH_ROWS // 8:
                yield from self.batches(self._table(group, kinds))
                group = []
        yield from self.batches(self._table(group, kinds))

    def _table(self, values: Sequence[Any], kinds: pa.Schema) -> pa.Table:
        fields = [kinds.field(name) for name in self.names]
        arrays = [pa.array([_plain(getattr(value, field.name)) for value in values], field.type) for field in fields]
        return pa.table(arrays, schema=pa.schema(fields))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return list(value.items()) if isinstance(value, dict) else value
