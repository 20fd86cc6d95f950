"""The object store: immutable data under slash-separated keys (`ARCHITECTURE.md` 5).

One store object is one namespace: keys are relative to it, any UTF-8 text up to
1,024 bytes (`a//b`, a leading `/`, `..` and emoji included) and never escape it. An adapter is done when it passes
tests/conformance/test_objects.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class BlobStat:
    """What is known of a stored object: size in bytes, mtime in Unix seconds, an ETag where the store has one."""

    key: str
    size: int
    mtime: float
    etag: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """What lies where an object could, and is not taken as one. `there`: an object registered before is still there."""

    key: str
    reason: str
    there: bool


@dataclass(frozen=True, slots=True)
class PutResult:
    """What was written: size in bytes and the hex MD5 of the content."""

    size: int
    md5: str


class ObjectStore(Protocol):
    """One namespace. Calls may raise StoreUnavailableError, StoreFullError; reads BlobNotFound."""

    @property
    def uri(self) -> str:
        """The namespace's URI without a trailing slash, for example `local://sales`."""
        ...

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        """Write a whole small object durably, visible at once or not at all.

        Raises BlobExists with `if_absent` when the key is taken.

        `by_content`: the key follows from the content, and nobody reads it before a put of it has answered. A store may
        then write under it at once; what a killed process or a power cut leaves of it may lie there, until the same is
        put again or it is swept as any object that nothing names.
        """
        ...

    async def put_stream(
        self, key: str, chunks: AsyncIterable[bytes], *, if_absent: bool = False, fresh: bool = False
    ) -> PutResult:
        """Write a stream durably with bounded memory, hashing on the way, off the event loop.

        When `chunks` raises or the caller is cancelled nothing becomes visible under `key`, and what was written
        for it is removed, or lies where `list_partial` finds it.

        `fresh`: a new key, that nobody looks for before this has answered. A store may then write under it at once, and
        what a killed process or a power cut leaves of it may lie there, to be swept as any object that nothing names;
        a key that is taken after all raises BlobExists, or is overwritten.
        """
        ...

    async def get(self, key: str) -> bytes:
        """A whole metadata file. Raises CorruptDataError for one larger than its kind may be, without reading it."""
        ...

    async def get_range(self, key: str, start: int, length: int) -> bytes:
        """`length` bytes from `start`; fewer only where the object ends."""
        ...

    def open(
        self, key: str, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Stream an object, or a part of it, in chunks of at most CHUNK bytes.

        Entering the context raises BlobNotFound; a stream once begun survives a delete of the key where the store can.
        """
        ...

    async def head(self, key: str) -> BlobStat:
        """Size and mtime."""
        ...

    def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        """Objects whose key begins with `prefix` and is greater than `start_after`, in byte order of the key."""
        ...

    async def any_key(self) -> str | None:
        """The key of some object, or None when the namespace is empty: a question of one page, however many there are.

        Leftovers of interrupted puts are no objects.
        """
        ...

    def list_partial(self) -> AsyncIterator[BlobStat]:
        """Leftovers of interrupted puts, for a sweep: `key` is a handle for `delete_partial`."""
        ...

    async def delete_partial(self, handle: str) -> None:
        """Remove one leftover."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove objects; absent ones are no error."""
        ...

    async def delete_older(self, keys: Sequence[str], before: float) -> Sequence[str]:
        """Remove those of these objects whose mtime is less than `before`, in Unix seconds; answers which those were.

        No put comes between the look and the removal, of any process; but in cloud stores, which cannot promise it,
        the removal follows the look at once.
        """
        ...

    async def copy(self, source: str, target: str) -> None:
        """Copy inside the namespace, durably. Raises BlobNotFound."""
        ...


@runtime_checkable
class Guarded(Protocol):
    """A store that other accounts may write to by other ways than the server."""

    def list_guarded(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat | Refused]:
        """As `list`, with what is refused in between: what only `list` gives up without a word, and more."""
        ...


@runtime_checkable
class InDirectory(Protocol):
    """A store whose plain keys are files below a directory of this machine."""

    @property
    def directory(self) -> str:
        """Its absolute path, without a trailing slash."""
        ...


class ObjectStores(Protocol):
    """Opens namespaces by URI and remembers the open ones."""

    def open(self, uri: str) -> ObjectStore:
        """The store for a namespace URI. Raises InvalidNamespaceError naming the rule that was broken."""
        ...
