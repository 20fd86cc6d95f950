"""All entries below a prefix as a table; on Spark as a DataFrame, which tasks read. Over `_entries`."""

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
class Stretch:
    """A stretch of a tree."""

    store: Store
    piece: Piece

    def rows(self) -> Iterator[pa.Table]:
        """Its entries, in order of path."""
        return entries_of(self.store, self.piece, NAMES)


def frame_of(spark: SparkSession, snapshot: Snapshot, prefix: str, tasks: int) -> DataFrame:
    """The entries, with the columns of NAMES."""
    stretches = [Stretch(snapshot.store, piece) for piece in snapshot.pieces(prefix, tasks)]
    blobs = [pickle.dumps(stretch) for stretch in stretches]

    def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for index in batch.column(0).to_pylist():
                stretch: Stretch = pickle.loads(blobs[index])  # noqa: S301 - our own driver made it
                for rows in stretch.rows():
                    yield from rows.to_batches()

    return spark.range(0, len(blobs), 1, max(1, len(blobs))).mapInArrow(each, SCHEMA)


def table_of(snapshot: Snapshot, prefix: str) -> pa.Table:
    """The same in memory."""
    tables = [rows for piece in snapshot.pieces(prefix, 1) for rows in Stretch(snapshot.store, piece).rows()]
    empty = pa.schema([(name, pa.int64() if name == "size" else pa.string()) for name in NAMES])
    return pa.concat_tables(tables) if tables else empty.empty_table()
