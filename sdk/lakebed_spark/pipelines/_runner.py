"""Where the tasks of a pipeline run: as Spark tasks, or in threads of this process. Both give the same results.

A task is a frozen value and the work on it a function of a module, so that both can be pickled. Works over Spark
Connect as well: only DataFrames are used.
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
"""Told how many tasks are done, of how many."""

MEMORY = 64 << 20
"""Bytes that a pipeline takes in the driver for what grows with the lake, unless told otherwise."""

_PATIENCE = 1.0
_UNTOLD = 8
_FINAL = (
    ConfigurationError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    TableFormatError,
    UnsupportedOperationError,
)
"""Errors that another try of a task would meet again: they come back as they are, everything else is for Spark."""


class Runner(Protocol):
    """Runs work on tasks."""

    @property
    def width(self) -> int:
        """How many tasks run at the same time."""
        ...

    def run(self, work: Callable[[T], R], tasks: Sequence[T], seen: Seen | None = None) -> list[R]:
        """The results, in the order of the tasks. The first error is raised when no task is under way any more."""
        ...


def runner(spark: SparkSession | None) -> Runner:
    """The runner for a session; threads of this process where there is none."""
    return Here() if spark is None else OnSpark(spark)


def rounds(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of so many: what is made of one can be forgotten before the next."""
    source = iter(items)
    while some := list(islice(source, size)):
        yield some


class Here:
    """Threads of this process: what the tasks do waits for disks, networks and Arrow."""

    def __init__(self, width: int | None = None) -> None:
        self.width = width or min(8, 2 * (os.cpu_count() or 1))

    def run(self, work: Callable[[T], R], tasks: Sequence[T], seen: Seen | None = None) -> list[R]:
        """As of `Runner`. A task is tried once: its calls are tried again by the client."""
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


class OnSpark:
    """One Spark task for each: tried again as `spark.task.maxFailures` says."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.width = _parallelism(spark)

    def run(self, work: Callable[[T], R], tasks: Sequence[T], seen: Seen | None = None) -> list[R]:
        """As of `Runner`. Raises PySpark's error for a task that failed as often as it may."""
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
    """The cores of the session; over Spark Connect, which does not tell them, a guess."""
    try:
        return max(1, int(spark.sparkContext.defaultParallelism))
    except Exception:  # the class of Connect's error depends on the version
        return _UNTOLD


class Meter:
    """One line on standard error, after a second, where somebody looks: what a pipeline is at."""

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
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            self._shown = 0
