"""Lists a cloud store in byte order of the keys.

S3, GCS and Azure list in byte order of the names, so a listing streams and starts at any key. Some servers do not
(SeaweedFS lists `a/b` before `a!`, Azurite uses UTF-16 order). A test with a few empty objects finds this out, once.
For these servers the whole listing is collected and sorted. Encoded keys are few, and the engine writes none. They are
collected, sorted and merged into the listing.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from lakebed_engine.stores.objects.base import BlobStat
from lakebed_engine.stores.objects.cloud.client import Client
from lakebed_engine.stores.objects.cloud.errors import fault_of, store_error, store_errors
from lakebed_engine.stores.objects.cloud.keys import ENCODED, PROBE, TEMP, plain
from lakebed_engine.vocabulary.errors import UnsortedListing

if TYPE_CHECKING:
    from obstore import ObjectMeta

HANDLE = re.compile(r"[0-9a-f]{32}", re.ASCII)
"""The name of a temporary object."""

_PAGE = 1000
_PROBES = ("order/a", "order/a!", "order/a/b", "order/a0", "order/\ue000", "order/\U00010000")
_LAST = "\U0010ffff"


class Lister:
    """Lists one namespace."""

    def __init__(self, client: Client, *, foreign: bool = False) -> None:
        """A `foreign` store is not written to. Its listings show whether they are sorted (`_seems_sorted`)."""
        self._client = client
        self._place = client.place
        self._sorted: bool | None = None
        self._foreign = foreign
        self._looked: set[str] = set()

    def stat(self, meta: ObjectMeta, key: str) -> BlobStat:
        """An object of the store. With SSE-KMS, its ETag has the form of an MD5 but is not one, so it gets another
        form.
        """
        tag = meta["e_tag"] or ""
        if tag and self._client.options.encryption.startswith("aws:kms") and not self._foreign:
            tag = f"kms-{tag.strip(chr(34))}"
        return BlobStat(key, meta["size"], meta["last_modified"].timestamp(), tag)

    async def list(self, prefix: str, start_after: str) -> AsyncIterator[BlobStat]:
        """Objects whose key begins with `prefix` and is greater than `start_after`, in byte order of the key."""
        encoded = await self._encoded(prefix, start_after)
        at = 0
        async for blob in self._plain(prefix, start_after):
            while at < len(encoded) and encoded[at].key < blob.key:
                yield encoded[at]
                at += 1
            yield blob
        for blob in encoded[at:]:
            yield blob

    async def any_key(self) -> str | None:
        """The key of the first object of a listing, in any order."""
        async for page in self._pages(self._place.prefix, ""):
            for meta in page:
                key = self._place.key(meta["path"])
                if key:
                    return key
        return None

    async def partial(self) -> AsyncIterator[BlobStat]:
        """Temporary objects below `.lakebed-tmp/`, by the last segment of their names."""
        top = self._place.prefix + TEMP
        async for page in self._pages(top, ""):
            for meta in page:
                name = meta["path"][len(top) :]
                if HANDLE.fullmatch(name):
                    yield self.stat(meta, name)

    async def _encoded(self, prefix: str, start_after: str) -> Sequence[BlobStat]:
        found = []
        async for page in self._pages(self._place.prefix + ENCODED, ""):
            for meta in page:
                key = self._place.key(meta["path"])
                if key is not None and key.startswith(prefix) and key > start_after:
                    found.append(self.stat(meta, key))
        return sorted(found, key=_key)

    async def _plain(self, prefix: str, start_after: str) -> AsyncIterator[BlobStat]:
        top = prefix[: prefix.rfind("/") + 1]
        if top and not plain(top[:-1]):
            return  # no plain key begins like this
        ordered = await (self._seems_sorted(top, start_after) if self._foreign else self._is_sorted())
        offset = max(bound(before(prefix)), bound(start_after)) if ordered else ""
        found = []
        last = ""
        async for page in self._pages(self._place.prefix + top, offset and self._place.prefix + offset):
            for meta in page:
                key = meta["path"][len(self._place.prefix) :]
                if not key.startswith(prefix) or key <= start_after or not plain(key):
                    if ordered and key > prefix and not key.startswith(prefix):
                        return  # after the last key with the prefix
                elif ordered:
                    last = self._follow(key, last)
                    yield self.stat(meta, key)
                else:
                    found.append(self.stat(meta, key))
        for blob in sorted(found, key=_key):
            yield blob

    async def _pages(self, top: str, offset: str) -> AsyncIterator[Sequence[ObjectMeta]]:
        import obstore

        pages = obstore.list(self._client.store, top or None, offset=offset or None, chunk_size=_PAGE)
        with store_errors("list", self._place, top[len(self._place.prefix) :]):
            async for page in pages:
                yield page

    async def _is_sorted(self) -> bool:
        """Whether this store lists in byte order. False for a store that refuses the test objects."""
        if self._sorted is None:
            self._sorted = await self._probe()
        return self._sorted

    async def _seems_sorted(self, top: str, start_after: str) -> bool:
        """Whether to assume byte order in a store that must not be written to.

        In a listing from the beginning, wrong order is visible. In a listing from a later key, it may not be. So
        for a server of unknown type, the whole listing is read and checked first, once.
        """
        if self._sorted is None and self._place.bucket.endswith("--x-s3"):  # S3 Express does not sort its listings
            self._sorted = False
        if self._sorted is None and start_after and top not in self._looked and _is_of_unknown_make(self._client):
            last = ""
            async for page in self._pages(self._place.prefix + top, ""):
                for meta in page:
                    last = self._follow(meta["path"], last)
            self._looked.add(top)
        return self._sorted is not False

    def _follow(self, key: str, last: str) -> str:
        """Returns the key. Raises UnsortedListing when, in a foreign store, it is not greater than the one before."""
        if self._foreign and key <= last:
            self._sorted = False
            raise UnsortedListing(f"{self._place.uri} does not list in byte order: list it again")
        return key

    async def _probe(self) -> bool:
        from obstore import put_async
        from obstore.exceptions import BaseError

        top = self._place.prefix + PROBE
        wanted = [top + name for name in _PROBES]
        found = await self._names(top + "order")
        if set(found) != set(wanted):
            try:
                for name in wanted:
                    await put_async(self._client.store, name, b"", use_multipart=False)
            except (BaseError, FileNotFoundError) as error:
                if fault_of(error).passing:
                    raise store_error(error, "write", self._place, PROBE) from None
                return False
            found = await self._names(top + "order")
        return found == wanted

    async def _names(self, top: str) -> Sequence[str]:
        return [meta["path"] async for page in self._pages(top, "") for meta in page]


def before(prefix: str) -> str:
    """A text below every key that begins with `prefix`, and above nearly all smaller keys. Empty if none is known.

    For `data/ab` it is `data/aa` and the last character of Unicode.
    """
    if not prefix or not '"' < prefix[-1] < "\ud800":
        return ""
    last = chr(ord(prefix[-1]) - 1)
    return prefix[:-1] + ("." if last == "/" else last) + _LAST


def bound(text: str) -> str:
    """The longest prefix of a text that can be a name. A key that is greater than the text is greater than it too."""
    while text and not (_encodes(text) and plain(text)):
        text = text[:-1]
    return text


def _encodes(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _is_of_unknown_make(client: Client) -> bool:
    """Whether the server is an S3 server other than AWS."""
    elsewhere = client.options.endpoint or any(name.startswith("AWS_ENDPOINT") for name in os.environ)
    return client.place.scheme == "s3" and bool(elsewhere)


def _key(blob: BlobStat) -> str:
    return blob.key
