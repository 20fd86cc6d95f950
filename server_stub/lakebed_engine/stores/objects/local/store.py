"""`local://`: objects as files, durably.

This module is the interface of the local store. The other modules of this folder implement keys, publishing, small
puts, streams, reading and listing. A plain key is a plain path below the root, so other tools can read and write there.

No key leads out of the root, and no symbolic link is followed, at any depth (`local.paths`). Needs POSIX: flock, pread,
and directories that can be synced.

The kernel joins objects (copy_file_range). File systems that can share blocks, such as XFS and btrfs, share them. On
others, the bytes go through the page cache once, but not through this process. Each step is short, so a cancellation
takes effect soon, and other streams get their turn in the threads.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TypeVar

from lakebed_engine.stores.objects.base import BlobStat, PutResult, Refused
from lakebed_engine.stores.objects.local.keys import ROOT_BYTES, Places, key_bytes
from lakebed_engine.stores.objects.local.listing import HANDLE, leftovers, pages, pages_guarded
from lakebed_engine.stores.objects.local.publish import LOCK_SECONDS
from lakebed_engine.stores.objects.local.read import Reader
from lakebed_engine.stores.objects.local.stream import Spool, put_stream
from lakebed_engine.stores.objects.local.syscalls import SystemCalls, refuse_file, refuse_without, store_error
from lakebed_engine.stores.objects.local.write import Put, Writer
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.errors import InvalidNamespaceError, InvalidPathError
from lakebed_engine.vocabulary.streams import settled

T = TypeVar("T")

_DELETES = 500


class LocalObjects:
    """One namespace in one directory, which need not exist yet. Many processes may share it.

    A process must fork only while no call is running. The child then starts its own threads.

    The root is an absolute path without links; otherwise InvalidNamespaceError. `calls` are the system calls; tests
    replace them. `threads` are shared if given. `base` is a directory above the root that the administrator creates,
    such as a mounted disk. While it is missing, the store has no objects and writes none. `lock_seconds`: how long a
    put or a delete waits for the store's lock; then it raises StoreUnavailableError.
    """

    def __init__(
        self,
        root: Path,
        uri: str,
        *,
        threads: Threads | None = None,
        calls: SystemCalls | None = None,
        base: Path | None = None,
        lock_seconds: float = LOCK_SECONDS,
    ) -> None:
        path = os.fsencode(root)
        if os.path.realpath(path) != path:
            raise InvalidNamespaceError(
                f"the directory of {uri} is a symbolic link, and the server follows no links below "
                "objects.local.root: mount the directory there instead"
            )
        if len(path) > ROOT_BYTES:
            raise InvalidNamespaceError(
                f"the directory of {uri} has {len(path):,} bytes, at most {ROOT_BYTES} fit: {root}"
            )
        self._uri = uri
        self._threads = threads or Threads()
        self._owns_threads = threads is None
        self._places = Places(path)
        self._base = None if base is None else os.fsencode(base)
        self._writer = Writer(uri, self._places, calls or SystemCalls(), self._threads, self._base, lock_seconds)
        self._reader = Reader(uri, self._places, self._threads, self._base)

    @property
    def uri(self) -> str:
        """The namespace's URI."""
        return self._uri

    @property
    def directory(self) -> str:
        """The directory whose files are the plain keys."""
        return os.fsdecode(self._places.root)

    def close(self) -> None:
        """End the threads if they belong to this store."""
        if self._owns_threads:
            self._threads.close()

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        """Write a small object durably. A cancelled put is invisible or complete. A killed put `by_content` may leave a
        part.
        """
        named = by_content and not if_absent
        await self._writer.put(Put(key, key_bytes(key), if_absent=if_absent, data=data, by_content=named))

    async def put_stream(
        self, key: str, chunks: AsyncIterable[bytes], *, if_absent: bool = False, fresh: bool = False
    ) -> PutResult:
        """Write a stream durably. A cancelled or failed put leaves nothing. A killed put leaves a temp file, or, if
        `fresh`, a part of the object under the key.
        """
        raw = key_bytes(key)
        return await put_stream(
            key, raw, chunks, if_absent=if_absent, fresh=fresh, writer=self._writer, threads=self._threads
        )

    async def get(self, key: str) -> bytes:
        """A whole file, of bounded size."""
        return await self._reader.read(key)

    async def get_range(self, key: str, start: int, length: int) -> bytes:
        """`length` bytes from `start`. Returns fewer only at the end of the object."""
        return await self._reader.read_range(key, start, length)

    def open(
        self, key: str, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Stream an object or a part. A running stream survives a delete."""
        return self._reader.stream(key, start, length)

    async def head(self, key: str) -> BlobStat:
        """Size and mtime."""
        found = self._reader.stat(key)
        return BlobStat(key, found.st_size, found.st_mtime)

    def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        """Objects in byte order of the key. Each page shows the store at its time."""
        return self._list(pages, prefix, start_after)

    def list_guarded(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat | Refused]:
        """Like `list`, but also returns links, paths that are not files, and files of other accounts with several hard
        links.
        """
        return self._list(pages_guarded, prefix, start_after)

    async def _list(
        self, pages: Callable[[Places, bytes, bytes], Iterator[Sequence[T]]], prefix: str, start_after: str
    ) -> AsyncIterator[T]:
        # Half a surrogate pair is not a key, but may bound a listing: it sorts by its bytes.
        refuse_without(self._base, "list", self._uri, prefix)
        refuse_file(self._places.root, "list", self._uri, prefix)
        found = pages(self._places, prefix.encode(errors="surrogatepass"), start_after.encode(errors="surrogatepass"))
        while (page := await self._page(found, prefix)) is not None:
            for one in page:
                yield one

    async def any_key(self) -> str | None:
        """The first key, also of a link. An empty or missing directory is an empty namespace."""
        return await anext((one.key async for one in self.list_guarded()), None)

    async def list_partial(self) -> AsyncIterator[BlobStat]:
        """Temp files, including those of running puts: a sweep removes only old ones, by mtime."""
        found = leftovers(self._places)
        while (page := await self._page(found, "")) is not None:
            for blob in page:
                yield blob

    async def delete_partial(self, handle: str) -> None:
        """Remove one temp file. Ignores an absent one."""
        if not HANDLE.fullmatch(handle.encode(errors="surrogatepass")):
            raise InvalidPathError(f"not a handle that list_partial gave: {handle!r}")
        await self._threads.run(self._writer.publisher.discard, self._temp(handle))

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove objects durably. Ignores absent ones."""
        raw = [(key, key_bytes(key)) for key in keys]
        for start in range(0, len(raw), _DELETES):
            await self._threads.run(self._writer.delete, raw[start : start + _DELETES])

    async def delete_older(self, keys: Sequence[str], before: float) -> Sequence[str]:
        """Remove the older objects durably. Puts wait until it is done."""
        raw = [(key, key_bytes(key)) for key in keys]
        old: list[str] = []
        for start in range(0, len(raw), _DELETES):
            old += await self._threads.run(self._writer.delete, raw[start : start + _DELETES], before)
        return old

    async def copy(self, source: str, target: str) -> None:
        """Copy the bytes. A hard link would not do: a tool that writes in place would change both objects."""
        key_bytes(target)
        async with self.open(source) as chunks:
            await self.put_stream(target, chunks)

    async def concat(self, keys: Sequence[str], target: str) -> None:
        """Join the content of objects into another object. The kernel copies the blocks, or shares them if it can."""
        raw = key_bytes(target)
        await concat(keys, target, raw, reader=self._reader, writer=self._writer, threads=self._threads)

    async def _page(self, found: Iterator[Sequence[T]], prefix: str) -> Sequence[T] | None:
        try:
            return await self._threads.run(next, found, None)
        except OSError as error:
            raise store_error(error, "list", self._uri, prefix) from error

    def _temp(self, handle: str) -> bytes:
        return self._places.temp + b"/" + handle.encode()


_STEP = 64 << 20
"""Bytes copied at a time."""


async def concat(
    keys: Sequence[str], target: str, raw: bytes, *, reader: Reader, writer: Writer, threads: Threads
) -> None:
    """Write `target` durably from these objects, in order. Raises BlobNotFound, StoreUnavailableError."""
    spool = Spool(writer, target)
    try:
        await threads.run(spool.start)
        for key in keys:
            await _append(spool, key, reader, threads)
        await threads.run(spool.finish)
    except BaseException:
        await settled(asyncio.wrap_future(threads.move(spool.discard)))
        raise
    await writer.put(Put(target, raw, if_absent=False, temp=spool.path))


async def _append(spool: Spool, key: str, reader: Reader, threads: Threads) -> None:
    fd, found = reader.open(key)
    try:
        at = 0
        while at < found.st_size:
            at += await threads.run(spool.copy, fd, at, min(_STEP, found.st_size - at))
    finally:
        os.close(fd)
