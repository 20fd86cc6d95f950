"""A driver over Spark Connect, in a process of its own: it prints what it saw, as one line of JSON.

Credentials and the repository's name come in the environment, as a user's would.
"""

from __future__ import annotations

import json
import os

import lakebed
import lakebed_spark
from pyspark.sql import SparkSession


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
    seen = {
        "kind": type(spark).__module__,
        "first": first.message,
        "rows": read.count(),
        "columns": read.columns,
        "one_day": read.where("day = 1").count(),
        "before": lakebed_spark.read(spark, f"lakebed://{name}/main~1/orders").count(),
        "few": spark.read.format("lakebed").load(f"lakebed://{name}/main/few").count(),
    }
    print("SEEN " + json.dumps(seen), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
