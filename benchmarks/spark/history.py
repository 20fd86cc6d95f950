"""Compares tables over the history with plain Spark on the same files, and times micro-batches. Needs PySpark.

    python -m benchmarks.spark.history FOLDER [ENTRIES] [BATCHES]

Prints JSON. `ENTRIES` (1,000,000) are staged through the engine, without data, as in `benchmarks.engine.scale`.
`entries` reads all columns of a commit; `native` is `spark.read.parquet` of its range files, and `three` and
`native_three` read three columns. The ways take turns, medians of the rounds. `sink` commits `BATCHES` (20) micro-
batches of 1,000 rows; the first five warm up.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lakebed
import lakebed_spark
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.requests import CommitRequest

from benchmarks import servers
from benchmarks.engine import scale
from benchmarks.sdk.dataframes import compare

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ENTRIES, BATCHES = 1_000_000, 20
_STAGED = 100_000
_WARM = 5
_ROWS = 1000


async def fill(data: Path, entries: int) -> None:
    """Create a repository `bench` with one commit of `entries` entries, as the server stores it."""
    data.mkdir(parents=True, exist_ok=True)
    engine = Engine(SqliteKV(data / "lakebed.db"), Stores(data / "objects"))
    await engine.repositories.create("bench", "local://bench")
    for start in range(0, entries, _STAGED):
        paths = [scale.path_of(number) for number in range(start, min(entries, start + _STAGED))]
        await scale.stage_all(engine, "main", [(path, scale.entry(path)) for path in paths])
    await engine.commits.create("bench", "main", CommitRequest(message="m", committer="bench"))
    await engine.close()


def reading(spark: SparkSession, lake: lakebed.Lake, entries: int) -> dict[str, float]:
    """Seconds to read every entry, and some columns of them."""
    main = lake.repository("bench").branch("main")
    files = [part.local_path for part in main.ranges()]
    commit = f"lakebed://bench/{main.commit_info().id}"
    lakebed_spark.register(spark, lake)

    def read(frame: DataFrame) -> None:
        frame.write.format("noop").mode("overwrite").save()

    if spark.read.format("lakebed.entries").load(commit).count() != entries:
        raise SystemExit("entries are missing")
    few = "path string, size long, checksum string"
    times = compare(
        {
            "native": lambda _: read(spark.read.parquet(*files)),
            "entries": lambda _: read(spark.read.format("lakebed.entries").load(commit)),
            "native_three": lambda _: read(spark.read.parquet(*files).select("path", "size_bytes", "checksum")),
            "three": lambda _: read(spark.read.format("lakebed.entries").schema(few).load(commit)),
            "branch": lambda _: read(spark.read.format("lakebed.entries").load("lakebed://bench/main")),
        }
    )
    return {
        **{f"{name}_s": seconds for name, seconds in times.items()},
        "entries_ratio": times["entries"] / times["native"],
        "three_ratio": times["three"] / times["native_three"],
        "files": len(files),
    }


def committing(spark: SparkSession, lake: lakebed.Lake, batches: int) -> dict[str, float]:
    """Seconds of a micro-batch: Spark's write of 1,000 rows, and the commit."""
    main = lake.repository("stream").create("local://stream").branch("main")
    sink = lakebed_spark.foreach_batch(main, "t", query_id="bench")
    frame = spark.range(_ROWS).selectExpr("id", "cast(id as double) as n").coalesce(1)
    times: list[float] = []
    replays: list[float] = []
    for number in range(batches):
        for found in (times, replays):
            began = time.perf_counter()
            sink(frame, number)
            found.append(time.perf_counter() - began)
    if len(main.log().all()) != batches + 1:
        raise SystemExit("not one commit for each batch")
    warm = times[_WARM:]
    return {
        "sink_p50_s": statistics.median(warm),
        "sink_max_s": max(warm),
        "replay_p50_s": statistics.median(replays[_WARM:]),
    }


def measure(folder: Path, entries: int, batches: int) -> dict[str, float]:
    """All of it."""
    asyncio.run(fill(folder / "history", entries))
    with servers.lakebed(folder / "history") as server:
        lake = lakebed.connect(*server.credentials)
        spark = lakebed_spark.session(
            spark_master="local[2]",
            spark_ui_enabled=False,
            spark_driver_memory="2g",
            spark_driver_bindAddress="127.0.0.1",
        )
        try:
            found: dict[str, Any] = reading(spark, lake, entries)
            return {**found, **committing(spark, lake, batches)}
        finally:
            spark.stop()


if __name__ == "__main__":
    where, *numbers = sys.argv[1:]
    wanted = [int(number) for number in numbers]
    print(json.dumps(measure(Path(where), *[*wanted, *(ENTRIES, BATCHES)[len(wanted) :]])))
