"""A repository in a bucket, through Spark's own S3A: tasks write straight into it, and read from it natively."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import lakebed
import lakebed_spark
import pytest
from pyspark.sql import SparkSession

from tests.support.s3 import S3Server, shared
from tests.support.server import running_server


@pytest.fixture(scope="module")
def bucket() -> S3Server:
    return shared("seaweedfs")


@pytest.fixture(scope="module")
def repo(bucket: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[lakebed.Repository]:
    """A repository whose namespace is in the bucket, on a server of its own."""
    settings = {
        "LAKEBED_OBJECTS_S3_ENDPOINT": bucket.endpoint,
        "LAKEBED_OBJECTS_S3_REGION": "us-east-1",
        "LAKEBED_OBJECTS_S3_ACCESS_KEY_ID": bucket.access_key_id,
        "LAKEBED_OBJECTS_S3_SECRET_ACCESS_KEY": bucket.secret_access_key,
        "LAKEBED_OBJECTS_S3_ALLOW_HTTP": "true",
    }
    with ExitStack() as stack:
        server = stack.enter_context(running_server(tmp_path_factory, environment=settings))
        lake = stack.enter_context(lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key))
        yield lake.repository("cloudy").create(bucket.namespace())


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    return repo.branch(f"b{uuid4().hex[:8]}").create("main")


def settings_of(bucket: S3Server, prefix: str) -> dict[str, str]:
    """What S3A needs to know."""
    return {
        f"{prefix}.endpoint": bucket.endpoint,
        f"{prefix}.endpoint.region": "us-east-1",
        f"{prefix}.access.key": bucket.access_key_id,
        f"{prefix}.secret.key": bucket.secret_access_key,
        f"{prefix}.path.style.access": "true",
    }


@pytest.fixture
def s3a(spark: SparkSession, bucket: S3Server) -> Iterator[SparkSession]:
    """The session, which knows the bucket: as a user's `spark.hadoop.fs.s3a...` settings would."""
    settings = settings_of(bucket, f"fs.s3a.bucket.{bucket.bucket}")
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield spark
    for name in settings:
        spark.conf.unset(name)


def test_write_and_read(
    s3a: SparkSession, bucket: S3Server, main: lakebed.Branch, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = s3a.range(0, 1000, 1, 4).selectExpr("id", "id % 3 as day")
    before = main.commit_info()
    first = lakebed_spark.write(frame, main, "t", partition_by=["day"])
    assert first.parents == (before.id,)
    second = lakebed_spark.write(frame.where("id < 30"), main, "t", partition_by=["day"])
    found = lakebed_spark.read(s3a, main, "t")
    assert (found.count(), found.where("day = 1").count()) == (1030, 343)
    plan = found.where("day = 1")._jdf.queryExecution().toString()
    assert "PartitionFilters: [isnotnull(day" in plan
    assert "s3a://" in plan
    assert lakebed_spark.read(s3a, main.repository.ref(first.id), "t").count() == 1000

    rows = [row for row in main.list("t/") if isinstance(row, lakebed.ObjectInfo)]
    store = bucket.boto()
    for row in rows:  # what was registered is what the bucket has
        name, _, key = row.physical_address.removeprefix("s3://").partition("/")
        head = store.head_object(Bucket=name, Key=key)
        assert (head["ContentLength"], head["ETag"].strip('"')) == (row.size, row.checksum)
    assert bytes(main.get(rows[0].path))[:4] == b"PAR1"

    lakebed_spark.write(frame.where("day = 1").limit(5), main, "t", mode="overwrite_partitions", partition_by="day")
    assert lakebed_spark.read(s3a, main, "t").groupBy("day").count().orderBy("day").collect() == [
        (0, 344), (1, 5), (2, 343)
    ]  # fmt: skip
    assert lakebed_spark.read(s3a, main.repository.ref(second.id), "t").count() == 1030
    said = plan + "".join(capfd.readouterr())
    assert bucket.secret_access_key not in said
    assert (main.repository._lake.settings.secret_access_key or "?") not in said


def test_a_transaction_and_what_others_wrote(s3a: SparkSession, main: lakebed.Branch) -> None:
    main.put("t/plain.csv", b"1,a\n2,b\n")
    main.commit("by hand")
    with lakebed_spark.transaction(s3a, main) as tx:
        tx.write(s3a.range(5).selectExpr("id", "'c' as s"), "t", format="csv")
        assert tx.read("t", format="csv", schema="id long, s string").count() == 7
        tx.delete("t/plain.csv")
    assert lakebed_spark.read(s3a, main, "t", format="csv", schema="id long, s string").count() == 5


def test_a_job_that_fails_leaves_the_branch(s3a: SparkSession, main: lakebed.Branch) -> None:
    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for batch in batches:
            yield batch
            if context.partitionId() == 1 and context.attemptNumber() < tries:
                raise RuntimeError("injected")

    tries = 1
    lakebed_spark.write(s3a.range(0, 100, 1, 2).mapInPandas(rows, "id long"), main, "t")
    assert sorted(row.id for row in lakebed_spark.read(s3a, main, "t").collect()) == list(range(100))
    tries, before = 9, main.commit_info()
    with pytest.raises(Exception, match="injected"):
        lakebed_spark.write(s3a.range(0, 100, 1, 2).mapInPandas(rows, "id long"), main, "t")
    assert main.commit_info().id == before.id
    assert list(main.repository.workspaces()) == []


def test_settings_as_options_of_one_write(
    spark: SparkSession, bucket: S3Server, repo: lakebed.Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    name = f"other-{uuid4().hex[:8]}"
    bucket.make_bucket(name)
    main = repo._lake.repository(name).create(f"s3://{name}/lake").branch("main")
    options: dict[str, Any] = settings_of(bucket, "fs.s3a")
    options["fs.s3a.impl.disable.cache"] = True  # else it is told once, and remembered for the bucket
    lakebed_spark.write(spark.range(10), main, "t", **options)
    found = lakebed_spark.read(spark, main, "t", **options)
    assert sorted(row.id for row in found.collect()) == list(range(10))
    parts: dict[str, Any] = {"fs.s3a.multipart.size": "5M", "fs.s3a.multipart.threshold": "5M"}
    large = spark.range(0, 1_000_000, 1, 1).selectExpr("id", "rand(1) as r")
    lakebed_spark.write(large, main, "large", **options, **parts)
    (row,) = main.list("large/")
    assert isinstance(row, lakebed.ObjectInfo)
    assert row.checksum.endswith("-3")  # an ETag of three parts
    assert len(main.get(row.path)) == row.size > 5 << 20
    assert lakebed_spark.read(spark, main, "large", **options).count() == 1_000_000
    found.explain(extended=True)
    said = "".join(capfd.readouterr())
    assert f"s3a://{name}/lake" in said
    assert bucket.secret_access_key not in said
