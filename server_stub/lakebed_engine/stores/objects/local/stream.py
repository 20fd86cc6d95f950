"""Streams into `local://` of 1 MiB and more.

One worker writes the batches and one hashes them, while the next batches arrive. A third thread syncs the written
bytes. MD5 is slower than the disk, so hashing limits the speed. Memory holds at most _WAITING + 2 batches of CHUNK
bytes, and the rest of one chunk.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
from collections.abc import AsyncIterable, Iterator, Sequence
from contextlib import contextmanager

from lakebed_engine.stores.objects.base import PutResult
from lakebed_engine.stores.objects.local.syscalls import store_error, write_all
from lakebed_engine.stores.objects.local.write import Put, Writer
from lakebed_engine.stores.objects.threads import SerialWorker, Threads
from lakebed_engine.vocabulary.streams import CHUNK, finished, settled

_SYNC_EVERY = 32 << 20
"""Bytes between early syncs. They keep the last sync short, and the memory free of unwritten pages."""

_WAITING = 4
"""Batches that may wait in each worker."""

_NO_COPY = {errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EBADF}
"""The errors of copy_file_range when the file system or the kernel does not support it."""

_PIECES = 256
"""Maximum number of separate chunks in a batch before they are joined. One writev takes 1,024."""


class Batches:
    """Groups the chunks of a stream into lists of at least CHUNK bytes in total, except for the last."""

    def __init__(self, chunks: AsyncIterable[bytes]) -> None:
        self._chunks = aiter(chunks)

    async def next(self) -> list[bytes]:
        """The next batch, empty at the end."""
        batch: list[bytes] = []
        size = 0
        async for chunk in self._chunks:
            batch.append(bytes(chunk))  # bytes are not copied; a bytearray could change while threads read it
            size += len(chunk)
            if size >= CHUNK:
                break
            if len(batch) >= _PIECES:
                batch = [b"".join(batch)]
        return batch


class Spool:
    """One temp file as it grows. The methods block and run in threads, `write` and `digest` at the same time."""

    def __init__(self, writer: Writer, key: str) -> None:
        self.size = 0
        self.path = b""
        self._key = key
        self._writer = writer
        self._calls = writer.calls
        self._fd = -1
        self._unsynced = 0
        self._hash = hashlib.md5(usedforsecurity=False)

    def start(self) -> None:
        """Create the file."""
        with self._errors():
            path = self._writer.temp_path()
            self._fd = self._writer.create_temp(path, self._key)
            self.path = path

    def write(self, batch: Sequence[bytes]) -> None:
        """Append without joining the chunks."""
        size = sum(map(len, batch))
        with self._errors():
            written = self._calls.writev(self._fd, batch)
            if written < size:
                write_all(self._calls, self._fd, b"".join(batch)[written:])
        self.size += size

    def digest(self, batch: Sequence[bytes]) -> None:
        """Hash."""
        for chunk in batch:
            self._hash.update(chunk)

    def copy(self, source: int, start: int, length: int) -> int:
        """Append a part of an open file, and begin to send it to the disk. Returns the number of bytes, at least 1.

        The kernel copies or shares the blocks. If it cannot, the bytes are read and written.
        """
        with self._errors():
            try:
                done = int(self._calls.copy_file_range(source, self._fd, length, start))
            except OSError as error:
                if error.errno not in _NO_COPY:
                    raise
                data = os.pread(source, min(length, CHUNK), start)
                write_all(self._calls, self._fd, data)
                done = len(data)
            if not done:
                raise OSError(errno.EIO, "a part has become shorter")
            self._unsynced += done
            if self._unsynced >= _SYNC_EVERY:
                self._calls.fdatasync(self._fd)
                self._unsynced = 0
            else:
                self._calls.writeback(self._fd)
        self.size += done
        return done

    def sync(self) -> None:
        """Send the bytes written so far to the disk."""
        with self._errors():
            self._calls.fdatasync(self._fd)

    def finish(self) -> PutResult:
        """Make the complete file durable."""
        with self._errors():
            self._calls.fsync(self._fd)
            fd, self._fd = self._fd, -1
            self._calls.close(fd)
        return PutResult(self.size, self._hash.hexdigest())

    def discard(self) -> None:
        """Close and remove the file."""
        if self._fd >= 0:
            self._calls.close(self._fd)
        if self.path:
            self._writer.publisher.discard(self.path)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Converts only errors of the store: an OSError of the caller's stream, such as a lost connection, passes
        unchanged.
        """
        try:
            yield
        except OSError as error:
            raise store_error(error, "write", self._writer.uri, self._key) from error


async def put_stream(
    key: str,
    raw: bytes,
    chunks: AsyncIterable[bytes],
    *,
    if_absent: bool,
    fresh: bool,
    writer: Writer,
    threads: Threads,
) -> PutResult:
    """Write a stream: below CHUNK bytes as a small put, else through a spool. Raises the errors of `chunks`."""
    batches = Batches(chunks)
    first = await batches.next()
    if sum(map(len, first)) < CHUNK:
        data = b"".join(first)
        return await writer.put(Put(key, raw, if_absent=if_absent, data=data, hashed=True, fresh=fresh))
    spool = Spool(writer, key)
    result = await _fill(spool, first, batches, threads)
    await writer.put(Put(key, raw, if_absent=if_absent, temp=spool.path))
    return result


async def _fill(spool: Spool, batch: list[bytes], batches: Batches, threads: Threads) -> PutResult:
    workers = [SerialWorker(threads, job, _WAITING) for job in (spool.write, spool.digest)]
    syncs: list[asyncio.Future[None]] = []
    unsynced = 0
    try:
        await threads.run(spool.start)
        while batch:
            for worker in workers:
                await worker.put(batch)
            unsynced += sum(map(len, batch))
            if unsynced >= _SYNC_EVERY:
                for sync in syncs:
                    await finished(sync)
                syncs, unsynced = [asyncio.wrap_future(threads.move(spool.sync))], 0
            batch = await batches.next()
        for worker in workers:
            await worker.drain()
        for sync in syncs:
            await finished(sync)
        return await threads.run(spool.finish)
    except BaseException:
        for worker in workers:
            await worker.stop()
        await settled(*syncs)
        await settled(asyncio.wrap_future(threads.move(spool.discard)))
        raise
