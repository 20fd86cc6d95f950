"""What the package needs from a Spark session: a check of PySpark's version, settings, file systems.

Works over Spark Connect too. There is no JVM there, so a setting answers instead.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakebed.errors import ConfigurationError
from lakebed_format.installation import install_command

from lakebed_spark._java import use_java

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OLDEST = (4, 1)
"""The oldest supported PySpark."""

_LISTING = "spark.sql.sources.parallelPartitionDiscovery.threshold"
_MANY = str(1 << 30)
_SETTING = threading.RLock()


def check_pyspark() -> None:
    """Raise ConfigurationError when PySpark is missing or too old."""
    try:
        import pyspark
    except ImportError:
        raise ConfigurationError(
            f"PySpark is not installed: {install_command('spark')}", kind="spark_missing"
        ) from None
    found = re.match(r"(\d+)\.(\d+)", pyspark.__version__)
    if found is None or (int(found[1]), int(found[2])) < OLDEST:
        raise ConfigurationError(
            f"PySpark {pyspark.__version__} is too old, 4.1 or newer is required: {install_command('spark')}",
            kind="spark_version",
        )


def session(**settings: str | int | bool) -> SparkSession:
    """Return the running session, or a new one for this machine, with Java found and this Python for the workers.

    Settings are written with `_` for `.`: `session(spark_driver_memory="4g")`. The default of `spark_master` is
    `local[*]`. Raises ConfigurationError when PySpark or Java is missing.
    """
    check_pyspark()
    from pyspark.sql import SparkSession

    use_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("lakebed")
    given = {name.replace("_", "."): shown(value) for name, value in settings.items()}
    for name, text in {"spark.master": "local[*]", **given}.items():
        builder = builder.config(name, text)
    return builder.getOrCreate()


def check_session(spark: object) -> SparkSession:
    """Raise ConfigurationError for other values than a session. Also raises what `check_pyspark` raises."""
    check_pyspark()
    if not (hasattr(spark, "read") and hasattr(spark, "createDataFrame")):
        raise ConfigurationError(
            f"the first argument must be a SparkSession, not {type(spark).__name__}: lakebed_spark.session() "
            "creates one"
        )
    return spark  # type: ignore[return-value]


def session_of(frame: DataFrame) -> SparkSession:
    """Return the session of a frame. Raises ConfigurationError for other values."""
    check_pyspark()
    session = getattr(frame, "sparkSession", None)
    if session is None or not hasattr(frame, "write"):
        raise ConfigurationError(
            f"expected a Spark DataFrame to write, not {type(frame).__name__}: spark.createDataFrame(...) creates one"
        )
    return session  # type: ignore[no-any-return]


def is_remote(spark: SparkSession) -> bool:
    """Whether this is Spark Connect: there is no JVM."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


@contextmanager
def listed_here(spark: SparkSession) -> Iterator[None]:
    """Let Spark list files in the driver while paths are loaded, not in a job: a job takes 7 s for 4,000 files, this
    0.5 s.
    """
    with _SETTING, setting(spark, _LISTING, _MANY):
        yield


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    """Change a setting of the session inside a `with` block."""
    before = spark.conf.get(name, None)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, before)


def has_filesystem(spark: SparkSession, scheme: str) -> bool:
    """Whether Spark can open `scheme://`. Over Connect: whether a setting names a class or a key for it."""
    if scheme == "file":
        return True
    if is_remote(spark):
        names = (f"spark.hadoop.fs.{scheme}.impl", f"spark.hadoop.fs.{scheme}.access.key")
        return any(spark.conf.get(name, None) for name in names)
    hadoop, settings = java(spark)
    try:
        hadoop.FileSystem.getFileSystemClass(scheme, settings)
    except Exception as error:
        if type(error).__module__.startswith(("py4j", "pyspark")):
            return False
        raise
    return True


def java(spark: SparkSession) -> tuple[Any, Any]:
    """Return Hadoop's package `fs`, and the session's settings of it. Not over Connect."""
    inner: Any = spark
    return inner._jvm.org.apache.hadoop.fs, inner._jsparkSession.sessionState().newHadoopConf()


def lowered(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options with lower-case names, as Spark compares them, and text values."""
    return {name.lower(): shown(value) for name, value in options.items() if value is not None}


def shown(value: object) -> str:
    """Return a setting or an option as Spark and Hadoop write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
