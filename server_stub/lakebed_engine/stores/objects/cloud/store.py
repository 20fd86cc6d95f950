"""`s3://`, `gs://`, `az://`: objects in a bucket, through obstore.

The other modules of this folder implement keys, options, errors, the client, conditional puts, streams, listing and
signing. Needs the package obstore (the extra `lakebed[s3]`), which is imported at the first use.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from lakebed_engine.stores.objects.base import BlobStat, PutResult
from lakebed_engine.stores.objects.cloud.client import Client
from lakebed_engine.stores.objects.cloud.conditional_put import Creator
from lakebed_engine.stores.objects.cloud.errors import fault_of, starts_beyond, store_errors
from lakebed_engine.stores.objects.cloud.keys import TEMP, Place
from lakebed_engine.stores.objects.cloud.listing import HANDLE, Lister
from lakebed_engine.stores.objects.cloud.options import CloudOptions
from lakebed_engine.stores.objects.cloud.presign import ObstoreSigner
from lakebed_engine.stores.objects.cloud.presigned_multipart import SignedParts
from lakebed_engine.stores.objects.cloud.s3.client import S3Client
from lakebed_engine.stores.objects.cloud.s3.credentials import botocore_installed
from lakebed_engine.stores.objects.cloud.s3.presign import S3Signer
from lakebed_engine.stores.objects.cloud.stream import Uploader
from lakebed_engine.stores.objects.local.read import check_range
from lakebed_engine.stores.objects.multipart import Assembler
from lakebed_engine.stores.objects.presign import Signer
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.corruption import refuse_larger
from lakebed_engine.vocabulary.errors import BlobNotFound, InvalidNamespaceError, InvalidPathError
from lakebed_engine.vocabulary.ports import Clock, Ids, RandomIds, SystemClock
from lakebed_engine.vocabulary.streams import CHUNK

if TYPE_CHECKING:
    from obstore import GetOptions, GetResult

_URI = re.compile(r"(s3|gs|az)://([^/]+)(?:/(.+?))?/?", re.DOTALL)
_DELETES = 1000
_LOOKS = 16
"""How many objects to check together before they are deleted. Few, so that little time passes in between."""
_LEAST = 256 << 10
"""The smallest number of bytes that a reader gets at a time, except at the end."""


class CloudObjects:
    """One namespace in one bucket. Many processes may share it. A process must fork before it uses one."""

    def __init__(
        self,
        uri: str,
        options: CloudOptions | None = None,
        *,
        threads: Threads | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        foreign: bool = False,
    ) -> None:
        """`foreign`: a store to read only. Its listings may raise UnsortedListing, once."""
        match = _URI.fullmatch(uri)
        if match is None:
            raise InvalidNamespaceError(f"a cloud namespace is s3://BUCKET/PREFIX, gs:// or az://, not {uri!r}")
        self._threads = threads or Threads()
        self._owns_threads = threads is None
        ids = ids or RandomIds()
        options = options or CloudOptions()
        prefix = f"{match[3]}/" if match[3] else ""
        self._place = Place(uri.removesuffix("/"), match[1], match[2], prefix, options.store_id)
        self._client = Client(self._place, options)
        self._signer = self._made_signer(options, ids)
        self._assembler = self._made_assembler(options, ids)
        creator = Creator(self._client, clock or SystemClock(), ids)
        self._uploader = Uploader(self._client, creator, self._threads, ids)
        self._lister = Lister(self._client, foreign=foreign)

    def _made_signer(self, options: CloudOptions, ids: Ids) -> Signer | None:
        if self._place.scheme != "s3":
            return ObstoreSigner(self._client, self._threads, ids)
        if not botocore_installed():
            return None
        return S3Signer(S3Client(self._place, options), self._threads, ids, tags=options.tags)

    def _made_assembler(self, options: CloudOptions, ids: Ids) -> Assembler | None:
        signer = self._signer
        if signer is None or signer.parts is None:
            return None
        copy = signer.parts.copy if isinstance(signer, S3Signer) else None
        return SignedParts(self._place, signer.parts, self._threads, ids, options.silence_seconds, copy)

    @property
    def uri(self) -> str:
        """The namespace's URI."""
        return self._place.uri

    def close(self) -> None:
        """End the threads if they belong to this store."""
        if self._owns_threads:
            self._threads.close()

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        """Write with one request. A cancelled put is absent or complete."""
        await self._uploader.put(key, self._place.name(key), bytes(data), if_absent)

    async def put_stream(
        self, key: str, chunks: AsyncIterable[bytes], *, if_absent: bool = False, fresh: bool = False
    ) -> PutResult:
        """One request for less than 8 MiB, else a multipart upload, which an error or a cancellation aborts."""
        return await self._uploader.put_stream(key, self._place.name(key), chunks, if_absent)

    async def get(self, key: str) -> bytes:
        """A whole file of limited size. The store reports the size before it sends the content."""
        with store_errors("read", self._place, key, absent=True):
            found = await self._get(key, None)
            refuse_larger(self.uri, key, found.meta["size"])
            return bytes(await found.bytes_async())

    async def get_range(self, key: str, start: int, length: int) -> bytes:
        """`length` bytes from `start`. Returns fewer only at the end of the object."""
        check_range(start, length)
        async with self._open(key, start, length) as chunks:
            return b"".join([chunk async for chunk in chunks])

    def open(
        self, key: str, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Stream an object or a part. It survives a delete if the server finishes running responses."""
        check_range(start, length)
        return self._open(key, start, length)

    async def head(self, key: str) -> BlobStat:
        """Size and mtime."""
        from obstore import head_async

        name = self._place.name(key)
        with store_errors("look at", self._place, key, absent=True):
            try:
                meta = await head_async(self._client.store, name)
            except FileNotFoundError:  # key or bucket may be missing: the body of a GET says which
                meta = (await self._get(key, None)).meta
        return self._lister.stat(meta, key)

    def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        """Objects in byte order of the key. Each page shows the store at its time."""
        return self._lister.list(prefix, start_after)

    async def any_key(self) -> str | None:
        """One request, unless a page has only temporary objects and probes."""
        return await self._lister.any_key()

    def list_partial(self) -> AsyncIterator[BlobStat]:
        """Temporary objects of long conditional streams. obstore cannot list multipart uploads."""
        return self._lister.partial()

    async def delete_partial(self, handle: str) -> None:
        """Remove one temporary object. Ignores an absent one."""
        if not HANDLE.fullmatch(handle):
            raise InvalidPathError(f"not a handle that list_partial gave: {handle!r}")
        await self._delete([f"{self._place.prefix}{TEMP}{handle}"], TEMP + handle)

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove objects, a thousand in a request if the store supports it. Ignores absent ones."""
        names = list(dict.fromkeys(map(self._place.name, keys)))
        for at in range(0, len(names), _DELETES):
            await self._delete(names[at : at + _DELETES], keys[0])

    async def delete_older(self, keys: Sequence[str], before: float) -> Sequence[str]:
        """Check all objects, then remove the older ones. A put in the time between is lost: see `gc`."""
        old: list[str] = []
        for at in range(0, len(keys), _LOOKS):
            page = keys[at : at + _LOOKS]
            ages = await asyncio.gather(*(self._written(key) for key in page))
            doomed = [key for key, written in zip(page, ages, strict=True) if written < before]
            if doomed:
                await self.delete(doomed)
            old += doomed
        return old

    async def _written(self, key: str) -> float:
        try:
            return (await self.head(key)).mtime
        except BlobNotFound:
            return math.inf

    async def copy(self, source: str, target: str) -> None:
        """Copy inside the bucket. S3 copies at most 5 GiB."""
        from obstore import copy_async

        names = self._place.name(source), self._place.name(target)
        with store_errors("copy", self._place, source, absent=True):
            await copy_async(self._client.store, *names)

    @property
    def signer(self) -> Signer | None:
        """The signer. None on S3 without botocore."""
        return self._signer

    @property
    def assembler(self) -> Assembler | None:
        """The assembler of multipart uploads. None on GCS, and on S3 without botocore."""
        return self._assembler

    async def _delete(self, names: Sequence[str], key: str) -> None:
        from obstore import delete_async

        with store_errors("delete", self._place, key):
            try:
                await delete_async(self._client.store, names)
                return
            except FileNotFoundError as error:  # GCS and Azure stop at an absent object
                if fault_of(error).code == "NoSuchBucket":
                    raise
            for name in names:
                try:
                    await delete_async(self._client.store, name)
                except FileNotFoundError:
                    continue

    async def _get(self, key: str, options: GetOptions | None) -> GetResult:
        from obstore import get_async

        return await get_async(self._client.store, self._place.name(key), options=options)

    @asynccontextmanager
    async def _open(self, key: str, start: int, length: int | None) -> AsyncIterator[AsyncIterator[bytes]]:
        chunks = self._chunks(await self._begin(key, start, length), key)
        try:
            yield chunks
        finally:
            await chunks.aclose()

    async def _begin(self, key: str, start: int, length: int | None) -> GetResult | None:
        """The running response to a GET. None when the part is empty."""
        from obstore.exceptions import BaseError

        if length == 0:
            await self.head(key)
            return None
        options: GetOptions | None = None
        if length is not None:
            options = {"range": (start, start + length)}
        elif start:
            options = {"range": {"offset": start}}
        with store_errors("read", self._place, key, absent=True):
            try:
                return await self._get(key, options)
            except BaseError as error:
                if starts_beyond(error):
                    return None
                raise

    async def _chunks(self, found: GetResult | None, key: str) -> AsyncGenerator[bytes]:
        if found is None:
            return
        with store_errors("read", self._place, key):
            start, end = found.range
            if end - start <= _LEAST:  # one call instead of a stream with a single piece
                if data := bytes(await found.bytes_async()):
                    yield data
                return
            async for piece in found.stream(min_chunk_size=_LEAST):
                view = memoryview(piece)
                for at in range(0, len(view), CHUNK):
                    yield bytes(view[at : at + CHUNK])
