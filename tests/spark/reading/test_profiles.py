"""Profiles of ~/.lakebed.yaml in Spark: an option of one read, and a setting of the session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import lakebed
import pandas as pd
import pytest
import yaml

from tests.support.processes.server import RunningServer, clean_environment, running_server

pytestmark = pytest.mark.soak  # a session of its own

SCRIPT = """
import json, sys
import lakebed_spark
spark = lakebed_spark.session(spark_master="local[2]", spark_ui_enabled=False, spark_driver_bindAddress="127.0.0.1")
uri = "lakebed://things/main/t.parquet"
lakebed_spark.register(spark)
def rows(frame):
    return sorted(row.x for row in frame.collect())
found = {"file": rows(spark.read.format("lakebed").load(uri))}
found["option"] = rows(spark.read.format("lakebed").option("profile", "two").load(uri))
spark.conf.set("spark.lakebed.profile", "two")
found["read"] = rows(lakebed_spark.read(spark, uri))
lakebed_spark.register(spark)
frame = spark.read.format("lakebed").load(uri)
found["setting"] = rows(frame)
found["plan"] = frame._jdf.queryExecution().toString()
spark.stop()
print("FOUND" + json.dumps(found))
"""


def test_a_profile_reaches_the_executors(server: RunningServer, tmp_path: Path) -> None:
    """Two servers with different data at one path. The executors have no variables, and read the right one."""
    with running_server(tmp_path / "other") as other:
        profiles = {}
        for name, one, value in (("one", server, 1), ("two", other, 2)):
            with lakebed.connect(one.endpoint, one.access_key_id, one.secret_access_key) as lake:
                main = lake.repository("things").create(exist_ok=True).branch("main")
                main.write_parquet("t.parquet", pd.DataFrame({"x": [value] * 3}))
            profiles[name] = {
                "endpoint": one.endpoint,
                "access_key_id": one.access_key_id,
                "secret_access_key": one.secret_access_key,
            }
        file = tmp_path / "lakebed.yaml"
        file.write_text(yaml.safe_dump({"profile": "one", "profiles": profiles}))
        environment = clean_environment(LAKEBED_CONFIG_FILE=str(file), PYSPARK_PYTHON=sys.executable)
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            cwd=os.getcwd(),
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
        )
    said = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    assert said, done.stderr[-3000:]
    found = json.loads(said[0].removeprefix("FOUND"))
    assert server.secret_access_key not in found.pop("plan")
    assert found == {"file": [1] * 3, "option": [2] * 3, "read": [2] * 3, "setting": [2] * 3}
