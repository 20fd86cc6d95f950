"""Objects outside of every namespace: data that other tools wrote, and that entries name by full URI.

What lies there is read and listed, never written or deleted. The server's credentials may reach far more than its users
should see: only URIs below the prefixes that its administrator allows are opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lakebed_engine.stores.objects.base import BlobStat, ObjectStore
from lakebed_engine.vocabulary.errors import ForeignDeniedError, InvalidNamespaceError, InvalidRequestError

_URI = re.compile(r"((?:s3|gs|az|local|mem)://[^/]+)(?:/(.*))?", re.DOTALL)
_RULE = re.compile(r"(s3|gs|az|local|mem)://(?:[^/]+(?:/.*)?)?", re.DOTALL)


VERSIONED = ("etag:", "stat:")
"""How checksums begin that `version_of` gives."""


class Found(NamedTuple):
    """A store, and a key in it or the beginning of keys: empty, or ending in a slash."""

    store: ObjectStore
    key: str


class Foreign:
    """Opens what `allow` allows: URI prefixes such as `s3://bucket/kafka/`; nothing by default."""

    def __init__(self, opener: Callable[[str], ObjectStore], allow: Sequence[str] = ()) -> None:
        """Raises InvalidRequestError for a prefix that is none. A prefix means a folder: `s3://a` is not `s3://ab`."""
        for prefix in allow:
            if not _RULE.fullmatch(prefix):
                raise InvalidRequestError(f"{prefix!r} is no URI prefix such as s3://bucket/folder/")
        self._open = opener
        self._allow = tuple(map(as_folder, allow))

    def folder(self, uri: str) -> Found:
        """Where the objects of a folder lie. Raises ForeignDeniedError, InvalidRequestError."""
        return self._find(as_folder(uri))

    def object(self, uri: str) -> Found:
        """Where one object lies. Raises ForeignDeniedError, InvalidRequestError."""
        found = self._find(uri)
        if not found.key:
            raise InvalidRequestError(f"{uri[:200]!r} names no object")
        return found

    def _find(self, uri: str) -> Found:
        match = _URI.fullmatch(uri)
        if match is None:
            raise InvalidRequestError(f"{uri[:200]!r}: write s3://BUCKET/FOLDER/, gs://, az:// or local://NAME/FOLDER/")
        key = match[2] or ""
        if any(part in (".", "..") for part in key.split("/")):
            raise InvalidRequestError(f"{uri[:200]!r}: must not contain the segments '.' and '..'")
        if not uri.startswith(self._allow):
            raise ForeignDeniedError(
                f"this server may not read {uri[:200]!r} for its users: its setting ingest.allow names "
                f"{'no folder above it' if self._allow else 'nothing'}; ask its administrator"
            )
        try:
            return Found(self._open(match[1]), key)
        except InvalidNamespaceError as error:
            raise InvalidRequestError(f"{uri[:200]!r} cannot be opened: {error.message}") from None


def as_folder(uri: str) -> str:
    """With a slash at its end."""
    return uri if uri.endswith("/") else uri + "/"


def version_of(blob: BlobStat) -> str:
    """What tells one version of an object from another, as the checksum of an entry that names it.

    It never looks like an MD5: an ETag of 32 hex digits is one only where the object was neither uploaded in parts nor
    encrypted with a key of its own, and a listing does not tell. Without an ETag mtime (in nanoseconds) and size do.
    """
    tag = blob.etag.removeprefix("W/").strip('"')
    return f"etag:{tag}" if tag else f"stat:{round(blob.mtime * 1e9):x}-{blob.size:x}"


def is_same(checksum: str, size: int, blob: BlobStat) -> bool:
    """Whether an entry of this checksum and size is what an object holds now."""
    version = version_of(blob)
    return size == blob.size and checksum in (version, version.removeprefix("etag:"))
