"""Interfaces for multipart uploads through the server.

`multipart_objects` works with any store. `cloud.presigned_multipart` uses the multipart uploads of S3 and Azure: the
server passes on the bytes of a part once, and the store joins the parts.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from lakebed_engine.stores.objects.base import ObjectStore


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A stored part: its size in bytes, its hex MD5, and the store's name for it."""

    number: int
    size: int
    md5: str
    handle: str


class Assembler(Protocol):
    """The multipart uploads of one namespace. Each upload has its own key, and nothing else is written to that key.

    Calls may raise StoreUnavailableError, StoreFullError.
    """

    async def begin(self, key: str, content_type: str) -> str:
        """Begin an upload. Returns its id in the store, or an empty text. Nothing is visible under the key yet."""
        ...

    async def put(self, key: str, upload: str, number: int, size: int, chunks: AsyncIterable[bytes]) -> StoredPart:
        """Write a part of exactly `size` bytes durably, with bounded memory. May replace an earlier one of its number.

        Raises the errors of `chunks`, even at its end: then the part is not written. Raises InvalidRequestError for
        another size, BlobNotFound when the upload does not exist.
        """
        ...

    async def copy(self, key: str, upload: str, number: int, source: str, start: int, length: int) -> StoredPart | None:
        """Copy bytes of an object of this namespace to a part, inside the store. None when the store cannot do it."""
        ...

    async def assemble(self, key: str, upload: str, parts: Sequence[StoredPart]) -> None:
        """Combine the parts, in this order, to one object, durably. It becomes visible as a whole or not at all.

        Safe to repeat with the same parts. Raises BlobNotFound when the upload or a part no longer exists: if it
        was assembled before, the object is at the key. Raises InvalidRequestError when a part was replaced, and
        OutcomeUnknownError when the response was lost: read the key.
        """
        ...

    async def clear(self, key: str, upload: str) -> None:
        """Free the space of the parts of an ended upload. Ignores what does not exist."""
        ...


@runtime_checkable
class Numbering(Assembler, Protocol):
    """Uploads whose parts clients may also write, at presigned URLs. Clients know a part only by its number."""

    async def put_numbered(self, key: str, upload: str, number: int, size: int, chunks: AsyncIterable[bytes]) -> str:
        """Write a part as such a client does, and replace an earlier one of its number. Returns its ETag.

        Raises as `put` of `Assembler`.
        """
        ...


@runtime_checkable
class Assembling(Protocol):
    """A store that may have its own multipart uploads."""

    @property
    def assembler(self) -> Assembler | None:
        """The assembler, or None when the store has none."""
        ...


@runtime_checkable
class Concatenating(Protocol):
    """A store that joins objects without moving their bytes through the memory of this process."""

    async def concat(self, keys: Sequence[str], target: str) -> None:
        """Join the content of objects into another object, durably. Raises BlobNotFound."""
        ...


def own_assembler(store: ObjectStore) -> Assembler | None:
    """The store's own assembler, or None."""
    return store.assembler if isinstance(store, Assembling) else None
