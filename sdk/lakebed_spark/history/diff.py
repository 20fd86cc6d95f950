"""`lakebed.diff`: the differences between two states, from the files in which their trees differ."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import pyarrow as pa
from lakebed.errors import InvalidRequestError
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from lakebed_spark.history import columns
from lakebed_spark.history.key_ranges import Span, of_filters, of_prefix
from lakebed_spark.history.source import HistorySource
from lakebed_spark.history.storage import Store
from lakebed_spark.history.tree_diff import Pair, differences, merged, spans_of

_TYPES = ("three_dot", "two_dot")


class DiffSource(HistorySource):
    """What a ref changed since another: `.option("other", "main~1").load("lakebed://repository/main/prefix")`."""

    FORMAT = "lakebed.diff"
    COLUMNS = columns.DIFF
    OPTIONS = ("left", "right", "other", "type")

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader for these columns."""
        kind = PushingReader if self.binding.pushdown else DiffReader
        return kind(self, columns.Shape.of(self.FORMAT, self.COLUMNS, schema))

    def sides(self) -> tuple[str, str]:
        """Return the two refs. Raises InvalidRequestError for fewer or more."""
        named = [self.given[name] for name in ("left", "other") if name in self.given]
        right = [ref for ref in (self.given.get("right"), self.location.ref) if ref]
        if len(named) != 1 or len(right) != 1:
            raise InvalidRequestError(
                'lakebed.diff compares two refs: .option("other", "main~1").load("lakebed://repository/main"), or '
                '.option("left", "main").option("right", "dev").load("lakebed://repository")'
            )
        return named[0], right[0]

    def two_dot(self) -> bool:
        """Whether to compare the states directly, not the right state with the common ancestor."""
        kind = self.given.get("type", _TYPES[0])
        if kind not in _TYPES:
            raise InvalidRequestError(f"lakebed.diff: type must be one of {', '.join(_TYPES)}: {kind!r}")
        return kind == _TYPES[1]


@attrs.frozen
class Comparison:
    """A task: spans in which trees are compared. `ours` are the changes of the left side, if they matter."""

    store: Store
    spans: tuple[Span, ...]
    theirs: Pair
    ours: Pair | None = None


class DiffReader(DataSourceReader):
    """Plans on the driver, compares in tasks."""

    def __init__(self, source: DiffSource, shape: columns.Shape) -> None:
        self._access = source.access
        self._repository = source.location.repository
        self._left, self._right = source.sides()
        self._two_dot = source.two_dot()
        self._tasks = source.tasks
        self._span = of_prefix(source.location.path)
        self._shape = shape

    def partitions(self) -> list[InputPartition]:
        """Return spans of the key space in which files differ. No task when none do."""
        repository = self._access.connect().repository(self._repository)
        left, right = repository.commit(self._left), repository.commit(self._right)
        base = left
        if not self._two_dot:
            base = repository.commit(repository.ref(left.id).merge_base(right.id))
        store = Store.of(self._access, self._repository)
        trees = [store.tree(commit.metarange_id) for commit in (base, left, right)]
        theirs = Pair.of(trees[0], trees[2])
        ours = None if base.id == left.id else Pair.of(trees[0], trees[1])
        spans = spans_of([pair for pair in (theirs, ours) if pair is not None], self._span)
        return [InputPartition(Comparison(store, tuple(one), theirs, ours)) for one in shared_out(spans, self._tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the differences of a task, span by span."""
        task: Comparison | None = partition.value
        if task is None:
            return
        for span in task.spans:
            found = differences(task.store, task.theirs, span)
            if task.ours is not None:
                found = merged(found, differences(task.store, task.ours, span))
            yield from self._shape.batches(found)


class PushingReader(DiffReader):
    """The same, with filters on `path`. Spark refuses a reader with `pushFilters` where filters are not pushed."""

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:
        """Narrow the comparison. Spark still checks every filter."""
        self._span = self._span.both(of_filters(filters))
        yield from filters


def shared_out(spans: list[Span], tasks: int) -> list[list[Span]]:
    """Combine neighbouring spans into at most `tasks` groups."""
    size = -(-len(spans) // tasks) if spans else 1
    return [spans[at : at + size] for at in range(0, len(spans), size)]
