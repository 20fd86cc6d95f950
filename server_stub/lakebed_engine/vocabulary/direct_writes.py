"""Direct writes: the addresses that clients get to write to an object store, and their reports."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from lakebed_engine.vocabulary.records import (
    DEFAULT_CONTENT_TYPE,
)


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """An object below a workspace's prefix, as described by the client that wrote it.

    `physical_address` is a full URI or relative to the namespace, `checksum` an MD5 or the store's ETag, both in hex.
    `mtime` in Unix seconds, by default now.
    """

    path: str
    physical_address: str
    checksum: str
    size: int
    mtime: int | None = None
    content_type: str = DEFAULT_CONTENT_TYPE
    metadata: Mapping[str, str] = {}


class LinkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An object that is already in the store, to add to a branch. `checksum` is an MD5, or an ETag with its quotes.

    `if_none_match`, `if_match` and `unlike` are those of `UploadRequest`.
    """

    path: str
    physical_address: str
    checksum: str = ""
    size: int = 0
    mtime: int | None = None
    content_type: str = DEFAULT_CONTENT_TYPE
    metadata: Mapping[str, str] = {}
    if_none_match: bool = False
    if_match: str | None = None
    unlike: str | None = None
    force: bool = False


class DataPlace(msgspec.Struct, frozen=True):
    """The location of a repository's data: the URI of its namespace without a trailing slash, whether its store
    presigns URLs, and its directory, empty if it has none.
    """

    uri: str
    signs: bool
    directory: str


class SignedUpload(msgspec.Struct, frozen=True):
    """A presigned URL for one PUT. `physical_address` is a full URI, `expires` in Unix seconds."""

    path: str
    physical_address: str
    url: str
    headers: dict[str, str]
    expires: int


class SignedRead(msgspec.Struct, frozen=True):
    """A presigned URL for GETs until `expires`, in Unix seconds."""

    url: str
    expires: int


class PartUpload(msgspec.Struct, frozen=True):
    """An object that is written in parts: the address to register, and the store's id of the upload."""

    physical_address: str
    upload: str


class SignedPart(msgspec.Struct, frozen=True):
    """A presigned URL for one PUT of one part."""

    number: int
    url: str
    headers: dict[str, str]
    expires: int


class SentPart(msgspec.Struct, frozen=True):
    """A part that a client has sent: the ETag that it got for it, and its checksum, if known."""

    number: int
    etag: str
    checksum: str = ""


class CompletedUpload(msgspec.Struct, frozen=True):
    """An object that was written in parts, as the store describes it."""

    physical_address: str
    etag: str
    size: int


class ShareReport(msgspec.Struct, frozen=True):
    """The number of paths that now use the data of other paths, and the skipped paths."""

    shared: int
    left: list[str]


class ScanRefusal(msgspec.Struct, frozen=True):
    """A file below a scanned prefix that the scan did not register: its path, and the reason."""

    path: str
    reason: str


class ScanReport(msgspec.Struct, frozen=True):
    """The result of a scan: registered (new or changed), vanished and unchanged objects.

    `refused` counts the files that it did not register. `refusals` has the first of them.
    """

    registered: int
    vanished: int
    unchanged: int
    refused: int = 0
    refusals: list[ScanRefusal] = []


CLOUD_SCHEMES = ("s3", "gs", "az")
"""Schemes of the namespaces in a cloud store."""


LARGEST_REGISTRATION = 1 << 30
"""Maximum bytes of a Parquet file of objects to register."""
