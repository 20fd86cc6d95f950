"""Streams into the cloud stores.

A stream below PART bytes is one put. A longer one is a multipart upload: obstore takes the batches from a short queue
and sends several parts at the same time, while a thread hashes. When the sender fails or is cancelled, the queue raises
an error in obstore, which then aborts the upload. The sender waits for that.

A long stream with `if_absent` is first written below `.lakebed-tmp/` and then copied with the condition, because
obstore cannot send conditions with multipart uploads. `list_partial` lists the leftovers of a killed process.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterable, AsyncIterator

from lakebed_engine.stores.objects.base import PutResult
from lakebed_engine.stores.objects.cloud.client import Client
from lakebed_engine.stores.objects.cloud.conditional_put import Creator
from lakebed_engine.stores.objects.cloud.errors import fault_of, store_error, store_errors
from lakebed_engine.stores.objects.cloud.keys import TEMP
from lakebed_engine.stores.objects.cloud.options import class_of
from lakebed_engine.stores.objects.local.stream import Batches
from lakebed_engine.stores.objects.threads import SerialWorker, Threads
from lakebed_engine.vocabulary.errors import BlobExists, OutcomeUnknownError
from lakebed_engine.vocabulary.ports import Ids
from lakebed_engine.vocabulary.streams import finished, settled

PART = 8 << 20
"""Bytes of a part. An upload has at most 10,000 parts, which are 78 GiB."""

_IN_FLIGHT = 3
_WAITING = 2
"""Batches of a MiB that may wait for obstore, and the same number for the hash."""


class _Abandoned(Exception):
    """Makes obstore abort the upload. No caller sees it."""


class Uploader:
    """Writes streams to one namespace."""

    def __init__(self, client: Client, creator: Creator, threads: Threads, ids: Ids) -> None:
        self._client = client
        self._creator = creator
        self._threads = threads
        self._ids = ids

    async def put(self, key: str, name: str, data: bytes, if_absent: bool) -> None:
        """Write with one put. After a cancellation, the put has ended when this raises."""
        from obstore import put_async

        if if_absent:
            await self._creator.create(key, name, data)
            return
        attributes = self._attributes(key)
        with store_errors("write", self._client.place, key):
            sent = put_async(self._client.store, name, data, use_multipart=False, attributes=attributes)
            await finished(asyncio.ensure_future(sent))

    def _attributes(self, key: str) -> dict[str, str] | None:
        kind = class_of(self._client.options, key)
        return {"Storage-Class": kind} if kind else None

    async def put_stream(self, key: str, name: str, chunks: AsyncIterable[bytes], if_absent: bool) -> PutResult:
        """Write a stream. Raises the errors of `chunks`."""
        batches = Batches(chunks)
        head: list[bytes] = []
        size = 0
        while size < PART and (batch := await batches.next()):
            head.append(b"".join(batch))
            size += len(head[-1])
        if size < PART:
            data = b"".join(head)
            md5 = await self._threads.run(_md5, data)
            await self.put(key, name, data, if_absent)
            return PutResult(size, md5)
        if not if_absent:
            return await self._upload(key, name, head, batches)
        return await self._upload_if_absent(key, name, head, batches)

    async def _upload(self, key: str, name: str, head: list[bytes], batches: Batches) -> PutResult:
        from obstore import put_async

        place, feed, total = self._client.place, Feed(), Total()
        worker = SerialWorker(self._threads, total.add, _WAITING)
        with store_errors("write", place, key):
            upload = put_async(
                self._client.store,
                name,
                feed.take(),
                chunk_size=PART,
                max_concurrency=_IN_FLIGHT,
                attributes=self._attributes(key),
            )
        job = asyncio.ensure_future(upload)
        job.add_done_callback(feed.ended)
        try:
            while head:
                batch = head.pop(0)
                await worker.put([batch])
                if not await feed.give(batch):
                    break  # the upload has failed: `finished` raises its error below
                if not head and (more := await batches.next()):
                    head.append(b"".join(more))
            await worker.drain()
            feed.end()
            with store_errors("write", place, key):
                await finished(job)
        except BaseException:
            feed.end(_Abandoned())
            await worker.stop()
            await settled(job)
            raise
        return PutResult(total.size, total.hash.hexdigest())

    async def _upload_if_absent(self, key: str, name: str, head: list[bytes], batches: Batches) -> PutResult:
        from obstore import copy_async
        from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

        await self._creator.test()
        place = self._client.place
        temp = f"{place.prefix}{TEMP}{self._ids.new()}"
        result = await self._upload(key, temp, head, batches)
        try:
            await finished(asyncio.ensure_future(copy_async(self._client.once, temp, name, overwrite=False)))
        except (AlreadyExistsError, PreconditionError):
            raise BlobExists(f"{place.uri}/{key} exists already; nothing was written") from None
        except (BaseError, FileNotFoundError) as error:
            if fault_of(error).certain:
                raise store_error(error, "write", place, key) from None
            raise OutcomeUnknownError(
                f"the answer to a write of {place.uri}/{key} was lost; read it back before trying again"
            ) from None
        finally:
            await self._forget(temp)
        return result

    async def _forget(self, temp: str) -> None:
        from obstore import delete_async
        from obstore.exceptions import BaseError

        try:
            await finished(asyncio.ensure_future(delete_async(self._client.store, temp)))
        except (BaseError, FileNotFoundError):
            return  # list_partial lists it


class Feed:
    """The queue of batches for obstore. Use it from one event loop."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(_WAITING)
        self._ended = False

    async def give(self, batch: bytes) -> bool:
        """Add a batch. Waits while _WAITING batches are in the queue. False when the upload has already ended."""
        await self._room.acquire()
        if not self._ended:
            self._queue.put_nowait(batch)
        return not self._ended

    def end(self, error: Exception | None = None) -> None:
        """End the stream, with or without an error."""
        self._queue.put_nowait(error)

    def ended(self, _: object) -> None:
        """Called when the upload has ended. Wakes a waiting `give`."""
        self._ended = True
        self._room.release()

    async def take(self) -> AsyncIterator[bytes]:
        """The batches for obstore. Raises the error of `end`."""
        while (batch := await self._queue.get()) is not None:
            if isinstance(batch, Exception):
                raise batch
            self._room.release()
            yield batch


class Total:
    """Size and MD5 so far. One thread at a time adds batches."""

    def __init__(self) -> None:
        self.size = 0
        self.hash = hashlib.md5(usedforsecurity=False)

    def add(self, batch: list[bytes]) -> None:
        """Add a batch."""
        for chunk in batch:
            self.hash.update(chunk)
            self.size += len(chunk)


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
