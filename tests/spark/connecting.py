"""A driver over Spark Connect, in a process of its own: it prints what it saw, as one line of JSON.

Credentials and the repository's name come in the environment, as a user's would.
"""

from __future__ import annotations

import json
import os

import lakebed
import lakebed_spark
from pyspark.sql import DataFrame, SparkSession


def copy(spark: SparkSession, name: str) -> None:
    """A stream out of one table into another of its branch: the second time its own commit is all that came."""
    orders = spark.readStream.format("lakebed").schema("id long, day long").load(f"lakebed://{name}/main/orders")
    sink = lakebed_spark.foreach_batch(f"lakebed://{name}/main/copy", partition_by="day", query_id="copying")
    writer = orders.writeStream.foreachBatch(sink).option("checkpointLocation", os.environ["CHECKPOINT"])
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination(120)
    if query.exception() is not None:
        raise RuntimeError(query.exception())


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
    }
    print("SEEN " + json.dumps(seen), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
