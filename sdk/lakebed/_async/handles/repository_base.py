"""The part of the repository handle that makes no other handles: its life, its metadata and its listings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

from lakebed import _checks
from lakebed._async import objects
from lakebed._async.http.events import Events
from lakebed._async.http.pagination import Listing
from lakebed._async.http.target import Storage
from lakebed._async.http.transport import Transport
from lakebed._compat.aio import Shown, sleep
from lakebed._gateway.operations import commits, hooks, metadata, refs, repositories, workspaces
from lakebed._gateway.operations.access import protection
from lakebed.errors import AlreadyExistsError, NotFoundError
from lakebed.model import (
    Commit,
    CommitStatistics,
    HookSettings,
    ProtectionRule,
    ProtectionRules,
    RefInfo,
    RepositoryInfo,
    RepositoryPurge,
    RepositoryStatistics,
    WorkspaceInfo,
)

if TYPE_CHECKING:
    from lakebed._async.commits.pulls import Pulls

    # The other handles get the type `Repository` from this module, so only this import, for types, leads in a circle.
    from lakebed._async.handles.repository import Repository as Repository  # noqa: PLC0414 - the alias exports it
    from lakebed._async.hooks.runs import Deliveries, Runs

PURGE_PAUSE = 2.0
"""Seconds between two requests that ask whether a purge has ended."""


class RepositoryBase(Shown):
    """The methods of `Repository` that return values and listings, not handles."""

    __module__ = "lakebed.aio"

    def __init__(self, transport: Transport, id: str) -> None:
        self.id = _checks.check_name(id, "repository name")
        self._transport = transport
        self._storage = Storage()

    def __repr__(self) -> str:
        return f"<Repository {self.id}>"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self._transport.settings, other._transport.settings
        return (self.id, mine.endpoint, mine.identity) == (other.id, theirs.endpoint, theirs.identity)

    def __hash__(self) -> int:
        return hash((self._transport.settings.endpoint, self.id))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            from lakebed._values.foreign_names import unknown_attribute

            raise unknown_attribute(self, name)

    async def create(
        self,
        storage_namespace: str = "",
        default_branch: str = "main",
        exist_ok: bool = False,
        *,
        bare: bool = False,
        read_only: bool = False,
        sample_data: bool = False,
        allow_non_empty: bool = False,
        storage_id: str = "",
    ) -> Self:
        """Create the repository, with one empty commit on its default branch. Returns itself.

        Without a `storage_namespace`, the server chooses a free one below its own prefix. With `exist_ok` the call
        accepts an existing repository over the same storage namespace, or over any if none is given. `bare` creates no
        branch, for `restore_refs`. `read_only` makes the server refuse changes. `sample_data` adds example objects.
        `allow_non_empty` accepts a namespace that holds other objects, and Lakebed does not touch them. `storage_id` is
        a named store of the server (`lake.info().stores`); empty: the default store.

            repo = lake.repository("sales").create(exist_ok=True)

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
            storage_id=storage_id,
            repeatable=exist_ok,
        )
        try:
            await self._transport.call(call)
        except AlreadyExistsError as error:
            if not exist_ok:
                raise
            await self._accept(storage_namespace, storage_id, error)
        return self

    async def _accept(self, storage_namespace: str, storage_id: str, error: AlreadyExistsError) -> None:
        try:
            info = await self.info()
            there = info.storage_namespace
        except NotFoundError:
            raise error from None  # another repository uses the namespace
        if storage_namespace and there.rstrip("/") != storage_namespace.rstrip("/"):
            raise AlreadyExistsError(
                f"repository {self.id} exists, but over {there}, not {storage_namespace}; choose another name, or "
                f"create({there!r}, exist_ok=True)",
                kind=error.kind,
                operation=error.operation,
                repository=self.id,
            ) from error
        if info.storage_id != storage_id:
            raise AlreadyExistsError(
                f"repository {self.id} exists, but in the store {info.storage_id!r}, not {storage_id!r} (empty: the "
                f"default one); choose another name, or create(..., storage_id={info.storage_id!r}, exist_ok=True)",
                kind=error.kind,
                operation=error.operation,
                repository=self.id,
            ) from error

    async def delete(self, force: bool = False) -> None:
        """Delete the repository. The objects in its storage namespace stay, see `purge`. Raises NotFoundError.

        Example:

            repo.delete()
        """
        await self._transport.call(repositories.delete(self.id, force=force))

    async def purge(self, force: bool = False) -> RepositoryPurge:
        """Delete the repository **with its data**. Its name and its storage namespace can be used again.

        Nothing brings the data back. `force` includes a read-only repository. When the call is interrupted, the server
        continues: call it again to wait for the end. The caller needs `fs:PurgeRepository`.

        Raises NotFoundError, PermissionDeniedError, and PreconditionFailedError when another repository shows objects
        of the storage namespace.

            report = repo.purge()
        """
        report, done = await self._transport.call(repositories.purge(self.id, force=force))
        while not done:
            await sleep(PURGE_PAUSE)
            done = not await self._is_deleting()
        return report

    async def _is_deleting(self) -> bool:
        try:
            await self._transport.call(repositories.get(self.id))
        except NotFoundError as error:
            return error.kind == "repository_deleting"
        return False  # there is a new one of this name

    async def exists(self) -> bool:
        """Return whether there is such a repository.

        Example:

            if not repo.exists():
                repo.create()
        """
        try:
            await self._transport.call(replace(repositories.get(self.id), advised=False))
        except NotFoundError:
            return False
        return True

    async def info(self) -> RepositoryInfo:
        """Return the server's description of the repository. Raises NotFoundError.

        Example:

            print(repo.info().default_branch)
        """
        return await objects.shared_directory.trusted(
            self._transport, await self._transport.call(repositories.get(self.id))
        )

    async def statistics(self) -> RepositoryStatistics:
        """Return the newest commit of the default branch, the number of its objects, and their size in bytes.

        Raises NotFoundError.

            print(repo.statistics().objects)
        """
        return await self._transport.call(repositories.statistics(self.id))

    async def metadata(self) -> dict[str, str]:
        """Return the metadata of the repository. Raises NotFoundError.

        Example:

            print(repo.metadata())
        """
        return await self._transport.call(repositories.get_metadata(self.id))

    async def set_metadata(self, values: Mapping[str, str]) -> None:
        """Set some keys. The others stay. Raises NotFoundError.

        Example:

            repo.set_metadata({"owner": "ana"})
        """
        checked = _checks.check_metadata(dict(values), "repository")
        await self._transport.call(repositories.set_metadata(self.id, checked))

    async def delete_metadata(self, keys: Iterable[str]) -> None:
        """Remove some keys, and ignore unknown ones. Raises NotFoundError.

        Example:

            repo.delete_metadata(["owner"])
        """
        checked = [_checks.check_text(key, "metadata key") for key in keys]
        await self._transport.call(repositories.delete_metadata(self.id, checked))

    async def protection(self) -> ProtectionRules:
        """Return the patterns of protected branches. They accept merges, but no writes, resets or commits.

        Example:

            for rule in repo.protection().rules:
                print(rule.pattern)
        """
        return await self._transport.call(protection.get(self.id))

    async def set_protection(
        self, patterns: Iterable[str | ProtectionRule], *, replaces: ProtectionRules | None = None
    ) -> None:
        """Replace these patterns. `*`, `?`, `[ab]` and `[!ab]` match several names. They take effect immediately.

        A `ProtectionRule` also says which approvals and checks a pull request into such a branch needs.

            repo.set_protection([lakebed.ProtectionRule("main", required_approvals=1), "release-*"])

        With `replaces` the server sets them only when the present rules are still those. Raises PreconditionFailedError
        and InvalidRequestError.
        """
        rules = [ProtectionRule(one) if isinstance(one, str) else one for one in patterns]
        for rule in rules:
            _checks.check_text(rule.pattern, "pattern")
        etag = None if replaces is None else replaces.etag
        await self._transport.call(protection.put(self.id, rules, etag=etag))

    @property
    def pulls(self) -> Pulls:
        """The pull requests of this repository."""
        from lakebed._async.commits.pulls import Pulls

        return Pulls(self._transport, self.id)

    async def hook_settings(self) -> HookSettings:
        """Return the action files of the settings. They apply in addition to those in the data.

        Example:

            print(repo.hook_settings())
        """
        return await self._transport.call(hooks.settings(self.id))

    async def set_hook_settings(self, actions: Mapping[str, str], *, replaces: HookSettings | None = None) -> None:
        """Replace the action files of the settings: YAML text by name. They take effect immediately.

            repo.set_hook_settings({"contract.yaml": Path("contract.yaml").read_text()})

        With `replaces` the server sets them only when the present settings are still those. Raises
        PreconditionFailedError, and InvalidRequestError for an invalid file: then nothing is changed.
        """
        checked = _checks.check_metadata(dict(actions), "hook settings")
        etag = None if replaces is None else replaces.etag
        await self._transport.call(hooks.set_settings(self.id, checked, etag=etag))

    @property
    def runs(self) -> Runs:
        """The runs of hooks of this repository."""
        from lakebed._async.hooks.runs import Runs

        return Runs(self._transport, self.id)

    @property
    def deliveries(self) -> Deliveries:
        """The waiting and failed deliveries of this repository."""
        from lakebed._async.hooks.runs import Deliveries

        return Deliveries(self._transport, self.id)

    def branches(self, prefix: str = "", hidden: bool = False, limit: int | None = None) -> Listing[RefInfo]:
        """List the branches in the order of their names. `hidden` includes branches that were created hidden.

        Example:

            names = [branch.id for branch in repo.branches()]
        """
        _checks.check_text(prefix, "prefix")
        return Listing(
            self._transport,
            lambda after, amount: refs.list_branches(self.id, prefix=prefix, hidden=hidden, after=after, amount=amount),
            RefInfo.COLUMNS,
            f"branches of {self.id}",
            limit=limit,
        )

    def tags(self, prefix: str = "", limit: int | None = None) -> Listing[RefInfo]:
        """List the tags in the order of their names.

        Example:

            names = [tag.id for tag in repo.tags()]
        """
        _checks.check_text(prefix, "prefix")
        return Listing(
            self._transport,
            lambda after, amount: refs.list_tags(self.id, prefix=prefix, after=after, amount=amount),
            RefInfo.COLUMNS,
            f"tags of {self.id}",
            limit=limit,
        )

    def events(
        self,
        *,
        after: int | None = None,
        branch: str = "",
        type: str = "",
        limit: int | None = None,
        follow: bool = False,
    ) -> Events:
        """Return the changes of the repository, the oldest first: of one branch and of one type where these are given.

        `after` is the logical timestamp of an event. `type` is like `branch.merged`, or `branch` for all types of this
        group. With `follow`, new events as they occur, starting after `after` or now. The loop ends only after `limit`
        events, and reconnects if the connection breaks. Without `branch` the caller needs `audit:ReadEvents`.

            for event in repo.events(branch="main", follow=True):
                print(event.time, event.user, event.type)

        Iterating raises PermissionDeniedError, NotFoundError.
        """
        _checks.check_text(branch, "branch")
        _checks.check_text(type, "type")
        return Events(self._transport, self.id, "" if after is None else str(after), branch, type, limit, follow)

    def workspaces(self, state: str = "open", branch: str = "", limit: int | None = None) -> Listing[WorkspaceInfo]:
        """List the workspaces in the order of their ids, of one branch or of all.

        `state` is `open`, the state of a closed workspace, or `all`.

            for row in repo.workspaces():
                print(row.id, row.branch)
        """
        _checks.check_text(state + branch, "state or branch")
        return Listing(
            self._transport,
            lambda after, amount: workspaces.list_page(self.id, state=state, branch=branch, after=after, amount=amount),
            WorkspaceInfo.COLUMNS,
            f"workspaces of {self.id}",
            limit=limit,
        )

    async def commit(self, id: str) -> Commit:
        """Return a commit by its id, the beginning of its id, or any ref expression. Raises NotFoundError.

        Example:

            commit = repo.commit("5b4c6f7d8e9a")
        """
        return await self._transport.call(commits.get(self.id, _checks.check_name(id, "commit id")))

    async def commit_statistics(self, id: str) -> CommitStatistics:
        """Return how many paths and bytes a commit changed, compared with its first parent. Raises NotFoundError.

        Example:

            print(repo.commit_statistics("main").added)
        """
        return await self._transport.call(commits.statistics(self.id, _checks.check_name(id, "commit id")))

    async def metadata_file(self, kind: Literal["range", "meta_range"], id: str) -> bytes:
        """Return a Parquet file of the history by its id, for clients that cannot reach the store.

        `ref.ranges()` returns the ids of ranges, and a commit has the id of its metarange. Raises NotFoundError.
        """
        return await self._transport.call(metadata.file(self.id, kind, _checks.check_name(id, f"{kind} id")))

    async def metadata_place(self, kind: Literal["range", "meta_range"], id: str) -> str:
        """Return the path of a metadata file inside the storage namespace. Raises NotFoundError."""
        return await self._transport.call(metadata.place(self.id, kind, _checks.check_name(id, f"{kind} id")))

    async def add_commit(self, commit: Commit) -> None:
        """Store a commit exactly as given, for example when history moves from another repository. Moves no branch.

        Its id must be the hash of its content. The repository must contain its parents and its metarange. A commit that
        is stored already is accepted, because its id is the same.

        Raises NotFoundError and InvalidRequestError.
        """
        with suppress(AlreadyExistsError):
            await self._transport.call(commits.record(self.id, commit))
