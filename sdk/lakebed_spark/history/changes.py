"""`lakebed.changes`: the changes of each commit of a log, against its first parent. Views such as `blame` and
`prefix_sizes` read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import attrs
import lakebed
import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from lakebed_spark.history import columns
from lakebed_spark.history.key_ranges import Span, of_prefix
from lakebed_spark.history.source import HistorySource
from lakebed_spark.history.storage import Store
from lakebed_spark.history.tree import Tree
from lakebed_spark.history.tree_diff import Pair, differences, spans_of

_MOST_COMMITS = 1_000_000_000


class ChangesSource(HistorySource):
    """Changes of each commit: `.load("lakebed://repository/ref/prefix")`. `limit` is on commits, the newest of them."""

    FORMAT = "lakebed.changes"
    COLUMNS = columns.CHANGES
    OPTIONS = ("limit", "firstParent")

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader for these columns."""
        return ChangesReader(self, columns.Shape.of(self.FORMAT, self.COLUMNS, schema))


@attrs.frozen
class Step:
    """A commit, and the trees before and after it."""

    commit_id: str
    generation: int
    created: datetime
    committer: str
    message: str
    merge: bool
    first_parent: bool
    before: str
    after: str


@attrs.frozen
class Steps:
    """A task: some commits."""

    store: Store
    span: Span
    steps: tuple[Step, ...]


class ChangesReader(DataSourceReader):
    """Walks the log on the driver, with a few hundred bytes for each commit, and compares trees in tasks."""

    def __init__(self, source: ChangesSource, shape: columns.Shape) -> None:
        self._access = source.access
        self._repository = source.location.repository
        self._ref = source.ref()
        self._limit = source.number("limit", 1, _MOST_COMMITS)
        self._first_parent = source.flag("firstParent")
        self._tasks = source.tasks
        self._span = of_prefix(source.location.path)
        self._shape = shape

    def partitions(self) -> list[InputPartition]:
        """Distribute the commits in turn, because neighbours have similar sizes."""
        repository = self._access.connect().repository(self._repository)
        head = repository.commit(self._ref).id
        log = repository.ref(head).log(limit=self._limit, first_parent=self._first_parent).all()
        steps = list(_steps(repository, log, head))
        store = Store.of(self._access, self._repository)
        dealt = [tuple(steps[start :: self._tasks]) for start in range(min(self._tasks, len(steps)))]
        return [InputPartition(Steps(store, self._span, one)) for one in dealt]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the changes of some commits."""
        task: Steps | None = partition.value
        if task is None:
            return
        for step in task.steps:
            trees: list[Tree] = [task.store.tree(found) for found in (step.before, step.after)]
            pair = Pair.of(*trees)
            for span in spans_of([pair], task.span):
                yield from self._shape.batches(_with_commit(differences(task.store, pair, span), step))


def _steps(repository: lakebed.Repository, log: list[lakebed.Commit], head: str) -> Iterator[Step]:
    """Yield commits that may have changed something. Parents never come before their children."""
    trees = {commit.id: commit.metarange_id for commit in log}
    line: str | None = head
    for commit in log:
        parent = commit.parents[0] if commit.parents else None
        main = commit.id == line
        if main:
            line = parent
        if parent is not None and parent not in trees:
            trees[parent] = repository.commit(parent).metarange_id
        before = trees[parent] if parent is not None else ""
        if before == commit.metarange_id:
            continue
        yield Step(
            commit.id,
            commit.generation,
            commit.created,
            commit.committer,
            commit.message,
            len(commit.parents) > 1,
            main,
            before,
            commit.metarange_id,
        )


def _with_commit(found: pa.Table, step: Step) -> pa.Table:
    """Add the properties of the commit to its differences."""
    kinds = {
        "commit_id": pa.string(),
        "generation": pa.int64(),
        "created": pa.timestamp("s", tz="UTC"),
        "committer": pa.string(),
        "message": pa.string(),
        "merge": pa.bool_(),
        "first_parent": pa.bool_(),
    }
    for name, kind in kinds.items():
        found = found.append_column(name, pa.repeat(pa.scalar(getattr(step, name), kind), found.num_rows))
    return found
