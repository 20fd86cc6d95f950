"""Runs the tasks of a pipeline as Spark tasks, or in threads of this process. Both give the same results.

A task is a frozen value, and its work is a function of a module, so both can be pickled. Works over Spark Connect as
well, because it uses only DataFrames.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pyarrow as pa
from lakebed.errors import (
    ConfigurationError,
    ConflictError,
    InvalidRequestError,
    LakebedError,
    NotFoundError,
    PermissionDeniedError,
    TableFormatError,
    UnsupportedOperationError,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
R = TypeVar("R")

Seen = Callable[[int, int], None]
"""Called with the number of finished tasks and the number of all tasks."""

MEMORY = 64 << 20
"""Default bytes of the driver's memory for data that grows with the lake."""

_PATIENCE = 1.0
_DEFAULT_PARALLELISM = 8
_FINAL = (
    ConfigurationError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    TableFormatError,
    UnsupportedOperationError,
)
"""Errors that another try of a task would meet again. They are returned as results. Spark retries all other errors."""


class Runner(Protocol):
    """Runs work on tasks."""

    @property
    def width(self) -> int:
        """How many tasks run at the same time."""
        ...

    def run(self, work: Callable[[T], R], tasks: Sequence[T], seen: Seen | None = None) -> list[R]:
        """Return the results, in the order of the tasks. Raises the first error after all running tasks have ended."""
        ...


def runner(spark: SparkSession | None) -> Runner:
    """Return the runner for a session. Without a session it uses threads of this process."""
    return LocalRunner() if spark is None else SparkRunner(spark)


def rounds(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size` items. The caller can drop the results of one list before the next."""
    source = iter(items)
    while some := list(islice(source, size)):
        yield some


class LocalRunner:
    """Runs tasks in threads of this process. Most of their time they wait for disks, networks and Arrow."""

    def __init__(self, width: int | None = None) -> None:
        self.width = width or min(8, 2 * (os.cpu_count() or 1))

    def run(self, work: Callable[[T], R], tasks: Sequence[T], seen: Seen | None = None) -> list[R]:
        """As of `Runner`. A task runs one time. The client repeats failed calls."""
        with ThreadPoolExecutor(self.width, thread_name_prefix="lakebed-pipeline") as pool:
            futures = [pool.submit(work, task) for task in tasks]
            try:
                for done, future in enumerate(as_completed(futures), 1):
                    future.result()
                    if seen is not None:
                        seen(done, len(tasks))
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
            return [future.result() for future in futures]


class SparkRunner:
    """Runs each task as a Spark task. Spark retries it up to `spark.task.maxFailures` times."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.width = _parallelism(spark)

    def run(self, work: Callable[[T], R], tasks: Sequence[T], seen: Seen | None = None) -> list[R]:
        """As of `Runner`. Raises PySpark's error for a task whose retries are used up."""
        if not tasks:
            return []
        blobs = [pickle.dumps(task) for task in tasks]

        def each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for index in batch.column(0).to_pylist():
                    yield _answer(index, work, blobs[index])

        frame = self._spark.range(0, len(tasks), 1, len(tasks))
        rows = frame.mapInArrow(each, "task long, result binary").collect()
        found = {row["task"]: pickle.loads(row["result"]) for row in rows}  # noqa: S301 - our own tasks made it
        for value in found.values():
            if isinstance(value, LakebedError):
                raise value
        if seen is not None:
            seen(len(tasks), len(tasks))
        return [found[index] for index in range(len(tasks))]


def _answer(index: int, work: Callable[[Any], Any], blob: bytes) -> pa.RecordBatch:
    result: Any
    try:
        result = work(pickle.loads(blob))  # noqa: S301 - our own driver made it
    except _FINAL as error:
        result = error
    return pa.record_batch({"task": pa.array([index]), "result": pa.array([pickle.dumps(result)])})


def _parallelism(spark: SparkSession) -> int:
    """Return the number of cores of the session. Spark Connect does not report it, so there it is a guess."""
    try:
        return max(1, int(spark.sparkContext.defaultParallelism))
    except Exception:  # the class of Connect's error depends on the version
        return _DEFAULT_PARALLELISM


class Meter:
    """Shows the progress of a pipeline as one line on standard error, after a second, on a terminal only."""

    def __init__(self, title: str, *, enabled: bool | None = None) -> None:
        self._title = title
        self._enabled = sys.stderr.isatty() if enabled is None else enabled
        self._began = time.monotonic()
        self._shown = 0

    def __call__(self, done: int, total: int) -> None:
        if self._enabled and time.monotonic() - self._began >= _PATIENCE:
            text = f"{self._title}: {done:,} of {total:,} tasks"
            sys.stderr.write("\r" + text.ljust(self._shown))
            sys.stderr.flush()
            self._shown = len(text)

    def close(self) -> None:
        """Remove the line."""
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            self._shown = 0
