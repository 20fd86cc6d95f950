"""A bounded cache of metadata files on the local disk, in front of a remote store.

`DiskCached` wraps any adapter and is a store itself. It caches only files whose content never changes under their key,
so nothing is ever invalidated, and several processes may share a directory. When the cache fails, it reads the store.

A cached file has MAGIC, the length (8 bytes), the SHA-256 of the content, and the content. It gets its name by a
rename. The name is the SHA-256 of namespace and key. Sweeps remove the least recently used files first: at the first
write of a process, and each time that a sixteenth of the limit was written.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from lakebed_format.keys import COMMITS, LAYERS, METARANGES, RANGES

from lakebed_engine.stores.objects.base import BlobStat, ObjectStore, PutResult
from lakebed_engine.stores.objects.local.read import check_range
from lakebed_engine.stores.objects.multipart import Assembler, own_assembler
from lakebed_engine.stores.objects.presign import Signer, Signing
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.ports import Clock, Ids, RandomIds, SystemClock

IMMUTABLE = (RANGES, METARANGES, LAYERS, COMMITS)
"""The cached folders: their keys name the content."""

MAGIC = b"LAKEBED1"
_HEAD = len(MAGIC) + 8 + 32
_SHARE = 16
_LOW = 0.9
"""A sweep leaves at most this share of the limit."""

_STALE = 3600.0
"""Seconds after which a temporary file is abandoned."""

log = logging.getLogger("lakebed.cache")


class DiskCache:
    """A directory of at most about `limit` bytes. The methods block and never raise."""

    def __init__(self, directory: Path, limit: int, clock: Clock | None = None, ids: Ids | None = None) -> None:
        self._directory = directory
        self._limit = limit
        self._clock = clock or SystemClock()
        self._ids = ids or RandomIds()
        self._unswept = limit  # sweep at the first write
        self._complained = False
        self.hits = 0
        self.misses = 0

    def read(self, name: str) -> bytes | None:
        """The content. None when it is absent, damaged or unreadable."""
        path = self._path(name)
        try:
            data = path.read_bytes()
            head, content = data[:_HEAD], data[_HEAD:]
            if head != _head(content):
                path.unlink(missing_ok=True)
                self._complain("damaged file removed, read again from the store", path)
                return None
            os.utime(path)  # a sweep removes files in this order
        except FileNotFoundError:
            return None
        except OSError as error:
            self._complain(error.strerror or type(error).__name__, path)
            return None
        return content

    def write(self, name: str, content: bytes) -> None:
        """Cache the content, unless it is larger than a quarter of the limit."""
        if len(content) + _HEAD > self._limit // 4:
            return
        path = self._path(name)
        temp = self._directory / f"{self._ids.new()}.tmp"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                temp.write_bytes(_head(content) + content)
                temp.replace(path)
            except OSError:
                temp.unlink(missing_ok=True)
                raise
            self._unswept += len(content) + _HEAD
            if self._unswept >= self._limit // _SHARE:
                self._unswept = 0
                self.sweep()
        except OSError as error:
            self._complain(error.strerror or type(error).__name__, path)

    def forget(self, name: str) -> None:
        """Remove a file if it is cached."""
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            self._complain(error.strerror or type(error).__name__, self._path(name))

    def sweep(self) -> None:
        """Remove the least recently used files until the limit is met. Several processes may do it at the same time."""
        files = sorted(self._files())
        room = self._limit - sum(size for _, size, _ in files)
        if room >= 0:
            return
        wanted = self._limit - int(self._limit * _LOW)
        for _, size, path in files:
            if room >= wanted:
                return
            Path(path).unlink(missing_ok=True)
            room += size

    def _files(self) -> list[tuple[float, int, str]]:
        found = []
        for shelf in os.scandir(self._directory):
            entries = list(os.scandir(shelf.path)) if shelf.is_dir(follow_symlinks=False) else [shelf]
            for entry in entries:
                try:
                    known = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if not entry.name.endswith(".tmp"):
                    found.append((known.st_mtime, known.st_size, entry.path))
                elif known.st_mtime < self._clock.now() - _STALE:
                    Path(entry.path).unlink(missing_ok=True)
        return found

    def _path(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode()).hexdigest()
        return self._directory / digest[:2] / digest[2:]

    def _complain(self, what: str, path: Path) -> None:
        if not self._complained:
            self._complained = True
            log.warning("disk cache: %s: %s (reported once; reads go to the store)", path, what)


class DiskCached:
    """A store whose immutable files are read from the cache if they are there. `store_id`: that of a named store."""

    def __init__(self, store: ObjectStore, cache: DiskCache, threads: Threads, store_id: str = "") -> None:
        self._store = store
        self._base = f"{store_id}+{store.uri}" if store_id else store.uri
        self._cache = cache
        self._threads = threads

    @property
    def origin(self) -> ObjectStore:
        """The store behind the cache."""
        return self._store

    @property
    def uri(self) -> str:
        """The namespace's URI."""
        return self._store.uri

    @property
    def signer(self) -> Signer | None:
        """The signer of the store."""
        return self._store.signer if isinstance(self._store, Signing) else None

    @property
    def assembler(self) -> Assembler | None:
        """The assembler of the store."""
        return own_assembler(self._store)

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        """As the store. A later read caches the file."""
        await self._store.put(key, data, if_absent=if_absent, by_content=by_content)

    async def put_stream(
        self, key: str, chunks: AsyncIterable[bytes], *, if_absent: bool = False, fresh: bool = False
    ) -> PutResult:
        """As the store."""
        return await self._store.put_stream(key, chunks, if_absent=if_absent, fresh=fresh)

    async def get(self, key: str) -> bytes:
        """A whole file, from the cache, or from the store into the cache."""
        if not key.startswith(IMMUTABLE):
            return await self._store.get(key)
        name = self._name(key)
        found = await self._threads.run(self._cache.read, name)
        self._count(found)
        if found is None:
            found = await self._store.get(key)
            await self._threads.run(self._cache.write, name, found)
        return found

    async def get_range(self, key: str, start: int, length: int) -> bytes:
        """A part of a file: from the cache if the whole file is there, else from the store without caching it."""
        check_range(start, length)
        if key.startswith(IMMUTABLE):
            found = await self._threads.run(self._cache.read, self._name(key))
            self._count(found)
            if found is not None:
                return found[start : start + length]
        return await self._store.get_range(key, start, length)

    def open(
        self, key: str, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """As the store."""
        return self._store.open(key, start, length)

    async def head(self, key: str) -> BlobStat:
        """As the store."""
        return await self._store.head(key)

    def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        """As the store."""
        return self._store.list(prefix, start_after)

    async def any_key(self) -> str | None:
        """As the store."""
        return await self._store.any_key()

    def list_partial(self) -> AsyncIterator[BlobStat]:
        """As the store."""
        return self._store.list_partial()

    async def delete_partial(self, handle: str) -> None:
        """As the store."""
        await self._store.delete_partial(handle)

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove objects, also from the local cache."""
        await self._store.delete(keys)
        await self._forget(keys)

    async def _forget(self, keys: Sequence[str]) -> None:
        for key in keys:
            if key.startswith(IMMUTABLE):
                await self._threads.run(self._cache.forget, self._name(key))

    async def delete_older(self, keys: Sequence[str], before: float) -> Sequence[str]:
        """As the store. Also removes them from the local cache."""
        old = await self._store.delete_older(keys, before)
        await self._forget(old)
        return old

    async def copy(self, source: str, target: str) -> None:
        """As the store."""
        await self._store.copy(source, target)

    def _count(self, found: bytes | None) -> None:
        if found is None:
            self._cache.misses += 1
        else:
            self._cache.hits += 1

    def _name(self, key: str) -> str:
        return f"{self._base}/{key}"


def uncached(store: ObjectStore) -> ObjectStore:
    """The store without the cache in front of it."""
    return store.origin if isinstance(store, DiskCached) else store


def _head(content: bytes) -> bytes:
    return MAGIC + len(content).to_bytes(8, "big") + hashlib.sha256(content).digest()
