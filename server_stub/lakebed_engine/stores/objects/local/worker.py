"""One kind of work on a stream's batches, in order, in a thread, while the stream goes on arriving.

A stream has a lane that writes and a lane that hashes: each goes at its own pace, and only the bound on waiting batches
ties them to the sender. A lane without work holds no thread, so slow senders take no thread from others.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable

from lakebed_engine.stores.objects.local.threads import Threads
from lakebed_engine.vocabulary.streams import finished, settled

Batch = list[bytes]


class Lane:
    """Runs `job` on every batch, one after another. Use it from one event loop."""

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
        """Hand over a batch; waits while `depth` of them wait. Raises what the job raised on an earlier one."""
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
        """Wait until every batch is done. Raises what the job raised."""
        while self._worker is not None:
            worker = self._worker
            await finished(worker)
            if worker is self._worker:
                return

    async def stop(self) -> None:
        """Forget what waits and let the running job end; for clean-up under an error."""
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
            self._job(batch)  # if it raises, the lane stays busy: no later batch is done out of order
            with self._lock:
                if self._todo:
                    self._todo.popleft()
            self._loop.call_soon_threadsafe(self._room.set)
