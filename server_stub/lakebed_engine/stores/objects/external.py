"""Objects outside of every namespace: data of other tools, which entries name by full URI.

The engine only reads and lists them. The server's credentials may have access to much more data than its users should
see. So the engine opens only URIs below the prefixes that the administrator allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lakebed_engine.stores.objects.base import BlobStat, ObjectStore
from lakebed_engine.vocabulary.errors import ForeignDeniedError, InvalidNamespaceError, InvalidRequestError

_URI = re.compile(r"((?:s3|gs|az|local|mem)://[^/]+)(?:/(.*))?", re.DOTALL)
_RULE = re.compile(r"(s3|gs|az|local|mem)://(?:[^/]+(?:/.*)?)?", re.DOTALL)


VERSIONED = ("etag:", "stat:")
"""The beginnings of the checksums that `version_of` returns."""


class Found(NamedTuple):
    """A store, and a key or a key prefix in it. A prefix is empty or ends in a slash."""

    store: ObjectStore
    key: str


class Foreign:
    """Opens only URIs below the prefixes of `allow`, such as `s3://bucket/kafka/`. By default none.

    A repository reads other data with the credentials of its own store. `named`: the prefixes of each named store.
    """

    def __init__(
        self,
        opener: Callable[[str, str], ObjectStore],
        allow: Sequence[str] = (),
        named: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Raises InvalidRequestError for a bad prefix. A prefix means a folder: `s3://a` does not match `s3://ab`."""
        self._open = opener
        self._allow = {one: tuple(map(as_folder, prefixes)) for one, prefixes in {**(named or {}), "": allow}.items()}
        for prefix in (prefix for prefixes in self._allow.values() for prefix in prefixes):
            if not _RULE.fullmatch(prefix):
                raise InvalidRequestError(f"{prefix!r} is not a URI prefix such as s3://bucket/folder/")

    def folder(self, uri: str, store_id: str = "") -> Found:
        """The store and the prefix of a folder. Raises ForeignDeniedError, InvalidRequestError."""
        return self._find(as_folder(uri), store_id)

    def beginning(self, uri: str, store_id: str = "") -> tuple[Found, str]:
        """The store and the folder of a prefix of keys, and the rest of the prefix, with which names in the folder must
        begin.

        `s3://a/sales/20` is the folder `s3://a/sales/` and `20`; `s3://a/sales/` is this folder and the empty text.
        A user who may read only the folder `s3://a/sales/20/` gets `20/`. Raises ForeignDeniedError,
        InvalidRequestError.
        """
        within = self.folder(uri, store_id)
        parent, _, last = uri.rpartition("/")
        if not last or not within.key.strip("/"):
            return within, ""
        try:
            return self.folder(parent, store_id), last
        except ForeignDeniedError:
            return Found(within.store, within.key.removesuffix(f"{last}/")), f"{last}/"

    def object(self, uri: str, store_id: str = "") -> Found:
        """The store and the key of an object. Raises ForeignDeniedError, InvalidRequestError."""
        found = self._find(uri, store_id)
        if not found.key:
            raise InvalidRequestError(f"{uri[:200]!r} names no object")
        return found

    def _find(self, uri: str, store_id: str) -> Found:
        match = _URI.fullmatch(uri)
        if match is None:
            raise InvalidRequestError(f"{uri[:200]!r}: write s3://BUCKET/FOLDER/, gs://, az:// or local://NAME/FOLDER/")
        key = match[2] or ""
        if any(part in (".", "..") for part in key.split("/")):
            raise InvalidRequestError(f"{uri[:200]!r}: must not contain the segments '.' and '..'")
        allow = self._allow.get(store_id, ())
        if not uri.startswith(allow):
            rule = f"stores.{store_id}.ingest" if store_id else "ingest.allow"
            raise ForeignDeniedError(
                f"this server may not read {uri[:200]!r} for its users: its setting {rule} names "
                f"{'no folder above it' if allow else 'nothing'}; ask its administrator"
            )
        try:
            return Found(self._open(match[1], store_id), key)
        except InvalidNamespaceError as error:
            raise InvalidRequestError(f"{uri[:200]!r} cannot be opened: {error.message}") from None


def as_folder(uri: str) -> str:
    """The URI with a slash at its end."""
    return uri if uri.endswith("/") else uri + "/"


def version_of(blob: BlobStat) -> str:
    """The version of an object, as the checksum of an entry that names it.

    It never has the form of an MD5. An ETag of 32 hex digits is the MD5 only if the object was uploaded in one part and
    without its own encryption key, and a listing does not show this. Without an ETag the version consists of mtime (in
    nanoseconds) and size.
    """
    tag = blob.etag.removeprefix("W/").strip('"')
    return f"etag:{tag}" if tag else f"stat:{round(blob.mtime * 1e9):x}-{blob.size:x}"


def is_same(checksum: str, size: int, blob: BlobStat) -> bool:
    """Whether an object still has the version of an entry with this checksum and size."""
    version = version_of(blob)
    return size == blob.size and checksum in (version, version.removeprefix("etag:"))
