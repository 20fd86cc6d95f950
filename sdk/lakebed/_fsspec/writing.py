"""Writing, copying, deleting.

A change goes to a branch (uncommitted), to a workspace, or to the workspace of the transaction.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsspec.asyn import sync_wrapper
from fsspec.callbacks import DEFAULT_CALLBACK

from lakebed._fsspec.paths import Place, fixed, missing, object_place, writable_place
from lakebed._fsspec.reading import Reading
from lakebed._fsspec.transaction_spool import Spool, SpooledFile
from lakebed._integration.aio import outgoing
from lakebed.errors import (
    InvalidRequestError,
    NotFoundError,
    ObjectExistsError,
    ObjectFailure,
    ObjectNotFoundError,
    PartialFailureError,
    PermissionDeniedError,
    PreconditionFailedError,
    UnsupportedOperationError,
)
from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    from lakebed import aio
    from lakebed._fsspec.transaction import LakebedTransaction

_GROUP = 1000
"""Objects that one request deletes."""

_PUTTING: ContextVar[bool] = ContextVar("_PUTTING", default=False)
"""Whether fsspec asks for a directory because `put` is about to write there."""

_SHOWN = 5
_FORBIDDEN = 403


class Writing(Reading):
    """The methods that change something."""

    async def _target(self, place: Place) -> aio.Branch | aio.Workspace:
        """Return the handle to write with."""
        self._ahead = None  # files that were read ahead are older than the change
        if self._intrans and self._transaction is not None:
            workspace: aio.Workspace = await self._transaction.workspace(place)
            await self._transaction.flush()  # keep the order of changes
            return workspace
        repository = self._repository(place)
        if "+" not in place.ref:
            return repository.branch(place.ref)
        return await self._workspaces.get(repository, place.ref)

    @asynccontextmanager
    async def _changing(self, place: Place) -> AsyncIterator[aio.Branch | aio.Workspace]:
        """Yield the handle to write with."""
        async with self._explaining(place):
            yield await self._target(place)

    @asynccontextmanager
    async def _explaining(self, place: Place) -> AsyncIterator[None]:
        """Turn the error for a missing branch into an error that names the tag or the commit."""
        try:
            yield
        except ObjectNotFoundError:
            raise
        except NotFoundError as error:
            raise await self._why(place, error) from error

    async def _why(self, place: Place, error: NotFoundError) -> Exception:
        if error.kind in ("branch_not_found", "workspace_not_found"):
            try:
                await self._repository(place).commit(place.ref)
            except NotFoundError:
                return missing(place, error)
            return fixed(place)
        return missing(place, error)

    async def _spool(self, place: Place) -> Spool | None:
        """Return the spool for direct writes to the disk. None outside a transaction, or where that is impossible."""
        transaction: LakebedTransaction | None = self._transaction if self._intrans else None
        if transaction is None:
            return None
        async with self._explaining(place):
            return await transaction.spool(place)

    def _spooled(self, path: str, mode: str, options: dict[str, Any]) -> SpooledFile | None:
        """Return a file that is written directly to the disk, if possible. For threads other than the event loop's."""
        transaction: LakebedTransaction | None = self._transaction if self._intrans else None
        if transaction is None or mode != "wb":  # the server decides whether `xb` replaces something
            return None
        self._ahead = None
        place = writable_place(path)
        spool = transaction.spool_now(place) or self._wait(self._spool, place)
        return None if spool is None else SpooledFile(spool, outgoing(place.path, b"", **options))

    def _sender(self, path: str, mode: str, options: dict[str, Any]) -> Callable[[Any], Awaitable[ObjectInfo]]:
        """Return the function that stores the content of a written file. Raises InvalidRequestError for an invalid
        place.
        """
        place = writable_place(path)
        unknown = sorted(set(options) - {"content_type", "metadata"})
        if unknown:
            raise InvalidRequestError(f"cannot open {place} with {unknown[0]}=: there are content_type and metadata")

        async def send(content: Any) -> ObjectInfo:
            spool = await self._spool(place) if mode == "wb" and isinstance(content, bytes) else None
            if spool is not None:
                return await spool.take(outgoing(place.path, b"", **options), content)
            async with self._changing(place) as target:
                return await target.put(place.path, content, if_absent=mode == "xb", **options)

        return send

    async def _pipe_file(self, path: str, value: Any, mode: str = "overwrite", **kwargs: Any) -> None:
        if mode not in ("overwrite", "create"):
            raise InvalidRequestError(f"mode must be 'overwrite' or 'create', not {mode!r}")
        send = self._sender(self._strip_protocol(path), "xb" if mode == "create" else "wb", kwargs)
        await send(bytes(value))

    async def _put(self, lpath: Any, rpath: Any, *args: Any, **kwargs: Any) -> None:
        """Like the method of fsspec. For a user who may write but not read, it writes to exactly this path, as `pipe`
        does.
        """
        token = _PUTTING.set(True)
        try:
            await super()._put(lpath, rpath, *args, **kwargs)
        finally:
            _PUTTING.reset(token)

    async def _isdir(self, path: str) -> bool:
        try:
            return await super()._isdir(path)
        except PermissionDeniedError:
            if not _PUTTING.get():
                raise
            return False

    async def _put_file(
        self, lpath: Any, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite", **kwargs: Any
    ) -> None:
        if await asyncio.to_thread(os.path.isdir, lpath):
            return  # a directory exists as soon as something is in it
        place = writable_place(self._strip_protocol(rpath))
        callback.set_size(await asyncio.to_thread(os.path.getsize, lpath))
        async with self._changing(place) as target:
            await target.put(
                place.path, Path(lpath), if_absent=mode == "create", progress=callback.relative_update, **kwargs
            )

    async def _refuse_taken(self, path: str) -> None:
        place = writable_place(path)
        if await self._isfile(path):
            raise ObjectExistsError(
                f"{place} exists already; mode 'wb' replaces it",
                operation="open",
                repository=place.repository,
                ref=place.ref,
                path=place.path,
            )

    async def _touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        name = self._strip_protocol(path)
        if not truncate and await self._isfile(name):
            raise UnsupportedOperationError(
                f"lakebed://{name} exists, and the time of an object cannot be changed; write it again"
            )
        await self._pipe_file(name, b"", **kwargs)

    touch = sync_wrapper(_touch)

    async def _mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        """Do nothing: a directory exists when something is in it."""
        place = Place.of(self._strip_protocol(path))
        if not place.ref:
            raise UnsupportedOperationError(
                f"{place} cannot be created as a directory: use lake.repository(...).create(...)"
            )

    async def _makedirs(self, path: str, exist_ok: bool = False) -> None:
        await self._mkdir(path)

    async def _rmdir(self, path: str) -> None:
        """Do nothing for an empty directory, because it does not exist. Refuse when it contains something."""
        name = self._strip_protocol(path)
        if await self._ls(name):
            raise InvalidRequestError(f"lakebed://{name} is not empty: use rm with recursive=True")

    rmdir = sync_wrapper(_rmdir)

    # copies

    async def _cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        source = object_place(self._strip_protocol(path1))
        target = writable_place(self._strip_protocol(path2))
        try:
            await self._copy_one(source, target)
        except ObjectNotFoundError:
            if await self._type(source.name) != "directory":
                raise

    async def _copy_one(self, source: Place, target: Place) -> None:
        """Copy inside a repository on the server, without moving bytes. Otherwise stream the content through this
        process.
        """
        async with self._changing(target) as there:
            if source.repository == target.repository:
                await there.copy(source.path, target.path, self._seen(source).ref)
                return
            origin = self._ref(source)
            info = await origin.stat(source.path)
            await there.put(
                target.path, origin.chunks(source.path), content_type=info.content_type or None, metadata=info.metadata
            )

    async def _copy(self, path1: Any, path2: Any, recursive: bool = False, on_error: Any = None, **kwargs: Any) -> None:
        """Like the method of fsspec, but a missing file is an error, also among many, unless the caller sets another
        `on_error`.
        """
        await super()._copy(path1, path2, recursive=recursive, on_error=on_error or "raise", **kwargs)

    # deletions

    async def _rm_file(self, path: str, **kwargs: Any) -> None:
        place = writable_place(self._strip_protocol(path))
        async with self._changing(place) as target:
            await target.delete(place.path)

    async def _rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any) -> None:
        """Delete everything. A directory needs `recursive`.

        Raises PermissionDeniedError when the server refuses every object, or when nothing is deleted and the caller may
        not see whether the path is a folder. Raises PartialFailureError when some objects are left.
        """
        names = await self._expand_path(path, recursive=False, maxdepth=None)
        doomed: list[Place] = []
        unseen: dict[Place, PermissionDeniedError] = {}
        for name in names:
            doomed += await self._doomed(name, recursive, maxdepth, unseen)
        await self._delete_all(doomed)
        for place, refused in unseen.items():
            await self._delete_unseen(place, refused)

    async def _doomed(
        self, name: str, recursive: bool, maxdepth: int | None, unseen: dict[Place, PermissionDeniedError]
    ) -> list[Place]:
        """Return the objects that deleting a path deletes.

        A path that the caller may neither read nor list goes to `unseen`, with the refusal of the listing.
        """
        place = Place.of(name)
        if not place.ref:
            raise InvalidRequestError(f"{place or 'lakebed://'} cannot be deleted by rm: use repository.delete()")
        if recursive and maxdepth is not None:
            return [Place.of(one) for one in await self._find(name, maxdepth=maxdepth)]
        found = []
        try:
            if place.path and await self._isfile(name):
                found.append(place)
        except PermissionDeniedError:
            if not recursive:
                refused = await self._refuse_folder(place)
                if refused is None:
                    return [place]  # the server decides about the deletion, as with `rm_file`
                unseen[place] = refused
                return []
        if not found or recursive:
            try:
                below = self._ref(place).list(place.folder, limit=None if recursive else 1)
                inside = [Place(place.repository, place.ref, one.path) async for one in below]
            except NotFoundError as error:
                raise missing(place, error) from None
            if inside and not recursive:
                raise InvalidRequestError(f"{place} is a directory: use recursive=True")
            found += inside
        if not found and place.path:
            raise missing(place)
        return found

    async def _refuse_folder(self, place: Place) -> PermissionDeniedError | None:
        """Raise InvalidRequestError for a folder. Return the refusal when the caller may not list."""
        try:
            inside = [one async for one in self._ref(place).list(place.folder, limit=1)]
        except PermissionDeniedError as refused:
            return refused
        if inside:
            raise InvalidRequestError(f"{place} is a directory: use recursive=True")
        return None

    async def _delete_unseen(self, place: Place, listing: PermissionDeniedError) -> None:
        """Delete an object that must exist. The condition makes the server report a missing object.

        Raises PermissionDeniedError, which names the right to list, when there is no object.
        """
        async with self._changing(place) as target:
            try:
                await target.delete(place.path, if_match="*")
            except PreconditionFailedError:
                error = PermissionDeniedError(
                    f"{place} is not an object, so rm deleted nothing; to see whether it is a folder: {listing.reason}"
                )
                error.reason = listing.reason
                raise error from None

    async def _delete_all(self, doomed: Sequence[Place]) -> None:
        left: list[ObjectFailure] = []
        for (repository, ref), places in groupby(sorted(set(doomed), key=_order), key=lambda one: _order(one)[:2]):
            paths = [one.path for one in places]
            where = writable_place(f"{repository}/{ref}/{paths[0]}")
            for start in range(0, len(paths), _GROUP):
                try:
                    async with self._changing(where) as target:
                        await target.delete_many(paths[start : start + _GROUP])
                except PartialFailureError as error:
                    left += error.failures
        if left and len(left) == len(doomed) and all(one.status == _FORBIDDEN for one in left):
            refused = PermissionDeniedError(f"cannot delete {doomed[0]}: {left[0].message}")
            refused.reason = left[0].message
            raise refused
        if left:
            shown = ", ".join(repr(one.path) for one in left[:_SHOWN])
            failure = PartialFailureError(
                f"{len(left)} of {len(doomed)} objects could not be deleted and are left: {shown}"
                f"{', ...' if len(left) > _SHOWN else ''}; the first because: {left[0].message}"
            )
            failure.failures = tuple(left)
            raise failure


def _order(place: Place) -> tuple[str, str, str]:
    return place.repository, place.ref, place.path
