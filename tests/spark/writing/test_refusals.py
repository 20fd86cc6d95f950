"""A user without rights in Spark: by the SDK, by Spark's own reader, and by S3A with temporary keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import uuid4

import lakebed
import lakebed_spark
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.support.processes.server import RunningServer

ROWS = 2


@pytest.fixture
def top(repo: lakebed.Repository) -> str:
    """A branch with one table."""
    repo.branch("main").write_parquet("orders/a.parquet", pd.DataFrame({"id": range(ROWS)}))
    return f"{repo.id}/main"


@pytest.fixture
def ana(lake: lakebed.Lake, server: RunningServer) -> Iterator[lakebed.Lake]:
    """A connection of a user without rights."""
    user = f"ana-{uuid4().hex[:8]}"
    lake.users.create(user)
    key = lake.keys.create(user)
    with lakebed.connect(server.endpoint, key.id, key.secret) as connected:
        yield connected


def refuses(run: Callable[[], object], needs: str) -> None:
    """The refusal names this permission and this resource (a pattern)."""
    with pytest.raises(PermissionError, match=f"needs {needs}") as caught:
        run()
    assert isinstance(caught.value, lakebed.PermissionDeniedError)


def delete_in_a_transaction(spark: SparkSession, branch: lakebed.Branch) -> None:
    with lakebed_spark.transaction(spark, branch) as tx:
        tx.delete("orders/")


def write_in_a_transaction(frame: DataFrame, workspace: lakebed.Workspace) -> None:
    with lakebed_spark.transaction(frame.sparkSession, workspace) as tx:
        tx.write(frame, "new")


def test_a_user_without_rights_reads_and_writes_nothing(
    spark: SparkSession, ana: lakebed.Lake, repo: lakebed.Repository, top: str
) -> None:
    branch = ana.repository(repo.id).branch("main")
    to_read = f"fs:ReadCommit on repository/{repo.id}$"
    refuses(lambda: lakebed_spark.read(spark, branch, "orders"), to_read)
    refuses(lambda: lakebed_spark.read(spark, f"lakebed://{top}/orders", lake=ana), to_read)
    to_write = f"fs:ReadBranch on repository/{repo.id}/branch/main"
    refuses(lambda: lakebed_spark.write(spark.range(3), branch, "new"), to_write)
    refuses(lambda: delete_in_a_transaction(spark, branch), to_write)
    assert [one.path for one in repo.branch("main").list()] == ["orders/a.parquet"]


def test_a_reader_of_the_repository_reads_and_is_refused_before_a_job_runs(
    spark: SparkSession, ana: lakebed.Lake, lake: lakebed.Lake, repo: lakebed.Repository, top: str
) -> None:
    lake.users.grant(ana.user().id, repo.id, "reader")
    branch = ana.repository(repo.id).branch("main")
    assert lakebed_spark.read(spark, branch, "orders").count() == ROWS
    rows, by_day = spark.range(3), spark.range(3).selectExpr("id", "id as day")
    own = branch.workspace().create()
    jobs = set(spark.sparkContext.statusTracker().getJobIdsForGroup())
    written = f"fs:WriteObject on repository/{repo.id}/object"
    refuses(lambda: lakebed_spark.write(rows, branch, "new"), f"{written}/new/part-")
    refuses(lambda: lakebed_spark.write(rows, branch, "orders", mode="overwrite"), f"{written}/orders/part-")
    refuses(lambda: write_in_a_transaction(rows, own), f"{written}/new/part-")
    committed = f"fs:CreateCommit on repository/{repo.id}/branch/main"
    refuses(lambda: lakebed_spark.write(by_day, branch, "days", partition_by="day"), committed)
    refuses(lambda: delete_in_a_transaction(spark, branch), committed)
    assert set(spark.sparkContext.statusTracker().getJobIdsForGroup()) == jobs
    assert [one.path for one in repo.branch("main").list()] == ["orders/a.parquet"]


def test_rights_of_some_paths_and_branches_suffice(
    spark: SparkSession, ana: lakebed.Lake, lake: lakebed.Lake, repo: lakebed.Repository, top: str
) -> None:
    user, dev = ana.user().id, repo.branch("dev-1").create("main")
    of = f"arn:lakefs:fs:::repository/{repo.id}"
    days = {"effect": "allow", "action": ["fs:WriteObject"], "resource": f"{of}/object/days/day=*"}
    dates = {**days, "resource": f"{of}/object/all/*", "condition": {"StringLike": {"fs:Branch": ["dev-*"]}}}
    commit = {**dates, "action": ["fs:CreateCommit"], "resource": f"{of}/branch/*"}
    lake.users.grant(user, repo.id, "reader")
    lake.policies.create(f"{user}-days", [days, dates, commit])
    lake.users.attach(user, f"{user}-days")
    rows = spark.range(3).selectExpr("id", "id as day")
    there = ana.repository(repo.id).branch(dev.id)
    lakebed_spark.write(rows, there, "days", partition_by="day")
    lakebed_spark.write(rows, there, "all")
    main = ana.repository(repo.id).branch("main")
    refuses(lambda: lakebed_spark.write(rows, main, "all"), f"fs:WriteObject on repository/{repo.id}/object/all/part-")
    committed = f"fs:CreateCommit on repository/{repo.id}/branch/main"
    refuses(lambda: lakebed_spark.write(rows, main, "days", partition_by="day"), committed)


def test_the_reader_of_spark_reports_the_refusal(
    spark: SparkSession, ana: lakebed.Lake, lake: lakebed.Lake, repo: lakebed.Repository, top: str
) -> None:
    lakebed_spark.register(spark, ana)
    try:
        with pytest.raises(Exception, match=f"PermissionDeniedError: .* needs fs:.* on repository/{repo.id}"):
            spark.read.format("lakebed").load(f"lakebed://{top}/orders").count()
    finally:
        lakebed_spark.register(spark, lake)
    assert spark.read.format("lakebed").load(f"lakebed://{top}/orders").count() == ROWS


def test_temporary_keys_of_s3a_read_and_are_refused(
    s3a: SparkSession, server: RunningServer, ana: lakebed.Lake, lake: lakebed.Lake, repo: lakebed.Repository, top: str
) -> None:
    other = f"other-{uuid4().hex[:8]}"
    lake.repository(other).create(f"local://{other}").branch("main").put("orders/a.parquet", b"PAR1")
    lake.users.grant(ana.user().id, repo.id, "reader")
    temporary = ana.keys.temporary(3600)
    for bucket in (repo.id, other):
        settings = {
            "endpoint": server.endpoint,
            "endpoint.region": "us-east-1",
            "path.style.access": "true",
            "connection.ssl.enabled": "false",
            "aws.credentials.provider": "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider",
            "access.key": temporary.id,
            "secret.key": temporary.secret,
            "session.token": temporary.session_token,
        }
        for name, value in settings.items():
            s3a.conf.set(f"fs.s3a.bucket.{bucket}.{name}", value)
    assert s3a.read.parquet(f"s3a://{top}/orders").count() == ROWS
    with pytest.raises(Exception, match=rf"needs fs:WriteObject on repository/{repo.id}/object/new"):
        s3a.range(3).write.parquet(f"s3a://{top}/new")
    # S3A asks with HEAD, and an answer to HEAD has no text
    with pytest.raises(Exception, match=rf"AccessDeniedException: s3a://{other}/main/orders: .*Forbidden"):
        s3a.read.parquet(f"s3a://{other}/main/orders").count()
    assert [one.path for one in repo.branch("main").list()] == ["orders/a.parquet"]
