"""The threads of the local stores, made when first used.

Shared by all stores of a process (`registry.py`). A forked child has none of its parent's threads, so it makes its own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from lakebed_engine.vocabulary.streams import finished

P = ParamSpec("P")
T = TypeVar("T")


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
        """Start a batch of small writes; it reports by itself."""
        self._pool("write").submit(job)

    def move(self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a job that moves bytes or scans directories."""
        return self._pool("move").submit(job, *args, **kwargs)

    async def run(self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run such a job and wait; a cancel leaves once the job has ended, so what it uses may then be closed."""
        return await finished(asyncio.wrap_future(self.move(job, *args, **kwargs)))

    def close(self) -> None:
        """Let running jobs end, and the threads after them."""
        with self._lock:
            pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.shutdown(wait=True)
