"""One Spark session with Delta Lake and S3A; the jars are fetched once, into a folder of this environment."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import lakebed
import pytest
from delta import configure_spark_with_delta_pip
from lakebed_spark._java import use_java
from pyspark.sql import SparkSession

from tests.spark import jars
from tests.support.processes.server import RunningServer


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Delta's own settings, and nothing of ours."""
    use_java()
    settings: dict[str, bool | float | int | str | None] = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.jars.ivy": str(Path(sys.prefix) / "delta-jars"),
        "spark.driver.extraClassPath": jars.s3a(jars.folder())["spark_driver_extraClassPath"],
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    builder = SparkSession.Builder().master("local[2]").config(map=settings)
    session = configure_spark_with_delta_pip(builder).getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def bucket(server: RunningServer, repo: lakebed.Repository, spark: SparkSession) -> str:
    """`s3a://` of a fresh repository, which the session may enter."""
    settings = {
        "endpoint": server.endpoint,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "access.key": server.access_key_id,
        "secret.key": server.secret_access_key,
    }
    for name, value in settings.items():
        spark.conf.set(f"fs.s3a.bucket.{repo.id}.{name}", value)
    return f"s3a://{repo.id}"
