"""`readStream.format("lakebed")`: rows of the files that each commit of a branch adds to a table.

An offset is `{"commit": id}`, everything up to that commit. Commits do not change, so the rows between two offsets are
always the same, and a restart reads the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import pyarrow as pa
from lakebed.errors import InvalidRequestError
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from lakebed_spark._access import Access, Place
from lakebed_spark._file_scan import Piece, read_piece
from lakebed_spark._tables.partitions import NULL, folders_of, unescaped
from lakebed_spark.history.storage import Store
from lakebed_spark.streaming.added_files import ON_CHANGE, AddedFile, Arrivals
from lakebed_spark.streaming.commit_cursor import Line

OPTIONS: Final = ("startingCommit", "maxCommitsPerTrigger", "onChange")
"""What a stream understands beyond `path`."""

BEGINNING, NOW = "beginning", "now"
_COMMITS: Final = 100
_MOST_COMMITS: Final = 1_000_000
_TASK_BYTES: Final = 128 << 20

Offset = dict[str, Any]


@attrs.frozen
class Following:
    """How a table is followed. Goes to executors, inside of the reader."""

    access: Access
    place: Place
    starting: str
    commits: int
    on_change: str
    tasks: int

    @classmethod
    def of(cls, access: Access, place: Place, options: Mapping[str, str], tasks: int) -> Following:
        """From the options of a stream. Raises InvalidRequestError."""
        given = {name.lower(): value for name, value in options.items()}
        commits = given.get("maxcommitspertrigger", str(_COMMITS))
        if not commits.isascii() or not commits.isdigit() or not 1 <= int(commits) <= _MOST_COMMITS:
            raise InvalidRequestError(f"maxCommitsPerTrigger must be from 1 to {_MOST_COMMITS}: {commits!r}")
        on_change = given.get("onchange", ON_CHANGE[0])
        if on_change not in ON_CHANGE:
            raise InvalidRequestError(f"onChange must be one of {', '.join(ON_CHANGE)}: {on_change!r}")
        if not place.path:
            raise InvalidRequestError("a stream reads one table: .load('lakebed://repository/branch/path')")
        return cls(access, place, given.get("startingcommit", BEGINNING), int(commits), on_change, tasks)


class TableStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows a branch. Runs in a process next to the driver. `read` runs in tasks, on a pickled copy."""

    def __init__(self, following: Following, schema: StructType) -> None:
        self._following = following
        self._schema = schema
        self._line: Line | None = None
        self._until: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_line": None}  # a connection is in it

    # offsets

    def initialOffset(self) -> Offset:
        """Before the first batch. It is not kept by Spark: the end of each batch says where the stream began."""
        starting = self._following.starting
        if starting == BEGINNING:
            return {"commit": "", "initial": True}
        commit = self._following.place.ref if starting == NOW else starting
        return {"commit": self._repository().commit(commit).id, "initial": True}

    def getDefaultReadLimit(self) -> ReadLimit:
        """`maxCommitsPerTrigger`. Spark has no limit on commits, so a limit on files carries the number."""
        return ReadMaxFiles(self._following.commits)

    def prepareForTriggerAvailableNow(self) -> None:
        """With the trigger `availableNow` the stream ends at the present head of the branch."""
        self._until = self._follow().head()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """Where the next batch ends. Raises PreconditionFailedError when history was rewritten."""
        head = self._until or self._follow().head()
        if start["commit"] == head:
            return start
        begun = start["commit"] if start.get("initial") else start.get("begun", "")
        if not start["commit"]:
            return {"commit": head, "begun": begun}  # the table as it is now, and its commits from here on
        ahead = self._follow().after(start["commit"], head)
        most = len(ahead) if isinstance(limit, ReadAllAvailable) else self._following.commits
        return {"commit": ahead[:most][-1], "begun": begun}

    # reading

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The files between two offsets, in tasks of about the same size."""
        began = end["begun"] if start.get("initial") and "begun" in end else start["commit"]
        place = self._following.place
        access = self._following.access
        arrivals = Arrivals(access.connect(), Store.of(access, place.repository), place, self._following.on_change)
        if end["commit"] == began:
            return []
        if not began:
            files = list(arrivals.all_of(end["commit"]))
        else:
            commits = self._follow().after(began, end["commit"])
            files = [file for commit in commits for file in arrivals.of(commit)]
        return [InputPartition(group) for group in _groups(files, self._following.tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of some files."""
        files: tuple[AddedFile, ...] = partition.value or ()
        wanted = to_arrow_schema(self._schema, timezone="UTC")
        for file in files:
            values = [(name, None if raw == NULL else unescaped(raw)) for name, raw in folders_of(file.below)[1]]
            place = attrs.evolve(self._following.place, ref=file.commit)
            yield from read_piece(self._following.access, place, Piece(file.info, tuple(values)), wanted)

    def commit(self, end: Offset) -> None:
        """Nothing to tidy up: commits stay."""

    def stop(self) -> None:
        """Nothing is held."""

    def _repository(self) -> Any:
        return self._following.access.connect().repository(self._following.place.repository)

    def _follow(self) -> Line:
        if self._line is None:
            self._line = Line(self._repository(), self._following.place.ref)
        return self._line


def _groups(files: Sequence[AddedFile], tasks: int) -> list[tuple[AddedFile, ...]]:
    """Files in order, in a few groups of about as many bytes; more of them where there is much."""
    total = sum(file.info.size for file in files)
    count = max(min(tasks, len(files)), -(-total // _TASK_BYTES))
    groups: list[list[AddedFile]] = []
    done = 0
    for file in files:
        if not groups or done >= total * len(groups) / max(count, 1):
            groups.append([])
        groups[-1].append(file)
        done += file.info.size
    return [tuple(group) for group in groups]
