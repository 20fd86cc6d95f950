"""Multipart uploads through the server: their records and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from lakebed_engine.vocabulary.records import DEFAULT_CONTENT_TYPE, Entry


class Upload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An open upload. `created` is in Unix seconds.

    `address` is the key of its object, relative to the namespace. No other object gets it. `store_id` is the id of the
    upload in the store, empty if its parts are separate objects. `checksum` is the algorithm of the checksums of its
    parts. `whole`: the checksum of the object is a checksum of its content, not of the checksums of its parts. `plan`
    is the digest of the parts for its completion. While `plan` is empty, the upload takes parts.
    """

    id: str
    branch: str
    path: str
    address: str
    created: int
    creator: str = ""
    content_type: str = DEFAULT_CONTENT_TYPE
    metadata: Mapping[str, str] = {}
    store_id: str = ""
    checksum: str = ""
    whole: bool = False
    plan: str = ""


class UploadedPart(msgspec.Struct, frozen=True, array_like=True):
    """A part as it was sent: size in bytes, hex MD5, the store's name for it, Unix seconds, and its checksum."""

    number: int
    size: int
    md5: str
    handle: str
    mtime: int
    checksum: str = ""


class Target(NamedTuple):
    """The branch, path and id that name an upload: all three must be right."""

    branch: str
    path: str
    id: str


class ListedUpload(NamedTuple):
    """One row of a listing: an upload, or a common prefix when `upload` is None. `key` is `<branch>/<path>`."""

    key: str
    upload: Upload | None


class Completed(NamedTuple):
    """The object, its checksum in base64 and the algorithm. Both are empty if its parts have no checksums."""

    entry: Entry
    checksum: str
    algorithm: str
