"""Writes objects directly into a cloud store, with the caller's own credentials: the data path `direct`. Blocking.

The credentials come from the places that the cloud's own tools use: the variables `AWS_*`, `GOOGLE_*` and `AZURE_*`, or
the role of the machine. Lakebed never replaces an object: when a key is taken, the object gets another key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import uuid4

from lakebed_format.installation import install_command

from lakebed._direct.directory import is_plain
from lakebed.errors import ConfigurationError, CorruptTransferError, ServerUnavailableError

WHOLE = 8 << 20
"""Bytes. An object up to this size goes in one request. A larger one goes in parts of this size, or larger parts,
because a store takes at most 10,000.
"""

_PARTS_AT_ONCE = 4
_MOST_PARTS = 9_000
_ASIDE = "~"
_CHANGED = re.compile(r"[\\\ufffe\uffff]")
_MD5 = re.compile(r"[0-9a-f]{32}")

Seen = Callable[[int], None]


class Bucket:
    """The part of a bucket below one prefix. Safe to use from many threads, but not after a fork."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._store = _open(prefix)
        self._tags = None if prefix.startswith("s3://") else False  # None: unknown whether the store takes tags

    def write(
        self, path: str, chunks: Iterable[bytes], size: int | None, attributes: dict[str, str], seen: Seen
    ) -> tuple[str, str, int]:
        """Write one object. Returns its key below the prefix, the MD5 of the sent bytes, and the size in bytes."""
        incoming = iter(chunks)
        held: list[bytes] = []
        total = 0
        for chunk in incoming:
            held.append(chunk)
            total += len(chunk)
            if total > WHOLE:
                break
        else:
            return self._whole(path, b"".join(held), attributes, seen)
        return self._parts(path, _chained(held, incoming), size, attributes, seen)

    def _whole(self, path: str, data: bytes, attributes: dict[str, str], seen: Seen) -> tuple[str, str, int]:
        from obstore.exceptions import AlreadyExistsError

        digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
        key = path if _is_plain(path) else _aside()
        try:
            tag = self._tagged(path, key, data, attributes=attributes, mode="create", use_multipart=False)
        except AlreadyExistsError:
            key = _aside()
            tag = self._tagged(path, key, data, attributes=attributes, mode="overwrite", use_multipart=False)
        if _MD5.fullmatch(tag) and tag != digest and not self._is_same(key, digest):
            raise CorruptTransferError(f"{self._prefix}{key} was stored with ETag {tag}, but MD5 {digest} was sent")
        seen(len(data))
        return key, digest, len(data)

    def _parts(
        self, path: str, chunks: Iterator[bytes], size: int | None, attributes: dict[str, str], seen: Seen
    ) -> tuple[str, str, int]:
        part = max(WHOLE, -(-(size or 0) // _MOST_PARTS))
        whole, counted = hashlib.md5(usedforsecurity=False), 0

        def metered() -> Iterator[bytes]:
            nonlocal counted
            for chunk in chunks:
                whole.update(chunk)
                counted += len(chunk)
                seen(len(chunk))
                yield chunk

        key = path if _is_plain(path) and not self._taken(path) else _aside()
        options = {"chunk_size": part, "max_concurrency": _PARTS_AT_ONCE, "use_multipart": True}
        if self._tags is None:  # a stream cannot be sent twice to find out
            self._tagged("probe", _aside(), b"", use_multipart=False)
        self._tagged(path, key, metered(), attributes=attributes, **options)
        found = self._head(key)["size"]
        if found != counted:
            raise CorruptTransferError(f"{self._prefix}{key} was stored with {found} bytes, but {counted} were sent")
        return key, whole.hexdigest(), counted

    def _is_same(self, key: str, digest: str) -> bool:
        """Compare the stored bytes with the sent bytes. Some stores return an ETag that has the form of an MD5 and is
        none.
        """
        import obstore

        data = obstore.get(self._store, key).bytes()
        return hashlib.md5(data, usedforsecurity=False).hexdigest() == digest

    def _taken(self, key: str) -> bool:
        try:
            self._head(key)
        except FileNotFoundError:
            return False
        return True

    def _head(self, key: str) -> Any:
        import obstore

        return obstore.head(self._store, key)

    def _tagged(self, path: str, key: str, data: Any, **options: Any) -> str:
        """Put with the parts of the path as tags, if the store and the credentials allow it."""
        from lakebed_format.tags import path_tags

        tags = {} if self._tags is False else path_tags(path)
        if not tags:
            return self._put(key, data, **options)
        try:
            stored = self._put(key, data, tags=tags, **options)
        except ServerUnavailableError:
            if self._tags:
                raise
            stored = self._put(key, data, **options)
            self._tags = False
            return stored
        self._tags = True
        return stored

    def _put(self, key: str, data: Any, **options: Any) -> str:
        import obstore
        from obstore.exceptions import AlreadyExistsError, BaseError

        try:
            stored = obstore.put(self._store, key, data, **options)
        except (AlreadyExistsError, FileExistsError):
            raise
        except BaseError as error:
            first = str(error).strip().split("\n", 1)[0]
            raise ServerUnavailableError(
                f"cannot write {self._prefix}{key} with the credentials of this machine: {first}; "
                "set them, or use data_path='presigned' or 'proxied'",
                operation="put",
                path=key,
            ) from error
        return (stored.get("e_tag") or "").strip('"')


def _open(prefix: str) -> Any:
    try:
        from obstore.store import from_url
    except ImportError as error:
        raise ConfigurationError(
            "data_path='direct' into a cloud store needs a package that is not installed: " + install_command("s3")
        ) from error
    import os

    # A store inside a private network speaks plain HTTP only when its own address says so.
    plain = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
    return from_url(prefix.rstrip("/"), client_options={"allow_http": True} if plain else None)


def _is_plain(path: str) -> bool:
    """Whether the path can be a key unchanged. For other paths the server would search under another key."""
    return is_plain(path) and _CHANGED.search(path) is None


def _aside() -> str:
    return f"{_ASIDE}/{uuid4().hex}"


def _chained(held: list[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    yield from held
    held.clear()
    yield from rest
