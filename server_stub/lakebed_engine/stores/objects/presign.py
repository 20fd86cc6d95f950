"""Presigned URLs: clients read and write a store without its credentials.

Keys are relative to the namespace. A URL is a secret until it expires: it is in no log and in no `repr`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

LARGEST_PUT = 5 << 30
"""The largest PUT in bytes, as on S3."""

MOST_PARTS = 10_000
"""The largest number of parts of an upload, as on S3."""


@dataclass(frozen=True, slots=True)
class ToWrite:
    """An object that a client will write. With an empty `content_type` the client chooses it.

    `guarded`: if the store supports it, the PUT does not replace an existing object. The client must then send the
    headers that belong to the URL, which only Lakebed's clients do.
    """

    key: str
    content_type: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    guarded: bool = True


@dataclass(frozen=True, slots=True)
class ToRead:
    """An object that a client will read, and the content type for the store's response, if the store supports it."""

    key: str
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A URL, and the headers that the client must send unchanged."""

    url: str = field(repr=False)
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Part:
    """A stored part: its number from 1, and the ETag that the store returned."""

    number: int
    etag: str


class PartUploads(Protocol):
    """Multipart uploads whose parts have presigned URLs. Calls may raise StoreUnavailableError."""

    async def create(self, target: ToWrite) -> str:
        """Begin an upload. Returns its id. Nothing is visible under the key until it is completed."""
        ...

    async def sign(self, key: str, upload: str, numbers: Sequence[int], seconds: int) -> Sequence[SignedRequest]:
        """A presigned PUT URL for each part. May raise BlobNotFound when the upload does not exist."""
        ...

    async def complete(self, key: str, upload: str, parts: Sequence[Part]) -> None:
        """Combine the parts to one object. Makes one attempt.

        Raises BlobNotFound when the upload no longer exists, InvalidRequestError for parts that the store does
        not have, and OutcomeUnknownError when the response was lost: read the key.
        """
        ...

    async def abort(self, key: str, upload: str) -> None:
        """Abort an upload. The store frees its parts now or later. May raise BlobNotFound."""
        ...


class Signer(Protocol):
    """Signs URLs of one namespace. Calls may raise StoreUnavailableError."""

    @property
    def any_name(self) -> bool:
        """Whether it signs for any key. If not, only for keys that a URL contains without escapes."""
        ...

    @property
    def parts(self) -> PartUploads | None:
        """Multipart uploads, or None when it cannot sign them."""
        ...

    async def takes_tags(self) -> bool:
        """Whether the store supports tags of objects. Tests the store once."""
        ...

    async def sign_writes(self, targets: Sequence[ToWrite], seconds: int) -> Sequence[SignedRequest]:
        """A presigned PUT URL for each key, for up to LARGEST_PUT bytes."""
        ...

    async def sign_reads(self, targets: Sequence[ToRead], seconds: int) -> Sequence[str]:
        """A presigned GET URL for each key, also for ranges. Empty for a key that it cannot sign for."""
        ...


@runtime_checkable
class Classing(Protocol):
    """A signer of a store with storage classes."""

    async def storage_class(self, key: str) -> str | None:
        """The class of an object. None when the store reports none. Raises BlobNotFound."""
        ...


@runtime_checkable
class Signing(Protocol):
    """A store that may have a signer."""

    @property
    def signer(self) -> Signer | None:
        """The signer, or None when the store cannot sign."""
        ...
