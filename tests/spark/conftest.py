"""One Spark session for all of these tests: two cores, three tries of a task, as a cluster would."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import lakebed_spark
import pytest
from pyspark.sql import SparkSession

from tests.spark import classes, jars, workers
from tests.support.processes.server import RunningServer, running_server

os.environ.setdefault("SPARK_LAUNCHER_OPTS", classes.HASTY)
for _name in ("SPARK_SUBMIT_OPTS", "SPARK_DAEMON_JAVA_OPTS"):
    os.environ.setdefault(_name, classes.options())


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The server of these tests. It may read below `local://feed`."""
    with running_server(tmp_path_factory, environment={"LAKEBED_INGEST_ALLOW": "local://feed/"}) as started:
        yield started


@pytest.fixture(scope="session")
def s3a_jars(request: pytest.FixtureRequest) -> Path | jars.JarsMissingError | None:
    """The folder of the jars of S3A, or why they could not be fetched; None when no test of this run opens `s3a://`."""
    if not any("s3a" in getattr(item, "fixturenames", ()) for item in request.session.items):
        return None
    try:
        return jars.folder()
    except jars.JarsMissingError as error:
        return error


@pytest.fixture(scope="session")
def spark(
    tmp_path_factory: pytest.TempPathFactory, s3a_jars: Path | jars.JarsMissingError | None
) -> Iterator[SparkSession]:
    """The session. `local[2,3]`: plain `local[2]` never tries a task again (facts/pyspark.md 2.5)."""
    os.environ["PYSPARK_PYTHON"] = workers.python(tmp_path_factory.mktemp("workers"))
    session = lakebed_spark.session(
        spark_master="local[2,3]",
        spark_ui_enabled=False,
        spark_driver_memory="2g",
        spark_driver_bindAddress="127.0.0.1",
        **(jars.s3a(s3a_jars) if isinstance(s3a_jars, Path) else {}),
        spark_sql_shuffle_partitions=2,
        spark_sql_session_timeZone="UTC",
        spark_sql_warehouse_dir=str(tmp_path_factory.mktemp("warehouse")),
    )
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    yield session
    session.stop()


@pytest.fixture
def s3a(spark: SparkSession, s3a_jars: Path | jars.JarsMissingError | None) -> SparkSession:
    """The session, for tests that open `s3a://`: only these fail where its jars cannot be fetched."""
    if isinstance(s3a_jars, jars.JarsMissingError):
        raise s3a_jars
    return spark
