"""`lakebed.commits` and `lakebed.branches`: what the server lists. One task reads them, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from lakebed_spark._access import Access
from lakebed_spark.history import columns
from lakebed_spark.history.source import HistorySource

_MOST_COMMITS = 1_000_000_000


class CommitsSource(HistorySource):
    """The log of a ref: `.load("lakebed://repository/ref")`; with a path, commits that changed something below it."""

    FORMAT = "lakebed.commits"
    COLUMNS = columns.COMMITS
    OPTIONS = ("limit", "firstParent")

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader of the log, from the commit that the ref points at when the query is planned."""
        return CommitsReader(self, columns.Shape.of(self.FORMAT, self.COLUMNS, schema))


class BranchesSource(HistorySource):
    """The branches of a repository: `.load("lakebed://repository")`."""

    FORMAT = "lakebed.branches"
    COLUMNS = columns.BRANCHES
    OPTIONS = ("hidden",)

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader."""
        return BranchesReader(self, columns.Shape.of(self.FORMAT, self.COLUMNS, schema))


@attrs.frozen
class Log:
    """A task: the log from a commit on."""

    access: Access
    repository: str
    head: str
    prefixes: tuple[str, ...] = ()
    first_parent: bool = False
    limit: int | None = None


class CommitsReader(DataSourceReader):
    """Finds the head on the driver, so that every try of the task reads the same log."""

    def __init__(self, source: CommitsSource, shape: columns.Shape) -> None:
        head = source.repository().commit(source.ref()).id
        prefix = source.location.path
        self._log = Log(
            source.access,
            source.location.repository,
            head,
            (prefix,) if prefix else (),
            source.flag("firstParent"),
            source.number("limit", 1, _MOST_COMMITS),
        )
        self._shape = shape

    def partitions(self) -> Sequence[InputPartition]:
        """One."""
        return [InputPartition(self._log)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The commits, newest first."""
        log: Log = partition.value
        ref = log.access.connect().repository(log.repository).ref(log.head)
        found = ref.log(limit=log.limit, prefixes=log.prefixes, first_parent=log.first_parent)
        yield from self._shape.of_values(found, columns.COMMITS)


class BranchesReader(DataSourceReader):
    """Lists them when the task runs."""

    def __init__(self, source: BranchesSource, shape: columns.Shape) -> None:
        self._access = source.access
        self._repository = source.location.repository
        self._hidden = source.flag("hidden")
        self._shape = shape

    def partitions(self) -> Sequence[InputPartition]:
        """One."""
        return [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The branches, by name."""
        found = self._access.connect().repository(self._repository).branches(hidden=self._hidden)
        yield from self._shape.of_values(found, columns.BRANCHES)
