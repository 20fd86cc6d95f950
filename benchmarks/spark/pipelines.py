"""Pipelines on Spark, in PySpark's environment: `python -m benchmarks.spark.pipelines DIRECTORY [MILLIONS ...]`.

Prints JSON. Ingest of 1, 2 and 4 million listed objects into an empty branch, with `local[2]` and a real server: tasks,
registration, commit, all of it but the network. The listing is made up: pages of a thousand rows as a bucket's are,
through the code that reads those of a bucket. As information also 50,000 real files of a directory.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import lakebed
from lakebed_spark import pipelines

from benchmarks import servers
from benchmarks.made_bucket import PER_FOLDER, MadeBucket

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MILLION = 1_000_000
REAL = 50_000


def ingest(lake: lakebed.Lake, spark: SparkSession, objects: int) -> float:
    """Return the seconds for an ingest of `objects` objects."""
    name = f"bench-{objects}-{time.time_ns()}"
    main = lake.repository(name).create(f"local://{name}").branch("main")
    began = time.perf_counter()
    report = pipelines.ingest(main, MadeBucket("local://feed/made/", True, objects), spark=spark)
    seconds = time.perf_counter() - began
    if report.commit is None or report.added != objects:
        raise SystemExit(f"{report.added:,} of {objects:,} objects were ingested")
    return seconds


def real(lake: lakebed.Lake, spark: SparkSession, feed: Path) -> float:
    """Seconds for a directory of REAL files."""
    for number in range(REAL):
        folder = feed / f"{number // 500:04d}"
        if number % 500 == 0:
            folder.mkdir(parents=True)
        (folder / f"{number:08d}").touch()
    main = lake.repository("bench-real").create("local://bench-real").branch("main")
    began = time.perf_counter()
    report = pipelines.ingest(main, "local://feed/real/", spark=spark)
    seconds = time.perf_counter() - began
    if report.added != REAL:
        raise SystemExit(f"{report.added:,} of {REAL:,} files were ingested")
    return seconds


def measure(directory: Path, millions: list[int]) -> dict[str, float]:
    """Seconds by name."""
    from pyspark.sql import SparkSession

    os.environ["LAKEBED_INGEST_ALLOW"] = "local://feed/"
    with servers.lakebed(directory) as server:
        session = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
        spark = (
            session.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").getOrCreate()
        )
        try:
            with lakebed.connect(*server.credentials, timeout=300) as lake:
                ingest(lake, spark, PER_FOLDER)  # Python workers and compilers warm up
                found = {f"ingest_{count}m_s": ingest(lake, spark, count * MILLION) for count in millions}
                feed = directory / "objects" / "feed" / "real"
                found["real_s"] = real(lake, spark, feed)
                return found
        finally:
            spark.stop()


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), [int(word) for word in sys.argv[2:]] or [1, 2, 4])))
