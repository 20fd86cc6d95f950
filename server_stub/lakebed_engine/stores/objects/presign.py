"""Signed addresses: how clients read and write a store themselves, without its credentials.

Keys are relative to the namespace. An address is a secret until it ends: it stands in no log and in no `repr`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

LARGEST_PUT = 5 << 30
"""Bytes of one PUT, as on S3."""

MOST_PARTS = 10_000
"""Parts of one upload, as on S3."""


@dataclass(frozen=True, slots=True)
class ToWrite:
    """An object that is to be written. An empty `content_type` leaves it to whoever writes.

    `guarded`: where the store can, the address replaces nothing that is there. The writer must then send the headers
    that come with it, which only clients of our own do.
    """

    key: str
    content_type: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    guarded: bool = True


@dataclass(frozen=True, slots=True)
class ToRead:
    """An object that is to be read, and the content type that the store is to answer with, where it can."""

    key: str
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A URL, and the headers that must be sent with it as they stand."""

    url: str = field(repr=False)
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Part:
    """A part that is in the store: its number from 1, and the ETag that the store answered."""

    number: int
    etag: str


class PartUploads(Protocol):
    """Objects written in parts, each to an address of its own. A call may raise StoreUnavailableError."""

    async def create(self, target: ToWrite) -> str:
        """Begin an upload; gives its id. Nothing is visible under the key until it is completed."""
        ...

    async def sign(self, key: str, upload: str, numbers: Sequence[int], seconds: int) -> Sequence[SignedRequest]:
        """An address for one PUT of each part. May raise BlobNotFound when there is no such upload."""
        ...

    async def complete(self, key: str, upload: str, parts: Sequence[Part]) -> None:
        """Make the parts one object. One attempt.

        Raises BlobNotFound when there is no such upload (any more), InvalidRequestError for parts that the store does
        not have, OutcomeUnknownError when the answer was lost: look what is there.
        """
        ...

    async def abort(self, key: str, upload: str) -> None:
        """Give an upload up; what its parts take is freed, now or by the store itself. May raise BlobNotFound."""
        ...


class Signer(Protocol):
    """What signs for one namespace. A call may raise StoreUnavailableError."""

    @property
    def any_name(self) -> bool:
        """Whether it signs for any key; else only for keys that a URL spells as they stand."""
        ...

    @property
    def parts(self) -> PartUploads | None:
        """Uploads in parts, where it can sign them."""
        ...

    async def takes_tags(self) -> bool:
        """Whether the store keeps tags of objects. Asked of the store once."""
        ...

    async def sign_writes(self, targets: Sequence[ToWrite], seconds: int) -> Sequence[SignedRequest]:
        """An address for one PUT of up to LARGEST_PUT bytes of each key."""
        ...

    async def sign_reads(self, targets: Sequence[ToRead], seconds: int) -> Sequence[str]:
        """A URL that takes GETs, with ranges, of each key; empty for a key that it cannot sign for."""
        ...


@runtime_checkable
class Classing(Protocol):
    """A signer of a store that keeps objects in classes."""

    async def storage_class(self, key: str) -> str | None:
        """That of an object; None where the store tells none. Raises BlobNotFound."""
        ...


@runtime_checkable
class Signing(Protocol):
    """A store that may have a signer."""

    @property
    def signer(self) -> Signer | None:
        """What signs for it; None where nothing can."""
        ...
