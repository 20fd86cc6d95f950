"""The object store: immutable data under slash-separated keys (`ARCHITECTURE.md` 5).

One store object is one namespace. Keys are relative to it. A key is any UTF-8 text up to 1,024 bytes (`a//b`, a leading
`/`, `..` and emoji included) and never escapes the namespace. Every adapter must pass
tests/conformance/test_objects.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class BlobStat:
    """A stored object: size in bytes, mtime in Unix seconds, and an ETag if the store has one."""

    key: str
    size: int
    mtime: float
    etag: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A file at the path of an object that the store does not accept. `there`: an older object still exists."""

    key: str
    reason: str
    there: bool


@dataclass(frozen=True, slots=True)
class PutResult:
    """The result of a write: size in bytes and the hex MD5 of the content."""

    size: int
    md5: str


class ObjectStore(Protocol):
    """One namespace. All calls may raise StoreUnavailableError, StoreFullError. Reads may raise BlobNotFound."""

    @property
    def uri(self) -> str:
        """The namespace's URI without a trailing slash, for example `local://sales`."""
        ...

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        """Write a whole small object durably. It becomes visible as a whole or not at all.

        Raises BlobExists with `if_absent` when the key exists.

        `by_content`: the key is a hash of the content, and no process reads it before this put returns. A store may
        then write directly under the key. After a crash or a power failure, a partial object may remain there until the
        same content is put again or the sweep deletes it as unnamed.
        """
        ...

    async def put_stream(
        self, key: str, chunks: AsyncIterable[bytes], *, if_absent: bool = False, fresh: bool = False
    ) -> PutResult:
        """Write a stream durably with bounded memory. Hashes it while it arrives, off the event loop.

        When `chunks` raises or the caller is cancelled, nothing becomes visible under `key`. The written data is
        removed, or `list_partial` lists it.

        `fresh`: a new key that no process reads before this put returns. A store may then write directly under the
        key. After a crash or a power failure, a partial object may remain there until the sweep deletes it as unnamed.
        If the key does exist, the put raises BlobExists or overwrites it.
        """
        ...

    async def get(self, key: str) -> bytes:
        """A whole metadata file. Raises CorruptDataError, without reading it, when it is too large for its kind."""
        ...

    async def get_range(self, key: str, start: int, length: int) -> bytes:
        """`length` bytes from `start`. Returns fewer only at the end of the object."""
        ...

    def open(
        self, key: str, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Stream an object, or a part of it, in chunks of at most CHUNK bytes.

        Entering the context raises BlobNotFound. If the store can do it, a running stream survives a delete of the key.
        """
        ...

    async def head(self, key: str) -> BlobStat:
        """Size and mtime."""
        ...

    def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        """Objects whose key begins with `prefix` and is greater than `start_after`, in byte order of the key."""
        ...

    async def any_key(self) -> str | None:
        """The key of some object, or None when the namespace is empty. Reads at most one page.

        Ignores leftovers of interrupted puts.
        """
        ...

    def list_partial(self) -> AsyncIterator[BlobStat]:
        """Leftovers of interrupted puts, for a sweep. `key` is a handle for `delete_partial`."""
        ...

    async def delete_partial(self, handle: str) -> None:
        """Remove one leftover."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove objects. Ignores absent ones."""
        ...

    async def delete_older(self, keys: Sequence[str], before: float) -> Sequence[str]:
        """Remove the objects whose mtime is less than `before`, in Unix seconds. Returns their keys.

        No put of any process can happen between the check of the time and the removal. Cloud stores cannot ensure
        this: there, the removal follows directly after the check.
        """
        ...

    async def copy(self, source: str, target: str) -> None:
        """Copy inside the namespace, durably. Raises BlobNotFound."""
        ...


@runtime_checkable
class Guarded(Protocol):
    """A store to which other accounts may write without the server."""

    def list_guarded(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat | Refused]:
        """Like `list`, but also returns files that the store refuses. `list` silently omits some of them."""
        ...


@runtime_checkable
class InDirectory(Protocol):
    """A store whose plain keys are files below a directory of this machine."""

    @property
    def directory(self) -> str:
        """The absolute path of that directory, without a trailing slash."""
        ...


class ObjectStores(Protocol):
    """Opens namespaces by URI and keeps them open. `store_id` is a named store. Empty: the default store."""

    def open(self, uri: str, store_id: str = "") -> ObjectStore:
        """The store of a namespace URI. Raises InvalidNamespaceError, which names the broken rule.

        For an unknown id, the calls of the returned store raise NoStoreError.
        """
        ...

    def check_new(self, uri: str, store_id: str) -> None:
        """Check that a repository may be created in a namespace of a store. Raises InvalidNamespaceError."""
        ...
