"""Parquet files of a ref as Arrow batches, read by Python workers. Batch reads and streams share it.

Workers read with pyarrow, from the shared directory, at signed addresses or through the server.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import pyarrow as pa
from lakebed._integration.sync import open_object
from lakebed.model import ObjectInfo
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from lakebed_spark._access import Access, Place
from lakebed_spark._tables.partitions import NULL, unescaped
from lakebed_spark._tables.resolve import File, Found
from lakebed_spark._tables.schemas import of_parquet, partition_types, with_partitions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

TASKS = 8
"""Largest number of tasks of a read: each task costs some 50 ms, whatever it does."""

_BATCH = 65_536


@attrs.frozen
class Piece:
    """A file and the values of its partition, by column; null is None."""

    info: ObjectInfo
    values: tuple[tuple[str, str | None], ...]


class _Task(InputPartition):
    """Some pieces."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        super().__init__(0)
        self.pieces = tuple(pieces)


class TableReader(DataSourceReader):
    """Reads pieces in tasks. Goes to workers: holds plain values only."""

    def __init__(self, access: Access, place: Place, pieces: Sequence[Piece], schema: StructType) -> None:
        self._access = access
        self._place = place
        self._pieces = tuple(pieces)
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        """Few tasks of about the same size."""
        tasks: list[list[Piece]] = [[] for _ in range(min(TASKS, len(self._pieces)))]
        sizes = [0] * len(tasks)
        for piece in sorted(self._pieces, key=lambda one: -one.info.size):
            at = sizes.index(min(sizes))
            tasks[at].append(piece)
            sizes[at] += piece.info.size
        return [_Task(pieces) for pieces in tasks]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task, in batches of exactly the schema."""
        from pyspark.sql.pandas.types import to_arrow_schema

        assert isinstance(partition, _Task)
        wanted = to_arrow_schema(self._schema, timezone="UTC")
        for piece in partition.pieces:
            yield from read_piece(self._access, self._place, piece, wanted)


def frame_of(
    spark: SparkSession, access: Access, found: Found, files: Sequence[File], schema: StructType | None
) -> DataFrame:
    """Some files of a table that was resolved, as a DataFrame."""
    columns = schema_of(access, found) if schema is None else schema

    class Chosen(DataSource):  # pickled by value: what it refers to goes to the workers with it
        def schema(self) -> StructType:
            return columns

        def reader(self, schema: StructType) -> DataSourceReader:
            return TableReader(access, found.place, pieces, schema)

        @classmethod
        def name(cls) -> str:
            return name

    pieces = pieces_of(files)
    name = f"lakebed_{secrets.token_hex(8)}"
    spark.dataSource.register(Chosen)
    return spark.read.format(name).load()


def schema_of(access: Access, found: Found) -> StructType:
    """As Spark would infer it: columns of the first file, and partitions of inferred types."""
    import pyarrow.parquet as pq

    files = found.files
    with (
        open_object(found.place.reader(access.connect()), files[0].info) as source,
        pq.ParquetFile(source) as file,
    ):
        leaves = [file.schema.column(at) for at in range(len(file.schema))]
        data = of_parquet(file.schema_arrow, [leaf.path for leaf in leaves if leaf.physical_type == "INT96"])
    return with_partitions(data, partition_types(found.columns, (file.pairs for file in files)))


def pieces_of(files: Sequence[File]) -> list[Piece]:
    """The files with their partitions' values as they are shown."""
    return [
        Piece(file.info, tuple((name, None if raw == NULL else unescaped(raw)) for name, raw in file.pairs))
        for file in files
    ]


def read_piece(access: Access, place: Place, piece: Piece, wanted: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of one file with these columns, in batches; a column that the file does not have is null.

    Raises PreconditionFailedError or ObjectNotFoundError when a branch has changed since it was listed.
    """
    import pyarrow.parquet as pq

    values = dict(piece.values)
    with open_object(place.reader(access.connect()), piece.info) as source, pq.ParquetFile(source) as file:
        there = set(file.schema_arrow.names)
        columns = [name for name in wanted.names if name in there and name not in values]
        for batch in file.iter_batches(_BATCH, columns=columns, use_threads=False):
            yield pa.record_batch([_column(batch, field, values) for field in wanted], schema=wanted)


def _column(batch: pa.RecordBatch, field: pa.Field, values: Mapping[str, str | None]) -> pa.Array:
    count = batch.num_rows
    if field.name in values:
        return _constant(values[field.name], field.type, count)
    if field.name not in batch.schema.names:
        return pa.nulls(count, field.type)
    column = batch.column(field.name)
    if pa.types.is_timestamp(column.type) and pa.types.is_timestamp(field.type):
        return column.cast(field.type, safe=False)  # nanoseconds are more than Spark has
    return column if column.type == field.type else column.cast(field.type)


def _constant(text: str | None, kind: pa.DataType, count: int) -> pa.Array:
    value = pa.array([text], pa.string())
    if pa.types.is_timestamp(kind):
        value = value.cast(pa.timestamp("us"))
    return pa.repeat(value.cast(kind)[0], count)
