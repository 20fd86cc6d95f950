"""A driver over Spark Connect, in a process of its own: it prints what it saw, as one line of JSON.

Credentials and the repository's name come in the environment, as a user's would.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import lakebed
import lakebed_spark
from lakebed_spark import pipelines
from pyspark.sql import DataFrame, SparkSession

from tests.spark import streams
from tests.support.waiting import PATIENCE


def copy(spark: SparkSession, name: str) -> None:
    """A stream out of one table into another of its branch: the second time its own commit is all that came."""
    orders = spark.readStream.format("lakebed").schema("id long, day long").load(f"lakebed://{name}/main/orders")
    sink = lakebed_spark.foreach_batch(f"lakebed://{name}/main/copy", partition_by="day", query_id="copying")
    writer = orders.writeStream.foreachBatch(sink).option("checkpointLocation", os.environ["CHECKPOINT"])
    streams.run(writer)


def jobs(spark: SparkSession, main: lakebed.Branch, feed: str, to: str) -> dict[str, object]:
    """All pipelines, their tasks on Spark's server. What only reports is compared with threads of this process."""

    uri = f"lakebed://{main.repository.id}/main"

    def same(job: Callable[..., object], target: str, **options: object) -> bool:
        return job(f"{uri}/{target}", spark=spark, **options) == job(f"{uri}/{target}", **options)

    equal = [
        same(pipelines.profile, "", commits=2),
        same(pipelines.dedupe, "", dry_run=True),
        same(pipelines.dedupe, "", dry_run=True, verify="all"),
        same(pipelines.compact, "t", dry_run=True),
        same(pipelines.ingest, "in", source=feed, dry_run=True),
    ]
    ingested = pipelines.ingest(f"{uri}/in", feed, spark=spark)
    shared = pipelines.dedupe(main, spark=spark)
    compacted = pipelines.compact(f"{uri}/t", spark=spark)
    exported = pipelines.export(main, to, spark=spark)
    return {
        "equal": equal,
        "did": [ingested.added, shared.shared, compacted.files, exported.copied],
        "log": [commit.message.split()[0] for commit in main.log(limit=3)],
        "verb": verb(spark, f"{main.repository.id}/main"),
    }


def verb(spark: SparkSession, place: str) -> int:
    """How many files the command counts, as a client of the same server."""
    inner: Any = spark
    url = f"sc://{inner.client.host}"
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_REMOTE"}
    command = [sys.executable, "-m", "lakebed.cli", "spark", "profile", place, "--json", "--master", url]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=2 * PATIENCE, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return int(json.loads(done.stdout)["files"])


def main() -> None:
    spark = SparkSession.builder.remote("local[2]").getOrCreate()
    name = os.environ["REPOSITORY"]
    main_branch = lakebed.connect().repository(name).branch("main")
    frame = spark.range(100).selectExpr("id", "id % 2 as day")
    first = lakebed_spark.write(frame, f"lakebed://{name}/main/orders", partition_by=["day"], message="over connect")
    with lakebed_spark.transaction(spark, main_branch, message="both") as tx:
        tx.write(frame.where("id < 10"), "few")
        tx.write(frame.where("id >= 90"), "orders", partition_by=["day"])
    read = lakebed_spark.read(spark, f"lakebed://{name}/main/orders")
    lakebed_spark.register(spark)
    lakebed_spark.views(spark, main_branch, prefix="lake_")
    for _ in range(2):
        copy(spark, name)

    def history(table: str, ref: str, **options: str) -> DataFrame:
        return spark.read.format(f"lakebed.{table}").options(**options).load(f"lakebed://{name}/{ref}".rstrip("/"))

    seen = {
        "kind": type(spark).__module__,
        "first": first.message,
        "rows": read.count(),
        "columns": read.columns,
        "one_day": read.where("day = 1").count(),
        "before": lakebed_spark.read(spark, f"lakebed://{name}/main~2/orders").count(),
        "few": spark.read.format("lakebed").load(f"lakebed://{name}/main/few").count(),
        "entries": spark.read.format("lakebed.entries").load(f"lakebed://{name}/main~1/few").count(),
        "messages": [row.message for row in history("commits", "main").orderBy("generation").collect()],
        "changes": sorted({row.path.split("/")[0] for row in history("changes", "main").collect()}),
        "branches": [row.id for row in history("branches", "").collect()],
        "diff": history("diff", "main", other="main~1").where("path LIKE 'copy/%'").count() > 0,
        "blame": [
            row.message
            for row in spark.sql("SELECT DISTINCT message FROM lake_blame WHERE path LIKE 'few/%'").collect()
        ],
        "copied": lakebed_spark.read(spark, main_branch, "copy").count(),
        "jobs": jobs(
            spark,
            lakebed.connect().repository(os.environ["STOCKED"]).branch("main"),
            os.environ["FEED"],
            os.environ["EXPORT"],
        ),
    }
    print("SEEN " + json.dumps(seen), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
