"""Writes the objects of a batch to the store: while one is synced to disk, the next one arrives.

The parts of a form arrive one after the other. If each waited for the sync of the previous one, fifty files of 4 MiB
would take half as long again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable

from lakebed_engine.vocabulary.ports import Runtime
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import UploadRequest

AT_ONCE = 8
"""Maximum number of objects of one batch that have arrived and are not durable yet. Small ones are in memory until
then.
"""

Write = Callable[[UploadRequest, AsyncIterable[bytes]], Awaitable[Entry]]


class Overlapping:
    """Writes objects with `write`, each from a stream that must be read to its end before the next one."""

    def __init__(self, runtime: Runtime, write: Write) -> None:
        self._runtime = runtime
        self._write = write
        self._made: list[Entry] = []
        self._tasks: list[asyncio.Future[Entry]] = []
        self._running: set[asyncio.Future[Entry]] = set()
        self._arriving: asyncio.Future[Entry] | None = None

    async def begin(self, request: UploadRequest, chunks: AsyncIterable[bytes]) -> None:
        """Read one object. Raises the error of writing it or an earlier one."""
        taken = asyncio.Event()
        task = self._runtime.begin(lambda: self._write(request, _until_end(chunks, taken)))
        if task is None:  # a runtime without concurrency
            self._made.append(await self._write(request, chunks))
            return
        task.add_done_callback(lambda _: taken.set())  # it may fail before its stream ends
        self._tasks.append(task)
        self._running.add(task)
        self._arriving = task
        await taken.wait()
        self._arriving = None
        if len(self._running) > AT_ONCE:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
        for one in [one for one in self._running if one.done()]:
            self._running.remove(one)
            one.result()

    async def entries(self) -> list[Entry]:
        """Wait until all objects are durable. Returns their entries in the order of arrival. Raises the error of a
        failed write.
        """
        return self._made + [await task for task in self._tasks]

    async def stop(self) -> list[Entry]:
        """Stop, and wait until all running writes have ended. Returns the written entries.

        Objects that have arrived are written completely, because the outcome of a cancelled put is unknown.
        """
        if self._arriving is not None:
            self._arriving.cancel()
        if not self._tasks:  # gather() without arguments would create an event loop
            return self._made
        ends = await asyncio.gather(*self._tasks, return_exceptions=True)
        return self._made + [end for end in ends if isinstance(end, Entry)]


async def _until_end(chunks: AsyncIterable[bytes], taken: asyncio.Event) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk
    taken.set()
