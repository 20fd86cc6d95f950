"""`spark.read.format("lakebed").load("lakebed://repository/ref/path")`: a table of a ref as a Python data source.

It works with any store and needs no jar, at two thirds of the native speed. Spark names no columns to a Python source,
so all columns of a table are read, or those of a schema that the user gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakebed.errors import InvalidRequestError, UnsupportedOperationError
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter

from lakebed_spark import history
from lakebed_spark._access import Access, Holder, Place, locate
from lakebed_spark._file_scan import TASKS, TableReader, pieces_of, schema_of
from lakebed_spark._session import check_session, lowered
from lakebed_spark._tables.resolve import Found, resolve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


class LakebedSource(DataSource):
    """The format `lakebed`. `register` gives it the credentials, or else the environment does.

    Spark asks for the schema when the frame is made, and for a reader when it is used, of pickled copies of the same
    instance. The table is resolved once, the first time: all later reads of the frame are of the same commit.
    """

    access: Access | None = None
    _resolved: Found | None = None
    _given: Access | None = None

    @classmethod
    def name(cls) -> str:
        """What follows `format`."""
        return "lakebed"

    def schema(self) -> StructType:
        """That of the first file, and the partition columns."""
        return schema_of(self._access(), self._found())

    def reader(self, schema: StructType) -> DataSourceReader:
        """For one read."""
        found = self._found()
        return TableReader(self._access(), found.place, pieces_of(found.files), schema)

    def streamReader(self, schema: StructType) -> Any:
        """For `spark.readStream`: the commits of a branch, one by one."""
        from lakebed_spark.streaming.source import Following, TableStreamReader

        following = Following.of(self._access(), self._place(), self.options, TASKS)
        return TableStreamReader(following, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Refused: Spark's own writers are faster, and know partitions. Raises UnsupportedOperationError."""
        raise UnsupportedOperationError(
            "format('lakebed') is read-only: write with lakebed_spark.write(frame, 'lakebed://repository/branch/path')"
        )

    def _access(self) -> Access:
        """The access of the option `profile`, else that of `register`. Executors get it in the pickled reader."""
        if self._given is None:
            profile = lowered(self.options).get("profile")
            self._given = Access.of_profile(profile) if profile else self.access or Access.of()
        return self._given

    def _found(self) -> Found:
        if self._resolved is None:
            options = lowered(self.options)
            kind = options.get("format", "parquet").lower()
            if kind != "parquet":
                raise InvalidRequestError(
                    f"format('lakebed') reads only Parquet: use lakebed_spark.read(..., format={kind!r})"
                )
            self._resolved = resolve(self._access().connect(), self._place(), kind, options)
        return self._resolved

    def _place(self) -> Place:
        uri = lowered(self.options).get("path")
        if not uri:
            raise InvalidRequestError("load() needs a location: .load('lakebed://repository/ref/path')")
        return locate(uri)


def register(spark: SparkSession, lake: Holder | None = None) -> None:
    """Let `spark.read.format("lakebed")`, and the formats of the history such as `lakebed.commits`, be known.

    Their credentials are those of `lake`, or of `with lake.as_default():`, or of this process's configuration, where
    the setting `spark.lakebed.profile` names a profile. The option `profile` names one for a single read. They go to
    Spark inside of pickled classes: not as options, which plans and the UI show. Raises ConfigurationError.
    """
    check_session(spark)
    given = Access.of(lake)

    class Bound(LakebedSource):  # pickled by value, with the credentials that it refers to
        access = given

    spark.dataSource.register(Bound)
    history.register(spark, given)
