"""`lakebed.entries`: the entry at each path of a ref, from the files of its tree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import attrs
import pyarrow as pa
from lakebed.model import ObjectInfo
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from lakebed_spark._access import Access
from lakebed_spark.history import columns
from lakebed_spark.history.key_ranges import of_filters, of_prefix
from lakebed_spark.history.source import HistorySource
from lakebed_spark.history.storage import Store
from lakebed_spark.history.tree import Piece, Tree, divided
from lakebed_spark.history.tree_rows import entries
from lakebed_spark.history.uncommitted import Overlay, entries_of, look

_LISTED = 1000


class EntriesSource(HistorySource):
    """Entries of a ref: `.load("lakebed://repository/ref/prefix")`."""

    FORMAT = "lakebed.entries"
    COLUMNS = columns.ENTRIES

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader for these columns. It accepts filters if the session pushes them."""
        kind = PushingReader if self.binding.pushdown else EntriesReader
        return kind(self, columns.Shape.of(self.FORMAT, self.COLUMNS, schema))


@attrs.frozen
class FromFiles:
    """A task: a piece of the tree, and the staged entries over it."""

    store: Store
    piece: Piece
    over: Overlay | None = None


@attrs.frozen
class FromListing:
    """A task: a span of a ref, listed through the server, after `after` up to and including `last`."""

    access: Access
    repository: str
    ref: str
    prefix: str
    after: str = ""
    last: str | None = None


class EntriesReader(DataSourceReader):
    """Plans on the driver and reads in tasks. Holds only names."""

    def __init__(self, source: EntriesSource, shape: columns.Shape) -> None:
        self._access = source.access
        self._repository = source.location.repository
        self._ref = source.ref()
        self._prefix = source.location.path
        self._tasks = source.tasks
        self._shape = shape
        self._span = of_prefix(self._prefix)

    def partitions(self) -> list[InputPartition]:
        """Return a few pieces with similar numbers of rows. Files outside the prefix and the filters are left out."""
        repository = self._access.connect().repository(self._repository)
        if self._ref.endswith("$"):
            return [InputPartition(FromListing(self._access, self._repository, self._ref, self._prefix))]
        seen = look(repository, self._ref, self._prefix)
        store = Store.of(self._access, self._repository)
        pieces = divided(store.tree(seen.commit.metarange_id), self._span, self._tasks)
        if not seen.whole:
            return [InputPartition(task) for task in self._listed(pieces)]
        if not pieces and not self._span.empty:
            pieces = [Piece(self._span, Tree())]  # no committed entries here, but there may be staged ones
        return [InputPartition(FromFiles(store, piece, seen.overlay(piece.span))) for piece in pieces]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a task."""
        task = partition.value
        if isinstance(task, FromListing):
            yield from _listing(task, self._shape)
        elif task is not None:
            yield from _files(task, self._shape)

    def _listed(self, pieces: list[Piece]) -> list[FromListing]:
        ends = [piece.tree.ranges[-1].last for piece in pieces[:-1] if piece.tree.ranges]
        stretches = zip(["", *ends], [*ends, None], strict=True)
        where = (self._access, self._repository, self._ref, self._prefix)
        return [FromListing(*where, after, last) for after, last in stretches]


class PushingReader(EntriesReader):
    """The same, with filters on `path`. Spark refuses a reader with `pushFilters` where filters are not pushed."""

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:
        """Narrow what is read. Spark still checks every filter."""
        self._span = self._span.both(of_filters(filters))
        yield from filters


def _files(task: FromFiles, shape: columns.Shape) -> Iterator[pa.RecordBatch]:
    over = task.over
    if over is None:
        for rows in entries(task.store, task.piece, shape.names or ("path",)):
            yield from shape.batches(rows)
        return
    names = shape.names if "path" in shape.names else (*shape.names, "path")
    for rows in entries(task.store, task.piece, names):
        yield from shape.batches(over.hide(rows))
    yield from shape.batches(over.rows)


def _listing(task: FromListing, shape: columns.Shape) -> Iterator[pa.RecordBatch]:
    listing = task.access.connect().repository(task.repository).ref(task.ref).list(task.prefix, after=task.after)
    rows = (row for row in listing if isinstance(row, ObjectInfo))
    while group := list(islice(rows, _LISTED)):
        inside = group if task.last is None else [row for row in group if row.path <= task.last]
        yield from shape.batches(entries_of(inside))
        if len(inside) < len(group):
            return
