"""The threads of the object stores, and the worker that runs the batches of a stream in them, in order.

All stores of a process share the threads (`registry.py`), which start when they are first used. A forked child has none
of its parent's threads, so it makes its own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from lakebed_engine.vocabulary.streams import finished, settled

P = ParamSpec("P")
T = TypeVar("T")

Batch = list[bytes]


class Threads:
    """Two pools: short durable writes never wait behind long streams and scans."""

    def __init__(self, writers: int = 4, movers: int = 8) -> None:
        self._sizes = {"write": writers, "move": movers}
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def _pool(self, name: str) -> ThreadPoolExecutor:
        with self._lock:
            if self._pid != os.getpid():
                self._pools, self._pid = {}, os.getpid()
            if name not in self._pools:
                self._pools[name] = ThreadPoolExecutor(self._sizes[name], thread_name_prefix=f"lakebed-{name}")
            return self._pools[name]

    def write(self, job: Callable[[], None]) -> None:
        """Start a batch of small writes, which reports its own result."""
        self._pool("write").submit(job)

    def move(self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a job that moves bytes or scans directories."""
        return self._pool("move").submit(job, *args, **kwargs)

    async def run(self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run such a job and wait. A cancellation takes effect after the job has ended, so its files may then be
        closed.
        """
        return await finished(asyncio.wrap_future(self.move(job, *args, **kwargs)))

    def close(self) -> None:
        """Wait for running jobs, then end the threads."""
        with self._lock:
            pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.shutdown(wait=True)


class SerialWorker:
    """Runs one job on the batches of a stream, in order, in a thread, while the next batches arrive.

    A stream has one worker for writing and another for hashing. Each has its own pace: the sender waits only when
    `depth` batches wait. A worker without work uses no thread, so slow senders take no thread from others. Use it from
    one event loop.
    """

    def __init__(self, threads: Threads, job: Callable[[Batch], None], depth: int) -> None:
        self._threads = threads
        self._job = job
        self._depth = depth
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Event()
        self._lock = threading.Lock()
        self._todo: deque[Batch] = deque()
        self._busy = False
        self._worker: asyncio.Future[None] | None = None

    async def put(self, batch: Batch) -> None:
        """Add a batch. Waits while `depth` batches wait. Raises the error of the job for an earlier batch."""
        while True:
            self._raise()
            if len(self._todo) < self._depth:
                break
            self._room.clear()
            await self._room.wait()
        with self._lock:
            self._todo.append(batch)
            start, self._busy = not self._busy, True
        if start:
            self._worker = asyncio.wrap_future(self._threads.move(self._work))
            self._worker.add_done_callback(lambda _: self._room.set())

    async def drain(self) -> None:
        """Wait until every batch is done. Raises the error of the job."""
        while self._worker is not None:
            worker = self._worker
            await finished(worker)
            if worker is self._worker:
                return

    async def stop(self) -> None:
        """Drop waiting batches and wait for the running job. For clean-up after an error."""
        with self._lock:
            self._todo.clear()
        if self._worker is not None:
            await settled(self._worker)

    def _raise(self) -> None:
        if self._worker is not None and self._worker.done():
            self._worker.result()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._todo:
                    self._busy = False
                    return
                batch = self._todo[0]
            self._job(batch)  # if it raises, the worker stays busy, so that no later batch runs
            with self._lock:
                if self._todo:
                    self._todo.popleft()
            self._loop.call_soon_threadsafe(self._room.set)
