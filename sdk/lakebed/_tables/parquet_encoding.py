"""Encode several Parquet files in parallel threads. Encoding takes most of the time of writing a table.

One thread at a time works on a file, in order. Other threads hash the written bytes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed._values.hashed_file import HashingFile

_MOST_THREADS = 4


@dataclass(slots=True)
class Output:
    """A file that is being written. Fields that are not given belong to the thread that works on the file."""

    file: Path
    folder: str
    rows: int = 0
    size: int = 0
    sink: HashingFile | None = None
    writer: Any = None
    checksum: str = ""
    """The hex MD5 of the finished file."""

    last: Future[None] | None = None
    todo: deque[tuple[Callable[[], None], Future[None]]] = field(default_factory=deque)
    is_busy: bool = False
    failure: BaseException | None = None


@dataclass(slots=True)
class _Job:
    """Rows to write to a file."""

    done: Future[None]
    size: int


@dataclass(slots=True)
class Encoders:
    """The threads and their jobs. At most `room` bytes of rows wait or are being encoded."""

    schema: pa.Schema
    compression: str
    room: int
    _pool: ThreadPoolExecutor | None = None
    _hashers: ThreadPoolExecutor | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _jobs: deque[_Job] = field(default_factory=deque)
    _opened: dict[int, Output] = field(default_factory=dict)

    def write(self, out: Output, batches: Sequence[pa.RecordBatch], rows: int, size: int) -> None:
        """Append a row group. Waits while there is no room. Raises the error of an earlier job."""
        while self._jobs and (self._jobs[0].done.done() or sum(job.size for job in self._jobs) + size > self.room):
            self._jobs.popleft().done.result()
        out.rows += rows
        self._jobs.append(_Job(self._submit(out, lambda: self._write(out, batches, rows)), size))

    def end(self, out: Output) -> Future[None]:
        """Finish a file after its last row group."""
        return self._submit(out, lambda: self._end(out))

    def settle(self, out: Output) -> None:
        """Wait until all rows are in the file. Then `size` is correct. Raises the error of a job."""
        if out.last is not None:
            out.last.result()

    def close(self) -> None:
        """Drop jobs that have not started, wait for the others, and close everything. Raises nothing."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        for out in self._opened.values():
            for one in (out.writer, out.sink):
                if one is not None:
                    with suppress(pa.ArrowException, OSError):  # the content of the files no longer matters
                        one.close()
        if self._hashers is not None:
            self._hashers.shutdown(wait=False, cancel_futures=True)
        self._opened.clear()
        self._jobs.clear()

    def _submit(self, out: Output, work: Callable[[], None]) -> Future[None]:
        if self._pool is None:
            threads = min(_MOST_THREADS, max(pa.cpu_count(), 2))
            self._pool = ThreadPoolExecutor(threads, "lakebed-encode")
            self._hashers = ThreadPoolExecutor(threads, "lakebed-hash")
        done = out.last = Future[None]()
        with self._lock:
            out.todo.append((work, done))
            begins, out.is_busy = not out.is_busy, True
        if begins:
            self._pool.submit(self._work, out)
        return done

    def _work(self, out: Output) -> None:
        """Run the jobs of a file. After a failure, all further jobs of the file fail."""
        while True:
            with self._lock:
                if not out.todo:
                    out.is_busy = False
                    return
                work, done = out.todo.popleft()
            try:
                if out.failure is not None:
                    raise out.failure
                work()
            except BaseException as error:
                out.failure = error
                done.set_exception(error)
            else:
                done.set_result(None)

    def _write(self, out: Output, batches: Sequence[pa.RecordBatch], rows: int) -> None:
        sink = self._start(out)
        table = pa.Table.from_batches(
            [pa.RecordBatch.from_arrays(one.columns, schema=self.schema) for one in batches], self.schema
        )
        out.writer.write_table(table, row_group_size=max(rows, 1))
        out.size = sink.tell()

    def _start(self, out: Output) -> HashingFile:
        if out.sink is None:
            assert self._hashers is not None
            self._opened[id(out)] = out
            out.sink = HashingFile(out.file, self._hashers)
            out.writer = pq.ParquetWriter(out.sink, self.schema, compression=self.compression, write_page_checksum=True)
        return out.sink

    def _end(self, out: Output) -> None:
        sink = self._start(out)
        out.writer.close()
        out.checksum = sink.finish()
        out.size = sink.tell()
        del self._opened[id(out)]
