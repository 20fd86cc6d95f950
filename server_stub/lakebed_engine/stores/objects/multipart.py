"""What a store does for an object that arrives in parts.

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
    """A part that is in the store: its size in bytes, its hex MD5, and what the store knows it by."""

    number: int
    size: int
    md5: str
    handle: str


class Assembler(Protocol):
    """Uploads in parts, of one namespace. Each is to a key of its own, which nothing else is ever written to.

    Calls may raise StoreUnavailableError, StoreFullError.
    """

    async def begin(self, key: str, content_type: str) -> str:
        """Begin an upload; gives what the store calls it, or nothing. Nothing is visible under the key yet."""
        ...

    async def put(self, key: str, upload: str, number: int, size: int, chunks: AsyncIterable[bytes]) -> StoredPart:
        """Write a part of exactly `size` bytes durably, with bounded memory. What an earlier one of its number holds
        may stay or go.

        Raises what `chunks` raises, as it is, also when it does so at its very end: the part is not written then.
        InvalidRequestError for another size, BlobNotFound when there is no such upload.
        """
        ...

    async def copy(self, key: str, upload: str, number: int, source: str, start: int, length: int) -> StoredPart | None:
        """Make a part of an object of this namespace, inside the store. None where it has to be read and written."""
        ...

    async def assemble(self, key: str, upload: str, parts: Sequence[StoredPart]) -> None:
        """Make the parts, in this order, the object of the key, durably: it is visible at once, or not at all.

        Safe to repeat with the same parts. Raises BlobNotFound when the upload or a part is no more, which may mean
        that it was done before: look at the key. InvalidRequestError when a part was replaced meanwhile.
        OutcomeUnknownError when the answer was lost: look as well.
        """
        ...

    async def clear(self, key: str, upload: str) -> None:
        """Free what the parts take, of an upload that has ended in one way or the other. Nothing there is no error."""
        ...


@runtime_checkable
class Numbering(Assembler, Protocol):
    """Uploads whose parts clients write, too, each at a signed address: they know a part by its number only."""

    async def put_numbered(self, key: str, upload: str, number: int, size: int, chunks: AsyncIterable[bytes]) -> str:
        """Write a part as such a client does, in the place of an earlier one of its number; gives its ETag.

        Raises as `put` of `Assembler`.
        """
        ...


@runtime_checkable
class Assembling(Protocol):
    """A store that may have uploads in parts of its own."""

    @property
    def assembler(self) -> Assembler | None:
        """What does them; None where nothing can."""
        ...


@runtime_checkable
class Concatenating(Protocol):
    """A store that joins objects without moving their bytes through this process' memory."""

    async def concat(self, keys: Sequence[str], target: str) -> None:
        """The content of objects, one behind the other, as another, durably. Raises BlobNotFound."""
        ...


def own_assembler(store: ObjectStore) -> Assembler | None:
    """The store's own uploads in parts."""
    return store.assembler if isinstance(store, Assembling) else None
