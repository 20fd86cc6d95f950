"""A repository in a bucket, through Spark's own S3A: tasks write straight into it, and read from it natively."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import lakebed
import lakebed_spark
import pytest
from lakebed_spark._staging import WriteRequest, stage
from pyspark.sql import SparkSession

from tests.spark import drivers
from tests.support.processes.server import RunningServer, lake_of, running_server
from tests.support.services.s3 import S3Server, shared


@pytest.fixture(scope="module")
def bucket() -> S3Server:
    return shared("seaweedfs")


@pytest.fixture(scope="module")
def server(bucket: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that knows the bucket."""
    settings = {
        "LAKEBED_OBJECTS_S3_ENDPOINT": bucket.endpoint,
        "LAKEBED_OBJECTS_S3_REGION": "us-east-1",
        "LAKEBED_OBJECTS_S3_ACCESS_KEY_ID": bucket.access_key_id,
        "LAKEBED_OBJECTS_S3_SECRET_ACCESS_KEY": bucket.secret_access_key,
        "LAKEBED_OBJECTS_S3_ALLOW_HTTP": "true",
    }
    with running_server(tmp_path_factory, environment=settings) as started:
        yield started


@pytest.fixture(scope="module")
def repo(bucket: S3Server, server: RunningServer) -> Iterator[lakebed.Repository]:
    """A repository whose namespace is in the bucket."""
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        yield lake.repository("cloudy").create(bucket.namespace())


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    return repo.branch(f"b{uuid4().hex[:16]}").create("main")


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
def cloudy(s3a: SparkSession, bucket: S3Server) -> Iterator[SparkSession]:
    """The session, which knows the bucket: as a user's `spark.hadoop.fs.s3a...` settings would."""
    settings = settings_of(bucket, f"fs.s3a.bucket.{bucket.bucket}")
    for name, value in settings.items():
        s3a.conf.set(name, value)
    yield s3a
    for name in settings:
        s3a.conf.unset(name)


def test_write_and_read(
    cloudy: SparkSession, bucket: S3Server, main: lakebed.Branch, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = cloudy.range(0, 1000, 1, 4).selectExpr("id", "id % 3 as day")
    before = main.commit_info()
    first = lakebed_spark.write(frame, main, "t", partition_by=["day"])
    assert first.parents == (before.id,)
    second = lakebed_spark.write(frame.where("id < 30"), main, "t", partition_by=["day"])
    found = lakebed_spark.read(cloudy, main, "t")
    assert (found.count(), found.where("day = 1").count()) == (1030, 343)
    plan = found.where("day = 1")._jdf.queryExecution().toString()
    assert "PartitionFilters: [isnotnull(day" in plan
    assert "s3a://" in plan
    assert lakebed_spark.read(cloudy, main.repository.ref(first.id), "t").count() == 1000

    rows = [row for row in main.list("t/") if isinstance(row, lakebed.ObjectInfo)]
    store = bucket.boto()
    for row in rows:  # what was registered is what the bucket has
        name, _, key = row.physical_address.removeprefix("s3://").partition("/")
        head = store.head_object(Bucket=name, Key=key)
        assert (head["ContentLength"], head["ETag"].strip('"')) == (row.size, row.checksum)
    assert bytes(main.get(rows[0].path))[:4] == b"PAR1"

    lakebed_spark.write(frame.where("day = 1").limit(5), main, "t", mode="overwrite_partitions", partition_by="day")
    assert lakebed_spark.read(cloudy, main, "t").groupBy("day").count().orderBy("day").collect() == [
        (0, 344), (1, 5), (2, 343)
    ]  # fmt: skip
    assert lakebed_spark.read(cloudy, main.repository.ref(second.id), "t").count() == 1030
    said = plan + "".join(capfd.readouterr())
    assert bucket.secret_access_key not in said
    assert (main._transport.settings.secret_access_key or "?") not in said


def test_a_transaction_and_what_others_wrote(cloudy: SparkSession, main: lakebed.Branch) -> None:
    main.put("t/plain.csv", b"1,a\n2,b\n")
    main.commit("by hand")
    with lakebed_spark.transaction(cloudy, main) as tx:
        tx.write(cloudy.range(5).selectExpr("id", "'c' as s"), "t", format="csv")
        assert tx.read("t", format="csv", schema="id long, s string").count() == 7
        tx.delete("t/plain.csv")
    assert lakebed_spark.read(cloudy, main, "t", format="csv", schema="id long, s string").count() == 5


def test_a_job_that_fails_leaves_the_branch(cloudy: SparkSession, main: lakebed.Branch) -> None:
    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for batch in batches:
            yield batch
            if context.partitionId() == 1 and context.attemptNumber() < tries:
                raise RuntimeError("injected")

    tries = 1
    lakebed_spark.write(cloudy.range(0, 100, 1, 2).mapInPandas(rows, "id long"), main, "t")
    assert sorted(row.id for row in lakebed_spark.read(cloudy, main, "t").collect()) == list(range(100))
    tries, before = 9, main.commit_info()
    with pytest.raises(Exception, match="injected"):
        lakebed_spark.write(cloudy.range(0, 100, 1, 2).mapInPandas(rows, "id long"), main, "t")
    assert main.commit_info().id == before.id
    assert list(main.repository.workspaces()) == []


def test_tasks_that_are_begun_twice_and_a_driver_that_is_killed(
    cloudy: SparkSession, bucket: S3Server, server: RunningServer, repo: lakebed.Repository, tmp_path: Path
) -> None:
    """One driver meets both: each try of a slow task writes its rows; then it dies between a write and its commit."""
    main = lake_of(repo).repository("killed").create(bucket.namespace()).branch("main")
    process = drivers.start(server, "in-a-bucket", "killed", str(tmp_path), s3a=settings_of(bucket, "fs.s3a"))
    output = drivers.finish(process, 600)
    assert process.returncode == -signal.SIGKILL, output

    assert {"0", "1"} <= {mark.name for mark in tmp_path.iterdir()}
    assert sorted(row.id for row in lakebed_spark.read(cloudy, main, "t").collect()) == list(range(400))
    assert len(list(main.list("t/"))) == 4

    before = main.commit_info()  # of the second write nothing is seen, though all of it is in the bucket
    assert list(main.list("u")) == []
    (left,) = main.repository.workspaces()
    _, _, prefix = left.storage_prefix.removeprefix("s3://").partition("/")
    written = bucket.boto().list_objects_v2(Bucket=bucket.bucket, Prefix=prefix)["Contents"]
    assert [one["Key"] for one in written if one["Key"].endswith(".parquet")]
    again = lakebed_spark.write(cloudy.range(100), main, "u", key=drivers.KEY)
    assert again.parents == (before.id,)
    assert sorted(row.id for row in lakebed_spark.read(cloudy, main, "u").collect()) == list(range(100))
    assert list(main.repository.workspaces()) == []


def test_over_connect_a_bucket_is_refused_before_anything_is_written(bucket: S3Server, main: lakebed.Branch) -> None:
    """The session is a fake that is never called."""
    remote: Any = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    workspace = main.workspace("refused").create()
    request = WriteRequest(lakebed_spark.locate(main, "t"))
    with pytest.raises(lakebed.UnsupportedOperationError, match=r"Spark Connect .*spark-submit") as caught:
        stage(remote, object(), workspace, request)  # type: ignore[arg-type]
    assert (caught.value.path, caught.value.repository) == ("t", main.repository.id)
    workspace.drop()


def test_settings_as_options_of_one_write(
    s3a: SparkSession, bucket: S3Server, repo: lakebed.Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    name = f"other-{uuid4().hex[:16]}"
    bucket.make_bucket(name)
    main = lake_of(repo).repository(name).create(f"s3://{name}/lake").branch("main")
    options: dict[str, Any] = settings_of(bucket, "fs.s3a")
    options["fs.s3a.impl.disable.cache"] = True  # otherwise the settings are read once per bucket
    lakebed_spark.write(s3a.range(10), main, "t", **options)
    found = lakebed_spark.read(s3a, main, "t", **options)
    assert sorted(row.id for row in found.collect()) == list(range(10))
    parts: dict[str, Any] = {"fs.s3a.multipart.size": "5M", "fs.s3a.multipart.threshold": "5M"}
    large = s3a.range(0, 1_000_000, 1, 1).selectExpr("id", "rand(1) as r")
    lakebed_spark.write(large, main, "large", **options, **parts)
    (row,) = main.list("large/")
    assert isinstance(row, lakebed.ObjectInfo)
    assert row.checksum.endswith("-3")  # an ETag of three parts
    assert len(main.get(row.path)) == row.size > 5 << 20
    assert lakebed_spark.read(s3a, main, "large", **options).count() == 1_000_000
    found.explain(extended=True)
    said = "".join(capfd.readouterr())
    assert f"s3a://{name}/lake" in said
    assert bucket.secret_access_key not in said
