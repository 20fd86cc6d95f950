"""Multipart uploads of S3 and Azure: the server sends the parts to presigned URLs, and the store joins them.

A killed server can leave an upload that no record names. The bucket's lifecycle rule must remove it (Azure removes it
itself).
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence

from lakebed_engine.stores.objects.cloud.errors import error_of
from lakebed_engine.stores.objects.cloud.keys import Place
from lakebed_engine.stores.objects.cloud.presigned_put import Sent, send
from lakebed_engine.stores.objects.multipart import StoredPart
from lakebed_engine.stores.objects.presign import Part, PartUploads, ToWrite
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.errors import BlobNotFound, InvalidRequestError
from lakebed_engine.vocabulary.ports import Ids

_SECONDS = 3600
"""How long a URL is valid, in seconds. The store checks this when the upload of the part begins."""

_MD5 = re.compile(r"[0-9a-f]{32}")
_AZURE_BLOCK = 4000 << 20
"""The largest block in bytes."""

Copy = Callable[[str, str, int, str, int, int], Awaitable[str]]
"""Copies inside the store and returns the ETag. Arguments: key, upload, number, source, first byte and length."""


class SignedParts:
    """The assembler of one namespace."""

    def __init__(
        self, place: Place, uploads: PartUploads, threads: Threads, ids: Ids, silence: float, copy: Copy | None = None
    ) -> None:
        """Without `copy`, the store cannot copy objects to parts."""
        self._place = place
        self._uploads = uploads
        self._threads = threads
        self._ids = ids
        self._silence = silence
        self._copy = copy
        self._azure = place.scheme == "az"

    async def begin(self, key: str, content_type: str) -> str:
        """Begin an upload. Returns the store's id of it."""
        return await self._uploads.create(ToWrite(key, content_type))

    async def put(self, key: str, upload: str, number: int, size: int, chunks: AsyncIterable[bytes]) -> StoredPart:
        """Write the part with one PUT."""
        store_number = self._store_number(number)
        sent = await self._sent(key, upload, store_number, size, chunks)
        handle = str(store_number) if self._azure else _etag(sent)
        return StoredPart(number, size, sent.md5, handle)

    async def put_numbered(self, key: str, upload: str, number: int, size: int, chunks: AsyncIterable[bytes]) -> str:
        """Write the part with one PUT. Azure returns and needs no ETag for a block, so there it is the MD5."""
        sent = await self._sent(key, upload, number, size, chunks)
        return sent.md5 if self._azure else _etag(sent)

    async def _sent(self, key: str, upload: str, store_number: int, size: int, chunks: AsyncIterable[bytes]) -> Sent:
        if self._azure and size > _AZURE_BLOCK:
            raise InvalidRequestError(f"a part of {size} bytes: az:// takes at most {_AZURE_BLOCK}; send smaller parts")
        (request,) = await self._uploads.sign(key, upload, [store_number], _SECONDS)
        sent = await send(request, size, chunks, self._threads, self._silence)
        if sent.fault is not None:
            if sent.fault.code == "NoSuchUpload":
                raise BlobNotFound(f"there is no such upload to {self._place.uri}/{key}")
            raise error_of(sent.fault, "write a part of", self._place, key)
        return sent

    async def copy(self, key: str, upload: str, number: int, source: str, start: int, length: int) -> StoredPart | None:
        """Copy inside the store. None when the ETag of the copy is not its MD5."""
        if self._copy is None:
            return None
        etag = (await self._copy(key, upload, number, source, start, length)).strip('"')
        return StoredPart(number, length, etag, etag) if _MD5.fullmatch(etag) else None

    async def assemble(self, key: str, upload: str, parts: Sequence[StoredPart]) -> None:
        """Join the parts with one request."""
        if self._azure:
            listed = [Part(int(part.handle), "") for part in parts]
        else:
            listed = [Part(part.number, part.handle) for part in parts]
        await self._uploads.complete(key, upload, listed)

    async def clear(self, key: str, upload: str) -> None:
        """Abort the upload. Does nothing for a completed one, which no longer exists."""
        try:
            await self._uploads.abort(key, upload)
        except BlobNotFound:
            return

    def _store_number(self, number: int) -> int:
        """The number of a part in the store. Azure checks no ETags, so there each attempt has another number.

        It has ten digits there, because all block names of a blob must have the same length.
        """
        return (10_000 + number) * 100_000 + int(self._ids.new()[:8], 16) % 100_000 if self._azure else number


def _etag(sent: Sent) -> str:
    return sent.headers.get("etag", "").strip('"')
