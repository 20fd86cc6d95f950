"""A table of a ref as a DataFrame: found in Python, and read by Spark's own readers, at their speed.

Where every file is stored in the folder of its partition, one native read returns the table, and Spark prunes by
folder. Files in other folders are read natively too. They get their partition from a small table that is joined by file
name. Python workers read the files that no file system of this Spark can open, through the server.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lakebed.errors import InvalidRequestError, UnsupportedOperationError

from lakebed_spark._access import Access, Holder, Place, Target, access_to, locate
from lakebed_spark._session import check_session, has_filesystem, listed_here, lowered
from lakebed_spark._tables.partitions import NULL, unescaped
from lakebed_spark._tables.resolve import File, Found, resolve
from lakebed_spark._tables.schemas import parsed, partition_types, with_partitions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.types import StructType

_OURS = ("pathglobfilter", "recursivefilelookup")
_REFUSED = {
    "path": "pass the path as the second argument, or in the URI",
    "basepath": "Lakebed finds partition columns below the path",
    "ignoreinvalidpartitionpaths": "Lakebed finds partition columns below the path",
}
_SPECIAL = re.compile(r"([\\*?\[\]{}])")
_JAVA_SAFE = "/~!$&'()*+,;=:@-._"
_FILE = "__lakebed_file"


def read(
    spark: SparkSession,
    target: Target,
    path: str = "",
    *,
    format: str = "parquet",
    schema: StructType | str | None = None,
    lake: Holder | None = None,
    **options: Any,
) -> DataFrame:
    """Read a path of any ref or workspace as a DataFrame. Later commits do not change the frame.

    `target` is `lakebed://repository/ref/path`, or a ref, branch, tag or workspace with `path` below it. `format`,
    `schema` and `options` are those of Spark's reader. A URI is read with the credentials of `lake`, or of `with
    lake.as_default():`, or of the environment.

        orders = lakebed_spark.read(spark, "lakebed://sales/main/orders")

    Raises ObjectNotFoundError when there is nothing, InvalidRequestError for files of several formats or with different
    partition columns, UnsupportedOperationError when nothing on this machine can open the files, and NotFoundError.
    """
    check_session(spark)
    kind, plain = format.lower(), lowered(options)
    for name, reason in _REFUSED.items():
        if name in plain:
            raise InvalidRequestError(f"cannot use the option {name!r}: {reason}")
    wanted, place, access = parsed(schema), locate(target, path), access_to(target, lake)
    found = resolve(access.connect(), place, kind, plain)
    found = found.without_file_systems({one for one in found.schemes if not has_filesystem(spark, one)})
    given = {name: value for name, value in options.items() if name.lower() not in _OURS and value is not None}
    reading = _Reading(spark, access, found, kind, given)
    # each file of a bucket takes a request or two: Spark distributes these among its tasks
    with listed_here(spark) if found.schemes <= {"file"} else nullcontext():
        return reading.frame(wanted)


class _Reading:
    """One read."""

    def __init__(self, spark: SparkSession, access: Access, found: Found, kind: str, options: dict[str, Any]) -> None:
        self._spark = spark
        self._access = access
        self._found = found
        self._kind = kind
        self._options = options

    def frame(self, schema: StructType | None) -> DataFrame:
        found = self._found
        if not found.elsewhere and not found.odd:
            return self._natively(found.hive, schema)
        full = self._full_schema(schema)
        parts = []
        if found.hive:
            parts.append(self._natively(found.hive, full))
        if found.elsewhere:
            parts.append(self._joined(found.elsewhere, full))
        if found.odd:
            parts.append(self._by_python(found.odd, full))
        names = [_quoted(name) for name in full.names]
        frames = [part.select(*names) for part in parts]
        result = frames[0]
        for other in frames[1:]:
            result = result.unionAll(other)
        return result

    def _reader(self, schema: StructType | None) -> DataFrameReader:
        reader = self._spark.read.format(self._kind).options(**self._options)
        return reader if schema is None else reader.schema(schema)

    def _natively(self, files: Sequence[File], schema: StructType | None) -> DataFrame:
        """Read natively. The folder above the table must not count as a partition folder, or its column is dropped
        again.
        """
        reader = self._reader(schema)
        if not self._found.columns:
            return reader.load(_escaped({file.uri for file in files}))
        # between the namespace and the table there are only ids and plain folders: Spark stops at the first of them
        reader = reader.option("basePath", self._found.base).option("ignoreInvalidPartitionPaths", "true")
        frame = reader.load(_escaped({file.uri for file in files}))
        above = _above(self._found.place)
        return frame.drop(*(name for name in above if name not in self._found.columns)) if above else frame

    def _full_schema(self, schema: StructType | None) -> StructType:
        """Return the schema of all parts of the union."""
        if schema is not None and set(self._found.columns) <= set(schema.names):
            return schema
        infer = self._spark.conf.get("spark.sql.sources.partitionColumnTypeInference.enabled", "true") != "false"
        types = partition_types(self._found.columns, (file.pairs for file in self._found.files), inferred=infer)
        if schema is None:
            schema = self._data_schema()
        else:
            types = {name: kind for name, kind in types.items() if name not in schema.names}
        return with_partitions(schema, types)

    def _data_schema(self) -> StructType:
        native = [*self._found.hive, *self._found.elsewhere]
        if native:
            return self._reader(None).load(_escaped({file.uri for file in native})).schema
        return self._by_python(self._found.odd[:1], None).schema

    def _joined(self, files: Sequence[File], full: StructType) -> DataFrame:
        """Read files in any folder natively, each file one time, and join a table of their partitions.

        An address that several paths share appears one time for each path.
        """
        from pyspark.sql import functions
        from pyspark.sql.types import StructType

        data = StructType([field for field in full if field.name not in self._found.columns])
        frame = self._reader(data).load(_escaped({file.uri for file in files}))
        frame = frame.withColumn(_FILE, functions.col("_metadata.file_path"))
        return frame.join(functions.broadcast(self._whereabouts(files, full)), _FILE).drop(_FILE)

    def _whereabouts(self, files: Sequence[File], full: StructType) -> DataFrame:
        import pyarrow as pa
        from pyspark.sql import functions

        names = self._found.columns
        rows = [(one, file) for file in files for one in _shown(file.uri)]
        columns = {_FILE: pa.array([one for one, _ in rows], pa.string())}
        for at, name in enumerate(names):
            columns[name] = pa.array([_value(file.pairs[at][1]) for _, file in rows], pa.string())
        table = self._spark.createDataFrame(pa.table(columns))
        typed = [functions.col(_quoted(name)).cast(full[name].dataType).alias(name) for name in names]
        return table.select(_FILE, *typed)

    def _by_python(self, files: Sequence[File], schema: StructType | None) -> DataFrame:
        """Read with Python workers, through the server or at signed addresses."""
        if self._kind != "parquet":
            raise _closed(self._found.place, files[0], self._kind)
        from lakebed_spark._file_scan import frame_of

        return frame_of(self._spark, self._access, self._found, files, schema)


def _closed(place: Place, file: File, kind: str) -> UnsupportedOperationError:
    return UnsupportedOperationError(
        f"read {place}: this Spark session has no file system for {file.info.physical_address!r}. Add one "
        "(spark.jars.packages=org.apache.hadoop:hadoop-aws:<Spark's Hadoop version>), or read the "
        f"{kind} with the SDK: only Parquet works without",
        operation="read",
        repository=place.repository,
        ref=place.ref,
        path=place.path,
    )


def _above(place: Place) -> list[str]:
    """Return the columns that Spark would take from folders of the path itself."""
    names = []
    for part in reversed(place.path.split("/")):
        if "=" not in part:
            break
        names.append(unescaped(part.partition("=")[0]))
    return names


def _escaped(uris: set[str]) -> list[str]:
    """Escape paths so that Spark takes them literally, not as patterns."""
    return [_SPECIAL.sub(r"\\\1", uri) for uri in sorted(uris)]


def _shown(uri: str) -> tuple[str, ...]:
    """Return a path as in Spark's `_metadata.file_path`. There are two forms, which depend on Spark's version."""
    scheme, _, rest = uri.partition("://")
    text = "".join(one if ord(one) > 127 else quote(one, safe=_JAVA_SAFE) for one in rest)
    return (f"file:{text}", f"file://{text}") if scheme == "file" else (f"{scheme}://{text}",)


def _value(raw: str) -> str | None:
    return None if raw == NULL else unescaped(raw)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
