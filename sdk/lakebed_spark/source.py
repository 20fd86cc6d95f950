"""`spark.read.format("lakebed").load("lakebed://repository/ref/path")`: a table of a ref as a Python data source.

Python workers read Parquet with pyarrow, from the shared directory, at signed addresses or through the server, and hand
over Arrow batches: any store, no jar, at two thirds of the native speed. Spark names no columns to a Python source: a
schema does.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa
from lakebed.errors import InvalidRequestError, UnsupportedOperationError
from lakebed.model import ObjectInfo
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter, InputPartition

from lakebed_spark._access import Access, Holder, Place, locate
from lakebed_spark._session import check_session, lowered
from lakebed_spark._tables.partitions import NULL, unescaped
from lakebed_spark._tables.resolve import File, Found, resolve
from lakebed_spark._tables.schemas import of_parquet, partition_types, with_partitions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

TASKS = 8
"""Tasks of a read at most: each costs some 50 ms, whatever it does."""

_BATCH = 65_536


@attrs.frozen
class Piece:
    """What one task reads: a file and its partition, by column; null is None."""

    info: ObjectInfo
    values: tuple[tuple[str, str | None], ...]


class _Task(InputPartition):
    """Some pieces."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        super().__init__(0)
        self.pieces = tuple(pieces)


class LakebedSource(DataSource):
    """The format `lakebed`. `register` gives it the credentials, or else the environment does."""

    access: Access | None = None

    @classmethod
    def name(cls) -> str:
        """What follows `format`."""
        return "lakebed"

    def schema(self) -> StructType:
        """That of the first file, and the partition columns."""
        access, found = self._found()
        return schema_of(access, found)

    def reader(self, schema: StructType) -> DataSourceReader:
        """For one read."""
        access, found = self._found()
        return TableReader(access, found.place, pieces_of(found.files), schema)

    def streamReader(self, schema: StructType) -> Any:
        """For `spark.readStream`: the commits of a branch, one by one."""
        from lakebed_spark.streaming.source import Following, TableStreamReader

        following = Following.of(self._access(), self._place(), self.options, TASKS)
        return TableStreamReader(following, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Refused: Spark's own writers are faster, and know partitions. Raises UnsupportedOperationError."""
        raise UnsupportedOperationError(
            "format('lakebed') reads: write with lakebed_spark.write(frame, 'lakebed://repository/branch/path')"
        )

    def _access(self) -> Access:
        return self.access or Access.of()

    def _found(self) -> tuple[Access, Found]:
        options = lowered(self.options)
        place = self._place()
        kind = options.get("format", "parquet").lower()
        if kind != "parquet":
            raise InvalidRequestError(f"format('lakebed') reads Parquet: use lakebed_spark.read(..., format={kind!r})")
        access = self._access()
        return access, resolve(access.connect(), place, kind, options)

    def _place(self) -> Place:
        uri = lowered(self.options).get("path")
        if not uri:
            raise InvalidRequestError("load() needs what to read: .load('lakebed://repository/ref/path')")
        return locate(uri)


class TableReader(DataSourceReader):
    """Reads pieces in tasks. Goes to workers: holds plain values only."""

    def __init__(self, access: Access, place: Place, pieces: Sequence[Piece], schema: StructType) -> None:
        self._access = access
        self._place = place
        self._pieces = tuple(pieces)
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        """Pieces dealt to few tasks, by size."""
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


def read_piece(access: Access, place: Place, piece: Piece, wanted: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of one file with these columns, in batches; null for those that it has not.

    Raises PreconditionFailedError or ObjectNotFoundError when a branch has changed since it was looked at.
    """
    import pyarrow.parquet as pq

    values = dict(piece.values)
    with _opened(access, place, piece.info) as source, pq.ParquetFile(source) as file:
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


def _opened(access: Access, place: Place, info: ObjectInfo) -> Any:
    """An object as a file: of the shared directory, or by ranges, which must be of the version that was found."""
    from functools import partial

    from lakebed._files import RangeRaw
    from lakebed._sync.objects.shared_directory import nearby
    from lakebed._sync.tables.scan import _read_at

    ref = place.reader(access.connect())
    path = nearby(ref._target)(info)
    if path is not None:
        return pa.memory_map(path)
    raw = RangeRaw(info.path, info.size, info.checksum, partial(_read_at, ref, None, info.path))
    return pa.PythonFile(raw, mode="r")


def schema_of(access: Access, found: Found) -> StructType:
    """As Spark would find it: columns of the first file, and partitions of inferred types."""
    import pyarrow.parquet as pq

    files = found.files
    with _opened(access, found.place, files[0].info) as source, pq.ParquetFile(source) as file:
        leaves = [file.schema.column(at) for at in range(len(file.schema))]
        data = of_parquet(file.schema_arrow, [leaf.path for leaf in leaves if leaf.physical_type == "INT96"])
    return with_partitions(data, partition_types(found.columns, (file.pairs for file in files)))


def pieces_of(files: Sequence[File]) -> list[Piece]:
    """What tasks read."""
    return [
        Piece(file.info, tuple((name, None if raw == NULL else unescaped(raw)) for name, raw in file.pairs))
        for file in files
    ]


def frame_of(
    spark: SparkSession, access: Access, found: Found, files: Sequence[File], schema: StructType | None
) -> DataFrame:
    """Some files of what was found, by Python workers."""
    columns = schema_of(access, found) if schema is None else schema

    class Chosen(LakebedSource):  # by value: what it holds travels inside of the pickled class
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


def register(spark: SparkSession, lake: Holder | None = None) -> None:
    """Let `spark.read.format("lakebed")`, and the formats of the history such as `lakebed.commits`, be known.

    Their credentials are those of `lake`, or of `with lake.as_default():`, or of this process's configuration. They go
    to Spark inside of pickled classes: not as options, which plans and the UI show. Raises ConfigurationError.
    """
    from lakebed_spark import history

    check_session(spark)
    given = Access.of(lake)

    class Bound(LakebedSource):  # by value, as above
        access = given

    spark.dataSource.register(Bound)
    history.register(spark, given)
