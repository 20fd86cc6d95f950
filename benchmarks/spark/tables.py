"""Compares Spark's tables on a branch with plain Spark on the same files: reads, writes, resolving. Needs PySpark.

    python -m benchmarks.spark.tables FOLDER [ROWS] [FILES]

Prints JSON. `ROWS` (5,000,000) in 50 files of 10 partitions; the ways take turns, medians of the rounds. What lakebed
wrote is durable when the clock stops; `plain` is what `df.write.parquet` takes, which leaves syncing to the system, and
`synced` the same with a sync at the end. `FILES` (100,000) objects are resolved: listed, and sorted into what Spark
opens. A count of 0 leaves that part out.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lakebed
import lakebed_spark
from lakebed.model import ObjectInfo
from lakebed_spark._tables.resolve import resolve

from benchmarks import servers
from benchmarks.sdk.dataframes import compare

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS, FILES = 5_000_000, 100_000
_NONE = "b026324c6904b2a9cb4b88d6d61c81d1"


def source(spark: SparkSession, rows: int) -> DataFrame:
    """Numbers, times, text; in memory, so that only writing is timed."""
    frame = spark.range(0, rows, 1, 5).selectExpr(
        "id", "timestamp_seconds(1700000000 + id) as ts", "cast(id % 10 as int) as k", "rand(1) as v", "rand(2) as w",
        "concat('item-', id % 1000) as s",
    )  # fmt: skip
    frame = frame.cache()
    frame.count()
    return frame


def speed(spark: SparkSession, lake: lakebed.Lake, folder: Path, rows: int) -> dict[str, float]:
    """Seconds of each way."""
    main = lake.repository("bench").create("local://bench").branch("main")
    frame = source(spark, rows)

    def plain(name: str, synced: bool = False) -> None:
        frame.write.partitionBy("k").parquet(str(folder / name))
        if synced:
            os.sync()

    written = compare(
        {
            "plain": lambda turn: plain(f"plain-{turn}"),
            "lake": lambda turn: lakebed_spark.write(frame, main, f"t-{turn}", partition_by="k"),
            "synced": lambda turn: plain(f"synced-{turn}", synced=True),
        }
    )
    frame.unpersist()

    def read(found: DataFrame) -> None:
        found.write.format("noop").mode("overwrite").save()

    def count(found: DataFrame) -> None:
        if found.filter("k = 3").count() != rows // 10:
            raise SystemExit("rows are missing")

    place = str(folder / "plain-1")
    reads = compare(
        {
            "plain": lambda _: read(spark.read.parquet(place)),
            "lake": lambda _: read(lakebed_spark.read(spark, main, "t-1")),
            "plain_part": lambda _: count(spark.read.parquet(place)),
            "lake_part": lambda _: count(lakebed_spark.read(spark, main, "t-1")),
        }
    )
    return {
        **{f"write_{name}_s": seconds for name, seconds in written.items()},
        **{f"read_{name}_s": seconds for name, seconds in reads.items()},
        "write_ratio": written["lake"] / written["plain"],
        "write_synced_ratio": written["lake"] / written["synced"],
        "read_ratio": reads["lake"] / reads["plain"],
        "read_part_ratio": reads["lake_part"] / reads["plain_part"],
    }


def resolving(lake: lakebed.Lake, files: int) -> dict[str, float]:
    """Return the seconds to resolve a table of `files` files in 365 partitions, the median of five."""
    main = lake.repository("many").create("local://many").branch("main")
    with main.workspace("many") as workspace:
        info = workspace.info()
        workspace.register([*_made(info.storage_prefix, Path(info.local_path), files)])
    access = lakebed_spark.Access.of(main)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        found = resolve(access.connect(), lakebed_spark.locate(main, "t"), "parquet", {})
        times.append(time.perf_counter() - began)
        if len(found.hive) != files:
            raise SystemExit("files are missing")
    return {"resolve_s": sorted(times)[2], "resolve_files": files}


def _made(prefix: str, folder: Path, files: int) -> Iterator[ObjectInfo]:
    """Files of two bytes: nothing reads them."""
    now = datetime.now(UTC)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        day = number * 365 // files
        path = f"t/day={day:03d}/part-{number:06d}.parquet"
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"1\n")
        yield ObjectInfo(path, 2, _NONE, now, physical_address=prefix + path)


def measure(folder: Path, rows: int, files: int) -> dict[str, float]:
    """All of it."""
    with servers.lakebed(folder / "spark") as server:
        lake = lakebed.connect(*server.credentials)
        found: dict[str, Any] = resolving(lake, files) if files else {}
        if not rows:
            return found
        spark = lakebed_spark.session(
            spark_master="local[2]",
            spark_ui_enabled=False,
            spark_driver_memory="4g",
            spark_driver_bindAddress="127.0.0.1",
        )
        try:
            return {**found, **speed(spark, lake, folder, rows)}
        finally:
            spark.stop()


if __name__ == "__main__":
    where, *numbers = sys.argv[1:]
    wanted = [int(number) for number in numbers]
    Path(where).mkdir(parents=True, exist_ok=True)
    print(json.dumps(measure(Path(where), *[*wanted, *(ROWS, FILES)[len(wanted) :]])))
