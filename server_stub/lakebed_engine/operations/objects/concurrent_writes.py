"""The objects of a batch on their way into the store: while one becomes durable, the next one arrives.

The parts of a form come one after the other, and each would wait for the disk that the one before it waits for: fifty
files of 4 MiB take half as long again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable

from lakebed_engine.vocabulary.ports import Runtime
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import UploadRequest

AT_ONCE = 8
"""Objects of one batch that have arrived and are not durable yet: of small ones the content is in memory until then."""

Write = Callable[[UploadRequest, AsyncIterable[bytes]], Awaitable[Entry]]


class Overlapping:
    """Writes objects by `write`, each from a stream that must be read to its end before the next one can be."""

    def __init__(self, runtime: Runtime, write: Write) -> None:
        self._runtime = runtime
        self._write = write
        self._made: list[Entry] = []
        self._tasks: list[asyncio.Future[Entry]] = []
        self._running: set[asyncio.Future[Entry]] = set()
        self._arriving: asyncio.Future[Entry] | None = None

    async def begin(self, request: UploadRequest, chunks: AsyncIterable[bytes]) -> None:
        """Take in one object. Raises what writing it or an earlier one raises."""
        taken = asyncio.Event()
        task = self._runtime.begin(lambda: self._write(request, _until_end(chunks, taken)))
        if task is None:  # a runtime that does nothing ahead
            self._made.append(await self._write(request, chunks))
            return
        task.add_done_callback(lambda _: taken.set())  # it may fail before the end
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
        """Wait until all objects are durable; in the order in which they began. Raises what writing one raises."""
        return self._made + [await task for task in self._tasks]

    async def stop(self) -> list[Entry]:
        """Break off, and wait until nothing is being written any more. Gives what was written.

        What has arrived is written to its end, because a cancelled put may be complete or not.
        """
        if self._arriving is not None:
            self._arriving.cancel()
        if not self._tasks:  # gather() without any would make an event loop where there is none
            return self._made
        ends = await asyncio.gather(*self._tasks, return_exceptions=True)
        return self._made + [end for end in ends if isinstance(end, Entry)]


async def _until_end(chunks: AsyncIterable[bytes], taken: asyncio.Event) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk
    taken.set()
