"""Delta Lake by Spark on branches, through S3A and the gateway."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import lakebed
import pytest
from lakebed.errors import ConflictError
from pyspark.sql import DataFrame, SparkSession

APPENDS = 4

# py4j leaves the sockets of its threads to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")


def numbers(spark: SparkSession, count: int) -> DataFrame:
    """Rows 0 to `count`."""
    return spark.range(count).selectExpr("id", "id % 3 AS day")


def test_a_table_on_a_branch(bucket: str, repo: lakebed.Repository, spark: SparkSession) -> None:
    table = f"{bucket}/main/orders"
    numbers(spark, 100).write.format("delta").partitionBy("day").save(table)
    repo.branch("main").commit("version 0")
    repo.tag("v0").create("main")
    spark.sql(f"DELETE FROM delta.`{table}` WHERE day = 2")
    spark.sql(f"UPDATE delta.`{table}` SET id = 1000 WHERE id = 0")
    numbers(spark, 102).createOrReplaceTempView("fresh")
    spark.sql(f"MERGE INTO delta.`{table}` t USING fresh s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")
    rows = spark.read.format("delta").load(table)
    assert sorted(row["id"] for row in rows.collect()) == [*range(102), 1000]
    assert spark.read.format("delta").option("versionAsOf", 0).load(table).count() == 100
    assert spark.read.format("delta").load(f"{bucket}/v0/orders").count() == 100
    spark.sql(f"OPTIMIZE delta.`{table}`")
    assert spark.read.format("delta").load(table).count() == 103
    log = [one.path for one in repo.branch("main").list("orders/_delta_log/") if one.path.endswith(".json")]
    assert len(log) == 5


def test_writers_of_one_driver_lose_nothing(bucket: str, repo: lakebed.Repository, spark: SparkSession) -> None:
    table = f"{bucket}/main/events"
    numbers(spark, 1).write.format("delta").save(table)

    def append(_: int) -> None:
        numbers(spark, 10).write.format("delta").mode("append").save(table)

    with ThreadPoolExecutor(APPENDS) as threads:
        list(threads.map(append, range(APPENDS)))
    assert spark.read.format("delta").load(table).count() == 1 + 10 * APPENDS
    assert spark.sql(f"DESCRIBE HISTORY delta.`{table}`").count() == 1 + APPENDS


def test_two_versions_of_one_log_conflict(bucket: str, repo: lakebed.Repository, spark: SparkSession) -> None:
    numbers(spark, 10).write.format("delta").save(f"{bucket}/main/events")
    repo.branch("main").commit("version 0")
    dev = repo.branch("dev").create("main")
    for ref in ("main", "dev"):
        numbers(spark, 5).write.format("delta").mode("append").save(f"{bucket}/{ref}/events")
        repo.branch(ref).commit("version 1")
    with pytest.raises(ConflictError, match=r"events/_delta_log/0+1\.json.*'events' is a Delta table"):
        dev.merge_into("main")
    for ref in ("main", "dev"):
        assert spark.read.format("delta").load(f"{bucket}/{ref}/events").count() == 15
    dev.merge_into("main", resolve={"events/**": "source"})
    spark.sql("CLEAR CACHE")
    assert spark.read.format("delta").load(f"{bucket}/main/events").count() == 15
