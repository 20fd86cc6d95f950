"""The part of the repository handle that makes no other handles: its life, its metadata and its listings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, Self

from lakebed import _checks
from lakebed._async.http.pagination import Listing
from lakebed._async.http.target import Storage
from lakebed._async.http.transport import Transport
from lakebed._async.objects.shared_directory import trusted
from lakebed._compat.aio import Shown
from lakebed._gateway.operations import commits, metadata, protection, refs, repositories, workspaces
from lakebed.errors import AlreadyExistsError, NotFoundError
from lakebed.model import Commit, ProtectionRules, RefInfo, RepositoryInfo, WorkspaceInfo

if TYPE_CHECKING:
    # The other handles get the type `Repository` from this module, so only this import, for types, leads in a circle.
    from lakebed._async.handles.repository import Repository as Repository  # noqa: PLC0414 - the alias exports it


class RepositoryBase(Shown):
    """The methods of `Repository` that return values and listings, not handles."""

    __module__ = "lakebed.aio"

    def __init__(self, transport: Transport, id: str) -> None:
        self.id = _checks.check_name(id, "repository name")
        self._transport = transport
        self._storage = Storage()

    def __repr__(self) -> str:
        return f"<Repository {self.id}>"

    async def create(
        self,
        storage_namespace: str,
        default_branch: str = "main",
        exist_ok: bool = False,
        *,
        bare: bool = False,
        read_only: bool = False,
        sample_data: bool = False,
        allow_non_empty: bool = False,
    ) -> Self:
        """Create the repository, with one empty commit on its default branch. Returns itself.

        With `exist_ok`, one that is there already will do, as long as it is over the same storage namespace. `bare`:
        without a branch, for `restore_refs`. `read_only`: refuses changes. `sample_data`: with objects to begin with.
        `allow_non_empty`: the namespace may hold other objects; Lakebed leaves them as they are.

        Raises AlreadyExistsError (the name or the namespace is taken, or the namespace is not empty) and
        InvalidRequestError.
        """
        call = repositories.create(
            self.id,
            _checks.check_text(storage_namespace, "storage namespace"),
            _checks.check_name(default_branch, "branch name"),
            bare=bare,
            read_only=read_only,
            sample_data=sample_data,
            allow_non_empty=allow_non_empty,
            repeatable=exist_ok,
        )
        try:
            await self._transport.call(call)
        except AlreadyExistsError as error:
            if not exist_ok:
                raise
            await self._accept(storage_namespace, error)
        return self

    async def _accept(self, storage_namespace: str, error: AlreadyExistsError) -> None:
        try:
            there = (await self.info()).storage_namespace
        except NotFoundError:
            raise error from None  # the namespace is taken, by a repository of another name
        if there.rstrip("/") != storage_namespace.rstrip("/"):
            raise AlreadyExistsError(
                f"repository {self.id} exists, but over {there}, not {storage_namespace}; choose another name, or "
                f"create({there!r}, exist_ok=True)",
                kind=error.kind,
                operation=error.operation,
                repository=self.id,
            ) from error

    async def delete(self, force: bool = False) -> None:
        """Delete the repository; the objects in its storage namespace stay. Raises NotFoundError."""
        await self._transport.call(repositories.delete(self.id, force=force))

    async def exists(self) -> bool:
        """Whether there is such a repository."""
        try:
            await self.info()
        except NotFoundError:
            return False
        return True

    async def info(self) -> RepositoryInfo:
        """What the server knows about it. Raises NotFoundError."""
        return await trusted(self._transport, await self._transport.call(repositories.get(self.id)))

    async def metadata(self) -> dict[str, str]:
        """Its metadata. Raises NotFoundError."""
        return await self._transport.call(repositories.get_metadata(self.id))

    async def set_metadata(self, values: Mapping[str, str]) -> None:
        """Set some keys; the others stay. Raises NotFoundError."""
        checked = _checks.check_metadata(dict(values), "repository")
        await self._transport.call(repositories.set_metadata(self.id, checked))

    async def delete_metadata(self, keys: Iterable[str]) -> None:
        """Remove some keys; unknown ones are ignored. Raises NotFoundError."""
        checked = [_checks.check_text(key, "metadata key") for key in keys]
        await self._transport.call(repositories.delete_metadata(self.id, checked))

    async def protection(self) -> ProtectionRules:
        """The patterns of branches that take no direct changes: no writes, resets and commits, but merges."""
        return await self._transport.call(protection.get(self.id))

    async def set_protection(self, patterns: Iterable[str], *, replaces: ProtectionRules | None = None) -> None:
        """Replace these patterns: `*`, `?`, `[ab]` and `[!ab]` mean several names. They hold at once.

        With `replaces`, only if the rules are still those. Raises PreconditionFailedError, InvalidRequestError.
        """
        checked = [_checks.check_text(pattern, "pattern") for pattern in patterns]
        etag = None if replaces is None else replaces.etag
        await self._transport.call(protection.put(self.id, checked, etag=etag))

    def branches(self, prefix: str = "", hidden: bool = False, limit: int | None = None) -> Listing[RefInfo]:
        """Branches in the order of their names; `hidden` includes those created hidden."""
        _checks.check_text(prefix, "prefix")
        return Listing(
            self._transport,
            lambda after, amount: refs.list_branches(self.id, prefix=prefix, hidden=hidden, after=after, amount=amount),
            RefInfo.COLUMNS,
            f"branches of {self.id}",
            limit=limit,
        )

    def tags(self, prefix: str = "", limit: int | None = None) -> Listing[RefInfo]:
        """Tags in the order of their names."""
        _checks.check_text(prefix, "prefix")
        return Listing(
            self._transport,
            lambda after, amount: refs.list_tags(self.id, prefix=prefix, after=after, amount=amount),
            RefInfo.COLUMNS,
            f"tags of {self.id}",
            limit=limit,
        )

    def workspaces(self, state: str = "open", branch: str = "", limit: int | None = None) -> Listing[WorkspaceInfo]:
        """Workspaces in the order of their ids: open ones, or in another state, or `all`; of a branch or of any."""
        _checks.check_text(state + branch, "state or branch")
        return Listing(
            self._transport,
            lambda after, amount: workspaces.list_page(self.id, state=state, branch=branch, after=after, amount=amount),
            WorkspaceInfo.COLUMNS,
            f"workspaces of {self.id}",
            limit=limit,
        )

    async def commit(self, id: str) -> Commit:
        """Fetch a commit by its id, the beginning of its id, or any ref expression. Raises NotFoundError."""
        return await self._transport.call(commits.get(self.id, _checks.check_name(id, "commit id")))

    async def metadata_file(self, kind: Literal["range", "meta_range"], id: str) -> bytes:
        """A Parquet file that the history is made of, by its id, for who cannot reach the store. Raises NotFoundError.

        `ref.ranges()` has the ids of ranges, a commit that of its metarange.
        """
        return await self._transport.call(metadata.file(self.id, kind, _checks.check_name(id, f"{kind} id")))

    async def metadata_place(self, kind: Literal["range", "meta_range"], id: str) -> str:
        """Where such a file lies, from the storage namespace on. Raises NotFoundError."""
        return await self._transport.call(metadata.place(self.id, kind, _checks.check_name(id, f"{kind} id")))

    async def add_commit(self, commit: Commit) -> None:
        """Store a commit exactly as it is, as when history is carried over from elsewhere. No branch moves.

        Its id must be that of its content; its parents and its listing must be there. One that is stored already is the
        same, by its id. Raises NotFoundError and InvalidRequestError.
        """
        with suppress(AlreadyExistsError):
            await self._transport.call(commits.record(self.id, commit))
