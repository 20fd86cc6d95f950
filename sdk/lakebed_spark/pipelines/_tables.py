"""All entries below a prefix, table by table; on Spark as a DataFrame, which tasks read."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs
import pyarrow as pa

from lakebed_spark.history.storage import Store
from lakebed_spark.history.tree import Piece
from lakebed_spark.pipelines._entries import Snapshot, entries_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAMES = ("path", "checksum", "size", "physical_address")
SCHEMA = "path string, checksum string, size long, physical_address string"


@attrs.frozen
class TreePart:
    """A part of a tree, read in one task."""

    store: Store
    piece: Piece

    def rows(self) -> Iterator[pa.Table]:
        """Its entries, in order of path."""
        return entries_of(self.store, self.piece, NAMES)


def frame_of(spark: SparkSession, snapshot: Snapshot, prefix: str, tasks: int) -> DataFrame:
    """The entries, with the columns of NAMES."""
    parts = [TreePart(snapshot.store, piece) for piece in snapshot.pieces(prefix, tasks)]
    blobs = [pickle.dumps(part) for part in parts]

    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for index in batch.column(0).to_pylist():
                part: TreePart = pickle.loads(blobs[index])  # noqa: S301 - our own driver made it
                for rows in part.rows():
                    yield from rows.to_batches()

    return spark.range(0, len(blobs), 1, max(1, len(blobs))).mapInArrow(each, SCHEMA)


def tables_of(snapshot: Snapshot, prefix: str) -> Iterator[pa.Table]:
    """The same in this process, a range at a time."""
    for piece in snapshot.pieces(prefix, 1):
        yield from TreePart(snapshot.store, piece).rows()


def arriving(frame: DataFrame) -> Iterator[pa.Table]:
    """Yield the rows of a frame, one partition after another. The driver holds at most one partition, of about 64 MB.

    All partitions are computed first, in parallel, and wait on the disks of the executors. Otherwise the tasks would
    run one after the other.
    """

    def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.record_batch({"rows": pa.array([sink.getvalue().to_pybytes()], pa.binary())})

    for row in frame.hint("rebalance").mapInArrow(packed, "rows binary").toLocalIterator():
        yield pa.ipc.open_stream(row["rows"]).read_all()
