"""Drivers in processes of their own, for tests that kill them or start Spark otherwise.

python -m tests.spark.drivers kill-before REPOSITORY
python -m tests.spark.drivers in-a-bucket REPOSITORY MARKS
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import lakebed
import lakebed_spark
import pyspark
from lakebed_spark._java import use_java
from pyspark.sql import SparkSession

from tests.spark import classes, jars
from tests.support.processes.ports import reserved_ports
from tests.support.processes.server import RunningServer, clean_environment

KEY = "nightly"
_S3A = "LB_TEST_S3A"


def start(server: RunningServer, *arguments: str, s3a: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """Begin one, with the server, and settings of S3A, in its environment."""
    command = [sys.executable, "-m", "tests.spark.drivers", *arguments]
    environment = clean_environment(**server.environment, **{_S3A: json.dumps(s3a or {})})
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def finish(process: subprocess.Popen[str], seconds: float) -> str:
    """Wait for one. Gives what it has said; nothing that it started outlives it."""
    try:
        return process.communicate(timeout=seconds)[0]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _kill(when: str, repository: str) -> None:
    """Write, and die at the commit: `before` or `after` it."""
    spark = lakebed_spark.session(spark_master="local[1]", spark_ui_enabled=False, spark_driver_memory="1g")
    _die(spark, when, f"lakebed://{repository}/main/t")


def _die(spark: SparkSession, when: str, target: str) -> None:
    commit = lakebed.Workspace.commit

    def deadly(self: lakebed.Workspace, *arguments: Any, **options: Any) -> Any:
        if when == "after":
            commit(self, *arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    lakebed.Workspace.commit = deadly  # type: ignore[method-assign]
    lakebed_spark.write(spark.range(100), target, key=KEY)


@contextmanager
def _cluster(folder: str) -> Iterator[str]:
    """A cluster of two workers on hosts of two names: Spark begins a task a second time on another host only."""
    use_java()
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {**os.environ, "SPARK_DAEMON_MEMORY": "256m", "SPARK_HOME": str(program.parent.parent)}
    with reserved_ports(1) as (port,), ExitStack() as stack:
        for command in _daemons(folder, port):
            process = subprocess.Popen(
                [str(program), *command], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield f"spark://127.0.0.1:{port}"


def _daemons(folder: str, port: int) -> Iterator[list[str]]:
    deploy = "org.apache.spark.deploy"
    yield [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    for host in ("127.0.0.1", "127.0.0.2"):
        size = ["-c", "1", "-m", "700M", "-d", f"{folder}/work-{host}", "--webui-port", "0"]
        yield [f"{deploy}.worker.Worker", "--host", host, *size, f"spark://127.0.0.1:{port}"]


def _speculate(repository: str, marks: str) -> None:
    """Write on a small cluster, where slow tasks are begun a second time: each attempt leaves a mark."""
    with _cluster(f"{marks}/cluster") as address:
        spark = _hasty(address)
        _write_slowly(spark, repository, marks)
        spark.stop()


def _in_a_bucket(repository: str, marks: str) -> None:
    """The same with tasks that write into a bucket; then the driver writes once more, and dies before the commit."""
    with _cluster(f"{marks}/cluster") as address:
        settings = {f"spark_hadoop_{name}": value for name, value in json.loads(os.environ[_S3A]).items()}
        spark = _hasty(address, **jars.s3a(jars.folder(), executors=True), **settings)
        _write_slowly(spark, repository, marks)
        _die(spark, "before", f"lakebed://{repository}/main/u")


def _hasty(address: str, **settings: str) -> SparkSession:
    """A session that soon begins a slow task once more."""
    return lakebed_spark.session(
        spark_master=address,
        spark_ui_enabled=False,
        spark_driver_host="127.0.0.1",
        spark_driver_bindAddress="127.0.0.1",
        spark_driver_memory="1g",
        spark_executor_memory="600m",
        spark_executor_extraJavaOptions=classes.options(),
        spark_speculation=True,
        spark_speculation_efficiency_enabled=False,
        spark_speculation_interval="100ms",
        spark_speculation_multiplier="1.01",
        spark_speculation_quantile="0.25",
        **settings,
    )


def _write_slowly(spark: SparkSession, repository: str, marks: str) -> None:
    def slow(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for batch in batches:
            yield batch  # what it has written by then must not count
            if context.partitionId() == 3:
                open(f"{marks}/{context.attemptNumber()}", "w").close()
                ends = time.monotonic() + 600
                while not os.path.exists(f"{marks}/1") and time.monotonic() < ends:
                    time.sleep(0.1)

    lakebed_spark.write(spark.range(0, 400, 1, 4).mapInPandas(slow, "id long"), f"lakebed://{repository}/main/t")


if __name__ == "__main__":
    verb, name, *more = sys.argv[1:]
    if verb == "speculate":
        _speculate(name, *more)
    elif verb == "in-a-bucket":
        _in_a_bucket(name, *more)
    else:
        _kill(verb.removeprefix("kill-"), name)
