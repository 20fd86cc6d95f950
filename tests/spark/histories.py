"""What the tests of tables over the history share: a tree of several ranges, and the truth as the SDK returns it."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import lakebed
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from tests.support.processes.server import RunningServer

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"

MANY = 12_000
"""Entries of a tree that has several ranges: each has much metadata."""


def fresh(server: RunningServer) -> lakebed.Repository:
    """A repository for a whole module."""
    lake = lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key)
    name = f"test-{uuid4().hex[:16]}"
    return lake.repository(name).create(f"local://{name}")


def many(branch: lakebed.Branch, folder: Path) -> list[str]:
    """Commit MANY entries that share one object; their paths."""
    paths = [f"t/{number:06d}" for number in range(MANY)]
    with branch.workspace("many") as work:
        seed = work.put("seed.bin", b"hello")
        rows = {
            "path": pa.array(paths),
            "physical_address": pa.repeat(seed.physical_address, MANY),
            "checksum": pa.repeat(seed.checksum, MANY),
            "size_bytes": pa.repeat(pa.scalar(seed.size, pa.int64()), MANY),
            "metadata": pa.array([[("pad", "z" * 2500)]] * MANY, pa.map_(pa.string(), pa.string())),
        }
        pq.write_table(pa.table(rows), folder / "layer.parquet")
        work.push_layer(folder / "layer.parquet")
    return paths


def scribble(branch: lakebed.Branch, seed: int, count: int) -> None:
    """Commit some additions, changes and deletions among those entries."""
    some = random.Random(seed)
    puts = {f"t/{some.randrange(MANY + 200):06d}": b"%d" % some.randrange(50) for _ in range(count)}
    gone = sorted({f"t/{some.randrange(MANY):06d}" for _ in range(count // 2 + 1)} - set(puts))
    branch.put_many(puts, delete=gone)
    branch.commit(f"scribble {seed}")


def load(spark: SparkSession, source: str, repo: lakebed.Repository, ref: str = "", **options: Any) -> DataFrame:
    """A table over the history of a repository."""
    return spark.read.format(source).options(**options).load(f"lakebed://{repo.id}/{ref}".rstrip("/"))


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Rows with times as aware ones, as the SDK has them. The session's time zone is UTC."""
    return [tuple(_aware(value) for value in row) for row in frame.collect()]


def _aware(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value


def tasks(frame: DataFrame) -> int:
    """In how many tasks Spark reads a frame."""
    return frame.rdd.getNumPartitions()
