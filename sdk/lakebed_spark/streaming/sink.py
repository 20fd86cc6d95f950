"""One commit for each micro-batch, exactly once: the function that `writeStream.foreachBatch` calls.

Besides the data, each commit contains a small object at `_streams/<table>/<query id>.json` that names the last batch. A
batch reads it in its workspace, which is based on one commit. So one read detects a replay, however many commits came
in between and however old it is. Two drivers of one query that commit the same batch change the same object, and the
server accepts one of them.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import attrs
import lakebed
import pyarrow as pa
import pyarrow.parquet as pq
from lakebed._integration.sync import is_cloud, outgoing, place_of, sink_of
from lakebed.errors import (
    ConcurrentCommitError,
    InvalidRequestError,
    ObjectNotFoundError,
    OutcomeUnknownError,
)
from lakebed.model import ObjectInfo, WorkspaceInfo

from lakebed_spark._access import Access, Holder, Place, Target, access_to, locate
from lakebed_spark._session import check_pyspark, is_remote
from lakebed_spark._staging import WriteRequest
from lakebed_spark.transactions import transaction
from lakebed_spark.writing import Mode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger("lakebed.spark")

MARKS: Final = "_streams/"
"""The folder of a branch where streams store their positions. Readers of tables skip it."""

QUERY_KEY: Final = "lakebed.stream_query"
BATCH_KEY: Final = "lakebed.stream_batch"
"""Keys of the commit's metadata: the query and the batch that made it."""

_MODES: Final = ("append", "overwrite", "overwrite_partitions")
_PROPERTY: Final = "sql.streaming.queryId"
_JSON: Final = "application/json"


@attrs.frozen
class Sink:
    """Writes micro-batches to one table of a branch. `foreach_batch` makes one; it can be pickled."""

    access: Access
    place: Place
    mode: Mode
    partition_by: tuple[str, ...]
    message: str | None
    query_id: str | None
    format: str
    options: Mapping[str, Any]

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        """Write a batch as one commit, unless it was committed before. A batch without rows makes no commit.

        Raises what `lakebed_spark.write` raises. CommitStateUnknownError when the answer was lost and the branch does
        not show the commit: start the query again, and the batch is committed once.
        """
        spark = frame.sparkSession
        query = self.query_id or _query_id(spark)
        mark = Mark(f"{MARKS}{self.place.path}/{query}.json", query, int(batch_id), secrets.token_hex(8))
        try:
            self._commit(spark, frame, mark)
        except _Nothing as reason:
            log.info("batch %d of %s: %s, so nothing is written", mark.batch, self.place, reason)
        except (ConcurrentCommitError, OutcomeUnknownError):
            if not mark.is_in(self._branch().repository.ref(f"{self.place.ref}@")):
                raise
            log.info("batch %d of %s is already committed to %s", mark.batch, self.place, self.place.ref)

    def _commit(self, spark: SparkSession, frame: DataFrame, mark: Mark) -> None:
        with transaction(
            spark,
            self._branch(),
            message=self.message or f"Batch {mark.batch} of {self.place.path}",
            metadata={QUERY_KEY: mark.query, BATCH_KEY: str(mark.batch)},
            lake=self.access,
        ) as tx:
            workspace = tx._workspace
            if mark.is_in(workspace):
                raise _Nothing("it is already committed")
            place, kind = tx._place.to(self.place.path), self.format.lower()
            request = WriteRequest(place, self.mode, self.partition_by, kind, self.options)
            # A batch without rows may come twice. A commit would also wake a stream that follows this branch, without
            # end. A query of the frame would make Spark compute it again, so its files are read where possible.
            quiet, countable = self.mode != "overwrite", kind == "parquet" and not is_cloud(place_of(workspace))
            if quiet and not countable and frame.isEmpty():
                raise _Nothing("it has no rows")
            with _stored(workspace, mark) as stored:
                rows = tx._stage(frame, request)
                if quiet and countable and not _have_rows(rows, place_of(workspace)):
                    raise _Nothing("it has no rows")
                tx._show(request, rows, stored())

    def _branch(self) -> lakebed.Branch:
        return self.access.connect().repository(self.place.repository).branch(self.place.ref)


@attrs.frozen
class Mark:
    """The position of a query in a table: its last batch. `attempt` makes the content of every mark different."""

    path: str
    query: str
    batch: int
    attempt: str

    def is_in(self, ref: lakebed.Ref) -> bool:
        """Whether a ref has this batch, or a later one of the query. Raises InvalidRequestError for an object that is
        no mark.
        """
        try:
            found = json.loads(ref.get(self.path))
        except ObjectNotFoundError:
            return False
        except ValueError:
            found = None
        if not isinstance(found, dict) or not isinstance(found.get("batch"), int):
            raise InvalidRequestError(
                f"{self.path!r} in {ref.repository.id}/{ref.id} does not contain the position of a stream: "
                "another program replaced it; restore it from an earlier commit",
                repository=ref.repository.id,
                ref=ref.id,
                path=self.path,
            )
        return bool(found["batch"] >= self.batch)

    def content(self) -> bytes:
        """The content of the object."""
        return json.dumps({"query": self.query, "batch": self.batch, "attempt": self.attempt}).encode()


def foreach_batch(
    target: Target,
    path: str = "",
    *,
    mode: Mode = "append",
    partition_by: Sequence[str] | str = (),
    message: str | None = None,
    query_id: str | None = None,
    format: str = "parquet",
    lake: Holder | None = None,
    **options: Any,
) -> Sink:
    """Return a function for `frame.writeStream.foreachBatch(...)` that commits each micro-batch to a table, exactly
    once.

    `target` is a branch, or `lakebed://repository/branch/path`. `mode` (not `error`), `partition_by`, `format` and
    `options` are those of `lakebed_spark.write`. The id of the query, which the checkpoint keeps, and the batch number
    identify a batch. `query_id` gives a name instead. Spark Connect needs it, because there Spark does not report the
    id.

    Raises InvalidRequestError for a target that is not a branch, or names no table.
    """
    check_pyspark()
    place = locate(target, path)
    if mode not in _MODES:
        raise InvalidRequestError(f"foreach_batch {place}: unknown mode {mode!r}: use one of {', '.join(_MODES)}")
    if not place.path:
        raise InvalidRequestError(
            f"foreach_batch {place}: the path is missing: expected lakebed://repository/branch/path"
        )
    if place.workspace_id is not None or any(mark in place.ref for mark in "~^@$"):
        raise InvalidRequestError(f"foreach_batch {place}: the target must be a branch, because each batch is a commit")
    if query_id is not None and (not query_id or "/" in query_id):
        raise InvalidRequestError(f"query_id must be a name without '/': {query_id!r}")
    columns = (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)
    return Sink(access_to(target, lake), place, mode, columns, message, query_id, format, options)


class _Nothing(Exception):
    """There is nothing to write. It is not an error: it leaves the transaction, which then commits nothing."""


@contextmanager
def _stored(workspace: lakebed.Workspace, mark: Mark) -> Iterator[Callable[[], list[ObjectInfo]]]:
    """Store the mark while Spark writes, because it also waits for the disk. Returns the object to register.

    Returns nothing when the mark goes through the server, which registers it itself.
    """
    sink = sink_of(workspace)
    if sink is None:
        yield lambda: [workspace.put(mark.path, mark.content(), content_type=_JSON)][:0]
        return
    with ThreadPoolExecutor(1, "lakebed-mark") as pool:
        yield pool.submit(sink.store, [outgoing(mark.path, mark.content(), _JSON, None, None)]).result


def _have_rows(rows: Sequence[ObjectInfo], info: WorkspaceInfo) -> bool:
    """Whether the Parquet files of a directory have rows. Spark also writes a file without rows, for its columns."""
    cut = len(info.storage_prefix)
    try:
        return any(pq.read_metadata(info.local_path + row.physical_address[cut:]).num_rows for row in rows)
    except pa.ArrowException:  # encrypted, as options of the writer had it
        return True


def _query_id(spark: SparkSession) -> str:
    found: str | None = None if is_remote(spark) else spark.sparkContext.getLocalProperty(_PROPERTY)
    if not found:
        raise InvalidRequestError(
            "the id of the streaming query is unknown: pass foreach_batch(..., query_id='orders'), a name that "
            "stays the same after restarts"
        )
    return found
