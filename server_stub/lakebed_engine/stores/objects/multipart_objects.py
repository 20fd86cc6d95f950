"""Multipart uploads for every store that has none: parts are objects, and are joined at the end.

The parts of an upload are in one folder below PARTS, named by the last segment of its key. Each attempt to write a part
has its own name, so a failed part does not change the one before. Stores that can join objects do so. With other
stores, the bytes are read and written once more.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Sequence

from lakebed_format.keys import PARTS, is_made

from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.multipart import Concatenating, StoredPart
from lakebed_engine.vocabulary.errors import InvalidRequestError
from lakebed_engine.vocabulary.ports import Ids

_PAGE = 500


class ObjectParts:
    """The assembler of one namespace."""

    def __init__(self, store: ObjectStore, ids: Ids) -> None:
        self._store = store
        self._ids = ids

    async def begin(self, key: str, content_type: str) -> str:
        """Does nothing: there is nothing to begin."""
        return ""

    async def put(self, key: str, upload: str, number: int, size: int, chunks: AsyncIterable[bytes]) -> StoredPart:
        """Write the part as an object."""
        name = f"{folder_of(key)}{number:05}-{self._ids.new()}"
        put = await self._store.put_stream(name, exactly(size, chunks))
        return StoredPart(number, put.size, put.md5, name)

    async def copy(self, key: str, upload: str, number: int, source: str, start: int, length: int) -> StoredPart | None:
        """Always None: the caller must read the bytes anyway, for the MD5."""
        return None

    async def assemble(self, key: str, upload: str, parts: Sequence[StoredPart]) -> None:
        """Join the parts. A repeated call writes the same object."""
        names = [part.handle for part in parts]
        if isinstance(self._store, Concatenating):
            await self._store.concat(names, key)
        else:
            await self._store.put_stream(key, self._content(names))

    async def clear(self, key: str, upload: str) -> None:
        """Remove all parts of the upload. Keeps any other key in the folder."""
        names: list[str] = []
        async for blob in self._store.list(folder_of(key)):
            if is_made(blob.key):
                names.append(blob.key)
            if len(names) >= _PAGE:
                await self._store.delete(names)
                names = []
        if names:
            await self._store.delete(names)

    async def _content(self, names: Sequence[str]) -> AsyncIterator[bytes]:
        for name in names:
            async with self._store.open(name) as chunks:
                async for chunk in chunks:
                    yield chunk


def folder_of(key: str) -> str:
    """The folder of an upload's parts, with its final slash."""
    return f"{PARTS}{key.rpartition('/')[2]}/"


async def exactly(size: int, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The chunks. Raises InvalidRequestError when they do not have exactly `size` bytes."""
    seen = 0
    async for chunk in chunks:
        seen += len(chunk)
        if seen > size:
            break
        yield chunk
    if seen != size:
        what = "more" if seen > size else f"only {seen}"
        raise InvalidRequestError(
            f"a part of {size} bytes was announced, but {what} arrived: it was not stored; send it again"
        )
