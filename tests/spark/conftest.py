"""One Spark session for all of these tests: two cores, three tries of a task, as a cluster would, and S3A."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import lakebed_spark
import pytest
from pyspark.sql import SparkSession

from tests.spark import jars


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session. `local[2,3]`: plain `local[2]` never tries a task again (facts/pyspark.md 2.5)."""
    session = lakebed_spark.session(
        spark_master="local[2,3]",
        spark_ui_enabled=False,
        spark_driver_memory="2g",
        spark_driver_bindAddress="127.0.0.1",
        **jars.s3a(),
        spark_sql_shuffle_partitions=2,
        spark_sql_session_timeZone="UTC",
        spark_sql_warehouse_dir=str(tmp_path_factory.mktemp("warehouse")),
    )
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    yield session
    session.stop()
