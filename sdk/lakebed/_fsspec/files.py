"""Objects as open files.

A reader reads only the object that it opened. If the object is replaced, reading fails instead of mixing two contents.
A writer stores the object when it is closed. After an exception in the `with` block, or without `close`, it stores
nothing.
"""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any

from fsspec.asyn import AbstractAsyncStreamedFile
from fsspec.spec import AbstractBufferedFile

from lakebed._fsspec.paths import Row
from lakebed._fsspec.transaction_spool import SpooledFile
from lakebed._fsspec.uploads import Upload, WriteBuffer
from lakebed._integration.values import held_by_arrow, open_file, read_file_range, read_into
from lakebed.errors import InvalidRequestError
from lakebed.model import ObjectInfo

BLOCK = 8 << 20
"""Bytes that a writer collects before it sends them. Objects up to this size are sent in one piece, so a retry is
possible.
"""


_POOLED = 64 << 10


class Reader(AbstractBufferedFile):  # type: ignore[misc]
    """An object that is open for reading. It fetches ranges through one of fsspec's block caches, or reads a local
    file.
    """

    def __init__(self, fs: Any, path: str, mode: str = "rb", *, opened: Any = None, **options: Any) -> None:
        self._fd: int | None = None
        row, local, self._tail = opened if opened is not None else fs._open_now(path)
        options.pop("size", None)
        cache = options.pop("cache_type", None)
        self._fd = None if local is None else open_file(local, row["size"])
        if cache is None:  # a local file needs no cache, and a file with a footer is not read in sequence
            cache = "none" if self._fd is not None or self._tail else "readahead"
        self._details = row
        super().__init__(fs, path, mode, size=row["size"], cache_type=cache, **options)
        self.kwargs = {"opened": (row, local, self._tail)}

    def __reduce__(self) -> tuple[object, ...]:
        cache = getattr(self.cache, "name", "none")
        return _reopened, (self.fs, self.path, self.blocksize, self.loc, cache, self.kwargs["opened"])

    def _fetch_range(self, start: int, end: int) -> bytes:
        end = min(end, self.size)
        if start >= end:
            return b""
        if self._fd is not None:
            return read_file_range(self._fd, start, end - start, self.path)
        first = self.size - len(self._tail)
        if start >= first:
            return bytes(self._tail[start - first : end - first])
        data: bytes = self.fs._read_now(self.path, start, min(end, first) - start, self._details["checksum"])
        return data + self._tail[: end - first] if end > first else data

    def read_buffer(self, length: int = -1) -> Any:
        """Like `read`, but into reused memory of Arrow's pool. pyarrow calls this method instead of `read`.

        Allocating memory for each range would take a third of the read time.
        """
        import pyarrow as pa

        held_by_arrow(self)
        end = self.size if length < 0 else min(self.loc + length, self.size)
        start, size = self.loc, max(0, end - self.loc)
        first = self.size - len(self._tail)
        if size < _POOLED or self.cache.name != "none" or start >= first:
            return pa.py_buffer(self.read(size))
        if self._fd is None:
            buffer = self.fs._read_buffer(self.path, start, size, self._details["checksum"])
        else:
            buffer = pa.allocate_buffer(size)
            read_into(self._fd, start, memoryview(buffer), self.path)
        self.loc += size
        return buffer

    def close(self) -> None:
        """Close the file."""
        super().close()
        fd, self._fd = getattr(self, "_fd", None), None
        if fd is not None:
            os.close(fd)


def _reopened(fs: Any, path: str, block_size: int, position: int, cache_type: str, opened: Any) -> Any:
    """Open the same object at the same position in another process."""
    file = fs.open(path, block_size=block_size, cache_type=cache_type, opened=opened)
    file.seek(position)
    return file


class Writer(AbstractBufferedFile):  # type: ignore[misc]
    """An object that is open for writing. It keeps some blocks in memory, whatever the size of the object."""

    def __init__(self, fs: Any, path: str, mode: str = "wb", *, block_size: Any = None, **options: Any) -> None:
        size = block_size if isinstance(block_size, int) else BLOCK
        self.closed: bool
        autocommit = options.pop("autocommit", True)
        self._upload = Upload(fs._sender(path, mode, options), path)
        self._begin = partial(fs._spooled, path, mode, options)
        self._whole = partial(fs._store_now, path, mode, options)
        self._has_begun = False
        self._spooled: SpooledFile | None = None
        super().__init__(fs, path, "wb", block_size=size, autocommit=autocommit)
        self._process = os.getpid()
        self._held = WriteBuffer()
        self.stored: ObjectInfo | None = None

    def __reduce__(self) -> tuple[object, ...]:
        raise InvalidRequestError(
            f"lakebed://{self.path} is being written and cannot move to another process: open it in the process that "
            "writes"
        )

    def write(self, data: Any) -> int:
        """Append bytes. Sends or writes each full block. Raises the error of an earlier block."""
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        self._same_process()
        if self._on_disk() is not None:
            return self.write(data)  # the buffer's own
        if type(data) is bytes and len(data) <= self.blocksize:  # pyarrow does this a few hundred times for each file
            size = len(data)
            self._add(data)
        else:
            view = memoryview(data).cast("B")
            size = view.nbytes
            for start in range(0, size, self.blocksize):
                self._add(bytes(view[start : start + self.blocksize]))
        self.loc += size
        return size

    def _add(self, piece: bytes) -> None:
        self._held.add(piece)
        if self._held.size > self.blocksize:
            self.fs._wait(self._upload.feed, self._held.take())

    def _on_disk(self) -> SpooledFile | None:
        """Return the local file, in a transaction whose directory is on this machine. Decided at the first write."""
        if not self._has_begun:
            self._spooled, self._has_begun = self._begin(), True
            if self._spooled is not None:  # from now on the caller uses the buffer directly
                buffer = self._spooled.buffer
                self.write, self.tell = buffer.write, buffer.tell  # type: ignore[method-assign, assignment]
        return self._spooled

    def _off_disk(self) -> None:
        """Restore the own `write` and `tell`, which refuse when the file is closed."""
        if self._spooled is not None:
            self.loc = self._spooled.buffer.tell()
            self._spooled = None  # with its buffer: the transaction keeps the files until it ends
            del self.write, self.tell

    def flush(self, force: bool = False) -> None:
        """Do nothing: an object appears when it is closed."""

    def discard(self) -> None:
        """Close without storing anything."""
        if self.closed:
            return
        self.closed = True
        self._held.clear()
        if self._process != os.getpid():
            return
        spooled = self._spooled
        self._off_disk()
        if spooled is not None:
            spooled.discard()
        else:
            self.fs._wait(self._upload.discard)

    def close(self) -> None:
        """Store the written bytes. Raises the error of the store call. The file is closed in any case."""
        if self.closed:
            return
        self._same_process()
        self.closed = True
        spooled = self._on_disk()
        if spooled is not None:
            self._off_disk()
            self.stored = spooled.finish()
            if spooled.spool.is_full:
                self.fs._wait(spooled.spool.flush)
            return
        last = self._held.take()
        stored = None if self._upload.has_begun else self._whole(last)
        self.stored = stored or self.fs._wait(self._upload.finish, last)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.discard()
        self.close()

    def __del__(self) -> None:
        if self.closed:
            return
        if self._process == os.getpid():
            warnings.warn(f"{self!r} was never closed: nothing is stored", ResourceWarning, stacklevel=2, source=self)
        with suppress(Exception):
            self.discard()
        if self._process == os.getpid():
            self._upload.abandon()  # where the collector runs on the event loop, `discard` cannot wait for it

    def _same_process(self) -> None:
        if self._process != os.getpid():
            raise InvalidRequestError(
                f"lakebed://{self.path} was opened for writing in another process: open it in the process that writes"
            )


class AsyncFile(AbstractAsyncStreamedFile):  # type: ignore[misc]
    """An open file of `open_async`, on the event loop of its user."""

    def __init__(self, fs: Any, path: str, mode: str, *, opened: Any = None, **options: Any) -> None:
        row: Row = opened[0] if opened else {"size": 0, "checksum": ""}
        self._details = row
        self.closed: bool
        super().__init__(fs, path, mode, size=row["size"], cache_type="none", block_size=BLOCK)
        self._upload = None if mode == "rb" else Upload(fs._sender(path, mode, options), path)
        self._held = bytearray()

    async def _fetch_range(self, start: int, end: int) -> bytes:
        end = min(end, self.size)
        if start >= end:
            return b""
        data: bytes = await self.fs._read_exactly(self.path, start, end - start, self._details["checksum"])
        return data

    async def write(self, data: Any) -> int:
        """Append bytes."""
        if self.closed or self._upload is None:
            raise ValueError("the file is closed, or open to read")
        self._held += data
        self.loc += len(data)
        if len(self._held) >= self.blocksize:
            block, self._held = bytes(self._held), bytearray()
            await self._upload.feed(block)
        return len(data)

    async def flush(self, force: bool = False) -> None:
        """Do nothing: an object appears when it is closed."""

    async def close(self) -> None:
        """Store the written bytes, or close the reader."""
        if self.closed:
            return
        self.closed = True
        if self._upload is not None:
            await self._upload.finish(bytes(self._held))

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None and self._upload is not None and not self.closed:
            self.closed = True
            await self._upload.discard()
        await self.close()

    def __del__(self) -> None:
        """A file that was not closed stores nothing, and its request ends. Its event loop may have ended before."""
        upload = getattr(self, "_upload", None)
        if upload is not None and not self.closed:
            upload.abandon()
