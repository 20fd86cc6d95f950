"""Spark's S3A, of PySpark's own Hadoop version, on a branch by the S3 gateway: no package of ours is in the path."""

from __future__ import annotations

import lakebed
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.support.processes.server import RunningServer

ROWS = 10_000


@pytest.fixture
def place(server: RunningServer, repo: lakebed.Repository, s3a: SparkSession) -> str:
    """`s3a://` of the branch main; the session has settings for this bucket alone."""
    settings = {
        "endpoint": server.endpoint,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "access.key": server.access_key_id,
        "secret.key": server.secret_access_key,
    }
    for name, value in settings.items():
        s3a.conf.set(f"fs.s3a.bucket.{repo.id}.{name}", value)
    return f"s3a://{repo.id}/main"


def orders(spark: SparkSession) -> DataFrame:
    """Three days of them."""
    return spark.range(ROWS).selectExpr("id % 3 AS day", "id * 2 AS price")


def total(frame: DataFrame) -> int:
    """The sum of prices, which shows an extra or a missing row."""
    return int(frame.selectExpr("sum(price) AS s").collect()[0]["s"])


def test_write_read_overwrite_partitioned(place: str, repo: lakebed.Repository, spark: SparkSession) -> None:
    frame, table = orders(spark), f"{place}/orders"
    whole = ROWS * (ROWS - 1)
    frame.write.parquet(table)
    assert total(spark.read.parquet(table)) == whole
    frame.write.mode("overwrite").partitionBy("day").parquet(table)
    assert total(spark.read.parquet(table)) == whole
    assert spark.read.parquet(table).where("day = 1").count() == ROWS // 3
    frame.where("day = 0").write.mode("append").partitionBy("day").parquet(table)
    frame.where("day = 2").write.mode("overwrite").option("partitionOverwriteMode", "dynamic").partitionBy(
        "day"
    ).parquet(table)
    assert spark.read.parquet(table).count() == ROWS + frame.where("day = 0").count()
    left = {one.path.split("/")[1] for one in repo.branch("main").list("orders/")}
    assert left == {"_SUCCESS", "day=0", "day=1", "day=2"}


def test_the_magic_committer(place: str, repo: lakebed.Repository, spark: SparkSession) -> None:
    """Tasks upload parts and the job completes them: nothing is renamed, and a failed job has no _SUCCESS."""
    frame, table = orders(spark), f"{place}/magic"
    factory = {
        "mapreduce.outputcommitter.factory.scheme.s3a": "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory",
        "fs.s3a.committer.name": "magic",
    }
    frame.write.options(**factory).json(table)
    assert total(spark.read.json(table)) == ROWS * (ROWS - 1)
    main = repo.branch("main")
    success = main.get("magic/_SUCCESS")
    assert b'"committer":"magic"' in success.replace(b" ", b"")
    names = [one.path for one in main.list("magic/")]
    assert not [name for name in names if "__magic" in name or "_temporary" in name]
    failing = frame.selectExpr("CASE WHEN day = 2 THEN raise_error('no') ELSE 'x' END AS text")
    with pytest.raises(Exception, match="no"):
        failing.write.options(**factory).text(f"{place}/failed")
    # Hadoop 3.5 puts a small file of a task that is given up to its place, without parts: docs/s3.md describes it
    left = [one.path for one in main.list("failed/") if not one.path.endswith("/")]
    assert "failed/_SUCCESS" not in left
    assert not [name for name in left if "__magic" in name or "_temporary" in name]


def test_versions_are_read(place: str, repo: lakebed.Repository, spark: SparkSession) -> None:
    main = repo.branch("main")
    orders(spark).write.parquet(f"{place}/orders")
    main.commit("all")
    repo.tag("v1").create("main")
    orders(spark).where("day = 1").write.mode("overwrite").parquet(f"{place}/orders")
    base = place.removesuffix("/main")
    assert spark.read.parquet(f"{base}/v1/orders").count() == ROWS
    assert spark.read.parquet(f"{base}/main@/orders").count() == ROWS
    assert spark.read.parquet(f"{place}/orders").count() == ROWS // 3
