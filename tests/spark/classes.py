"""The classes that Spark loads at every start, laid ready in a file: a session of these tests begins in half the time.

    python -m tests.spark.classes    # makes the file, in about a minute; `make` runs it once for each environment

Java's own sharing of class data. A JVM checks the origin of the file, and loads classes as usual where it does not
fit: another Java, other jars, more of them in front. So nothing but time hangs on it, and where it cannot be made the
tests run without.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"

HASTY = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""What starts every JVM here: none lives for long enough to earn back what its better compiler costs."""

_WORK = """
import sys
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
spark.range(30).selectExpr("id", "id % 3 as part").write.partitionBy("part").parquet(sys.argv[1])
rows = spark.read.parquet(sys.argv[1]).where("part = 1").mapInPandas(lambda frames: frames, "id long, part int")
assert rows.count() == 10
spark.stop()
"""


def options() -> str:
    """The options of each JVM that is to run Spark here. What Java says of the file is not for the output of tests."""
    return f'{HASTY} -XX:SharedArchiveFile="{ARCHIVE}" -Xlog:disable' if ARCHIVE.exists() else HASTY


def make(archive: Path) -> str | None:
    """Run a little Spark, and keep its classes. Returns why that could not be; raises nothing for Java's sake."""
    with tempfile.TemporaryDirectory(prefix="classes-", dir=archive.parent) as folder:
        made = Path(folder, archive.name)
        environment = {
            **os.environ,
            "SPARK_SUBMIT_OPTS": f'{HASTY} -XX:ArchiveClassesAtExit="{made}" -Xlog:disable',
            "PYSPARK_PYTHON": sys.executable,
        }
        command = [sys.executable, "-c", _WORK, f"{folder}/table"]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        except subprocess.TimeoutExpired as error:
            return str(error)
        if done.returncode:
            return done.stderr[-2000:]
        if not made.exists():
            return "this Java keeps none"
        os.replace(made, archive)
    return None


if __name__ == "__main__":
    why = make(ARCHIVE)
    print(f"no shared classes, Spark's tests run without: {why}" if why else f"shared classes of Spark: {ARCHIVE}")
