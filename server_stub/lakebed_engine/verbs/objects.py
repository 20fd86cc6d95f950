"""Objects: what is read of a ref, and what is staged on a branch. Part of the one door to the engine."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.direct_writes import presign
from lakebed_engine.operations.export.hive_symlinks import write_symlinks
from lakebed_engine.operations.objects import copy, read, stage
from lakebed_engine.verbs.base import Verbs
from lakebed_engine.vocabulary.records import (
    Deletion,
    Entry,
    Listed,
    ObjectFailure,
    Page,
    SignedRead,
    UploadRequest,
)


class ObjectVerbs(Verbs):
    """Objects: what is read of a ref, and what is staged on a branch."""

    async def stat(self, repo: str, ref: str, path: str) -> Entry:
        """The entry at a path. Raises ObjectNotFoundError."""
        return await read.stat(self._ctx, repo, ref, path)

    async def find(self, repo: str, ref: str, path: str) -> read.Found:
        """The entry at a path, with a way to read a little of it at once. Raises ObjectNotFoundError."""
        return await read.find(self._ctx, repo, ref, path)

    async def locate(self, repo: str, ref: str, path: str) -> tuple[Entry, str]:
        """The entry at a path, and the full URI of its data. Raises ObjectNotFoundError."""
        return await read.locate(self._ctx, repo, ref, path)

    async def write_symlinks(self, repo: str, branch: str, location: str = "") -> str:
        """Write lists of where the data lie, a file for each directory; the address that they lie below."""
        return await write_symlinks(self._ctx, repo, branch, location)

    async def list_objects(
        self, repo: str, ref: str, *, prefix: str = "", after: str = "", amount: int = 100, delimiter: str = ""
    ) -> Page[Listed]:
        """A page of objects and common prefixes in byte order."""
        return await read.list_objects(self._ctx, repo, ref, prefix, after, amount, delimiter)

    def open_entry(
        self, repo: str, entry: Entry, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Stream an entry's data. Entering raises ObjectGoneError when the data is not there."""
        return read.open_entry(self._ctx, repo, entry, start, length)

    async def sign_reads(
        self, repo: str, entries: Sequence[Entry], *, seconds: int = presign.SIGNED_SECONDS, check: bool = False
    ) -> list[SignedRead | None]:
        """Signed addresses to read entries' data at; None where none can be. `check`: look at what lies elsewhere."""
        return await presign.sign_reads(self._ctx, repo, entries, seconds, check=check)

    async def addresses(self, repo: str) -> Callable[[Entry], str]:
        """What tells the full URI of an entry's data, for any number of entries of a repository."""
        found = await open_repo(self._ctx, repo)
        return lambda entry: read.physical_uri(found, entry)

    async def upload(self, repo: str, branch: str, request: UploadRequest, chunks: AsyncIterable[bytes]) -> Entry:
        """Write the data, then stage the entry. Repository, branch and path are checked before a chunk is taken."""
        return await stage.upload(self._ctx, repo, branch, request, chunks)

    async def upload_many(
        self,
        repo: str,
        branch: str,
        changes: AsyncIterable[tuple[UploadRequest, AsyncIterable[bytes]] | Deletion],
        *,
        force: bool = False,
    ) -> list[tuple[str, Entry]]:
        """Write several objects, then stage them and the tombstones of `Deletion`s in one batch: all or nothing.

        Each upload's chunks are read to their end before the next change is taken. At most 10,000 changes.
        """
        return await stage.upload_many(self._ctx, repo, branch, changes, force)

    async def delete_object(
        self, repo: str, branch: str, path: str, *, force: bool = False, if_match: str | None = None
    ) -> None:
        """Delete a path; one that holds nothing is no error. `if_match`: only the content of this ETag."""
        await stage.delete_object(self._ctx, repo, branch, path, force, if_match)

    async def delete_objects(
        self, repo: str, branch: str, paths: Sequence[str], *, force: bool = False
    ) -> list[ObjectFailure]:
        """Delete paths in one batch; the failures are paths that are no paths."""
        return await stage.delete_objects(self._ctx, repo, branch, paths, force)

    async def copy_object(
        self, repo: str, branch: str, path: str, source_ref: str, source_path: str, *, force: bool = False
    ) -> Entry:
        """Stage an entry that shares another's data. `source_ref` empty: the branch itself."""
        return await copy.copy_object(self._ctx, repo, branch, path, source_ref, source_path, force)

    async def copy_as(
        self,
        repo: str,
        branch: str,
        request: UploadRequest,
        source_ref: str,
        source_path: str,
        *,
        source_etag: str | None = None,
    ) -> Entry:
        """Stage an entry that shares another's data, with a type, metadata and conditions of its own.

        With `source_etag` only while the source has it. Raises ObjectNotFoundError, PreconditionFailedError.
        """
        return await copy.copy_as(self._ctx, repo, branch, request, source_ref, source_path, source_etag)
