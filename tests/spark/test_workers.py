"""A test of a test helper: the process of a stream connects to Spark before it imports slow modules."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

from tests.spark import workers
from tests.support.waiting import PATIENCE

_SLOW = """
import os, time
while not os.path.exists(os.environ["GATE"]):
    time.sleep(0.01)
"""
_UTIL = """
def local_connect_and_auth(conn_info, auth_secret):
    raise AssertionError("it was to connect before")
"""
_MODULE = """
import os, sys, json
from pyspark import util
both, connection = util.local_connect_and_auth(1, "s")
said = [__name__, sys.argv[1:], sys.path[0] == os.getcwd(), sys.modules["__main__"].said is None]
both.write(json.dumps(said).encode())
both.close()
"""


def test_the_process_of_a_stream_connects_before_it_imports(tmp_path: Path) -> None:
    package = tmp_path / "slow" / "pyspark"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(_SLOW)
    (package / "util.py").write_text(_UTIL)
    (package / "late.py").write_text("said = None\n" + _MODULE)
    gate = tmp_path / "gate"
    with socket.create_server(("127.0.0.1", 0)) as spark:
        spark.settimeout(PATIENCE)
        environment = {
            **os.environ,
            "PYTHON_WORKER_FACTORY_PORT": str(spark.getsockname()[1]),
            "PYTHON_WORKER_FACTORY_SECRET": "sesame",
            "PYTHONPATH": os.pathsep.join([str(tmp_path / "pyspark.zip"), str(package.parent)]),
            "GATE": str(gate),
        }
        started = subprocess.Popen([workers.python(tmp_path), "-m", "pyspark.late", "more"], env=environment)
        try:
            connection = spark.accept()[0]
            connection.settimeout(PATIENCE)
            with connection, connection.makefile("rwb") as both:
                assert both.read(10) == b"\x00\x00\x00\x06sesame"  # though the gate is shut
                both.write(b"\x00\x00\x00\x02ok")
                both.flush()
                gate.touch()
                assert both.read() == b'["__main__", ["more"], true, true]'
            assert started.wait(PATIENCE) == 0
        finally:
            started.kill()
            started.wait()


def test_other_programs_run_as_they_are(tmp_path: Path) -> None:
    said = subprocess.run(
        [workers.python(tmp_path), "-c", "import sys; print(sys.executable)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert said.stdout.strip() == sys.executable
