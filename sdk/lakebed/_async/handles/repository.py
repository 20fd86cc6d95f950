"""The repository handle: its life, its metadata, and the way to branches, tags, refs and commits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Self

from lakebed import _checks
from lakebed._async.handles.branch import Branch
from lakebed._async.handles.ref import Ref
from lakebed._async.handles.tag import Tag
from lakebed._async.handles.task import Dump, Restore, Task
from lakebed._async.handles.workspace import Workspace
from lakebed._async.http.pagination import Listing
from lakebed._async.objects.shared_directory import trusted
from lakebed._compat.aio import Shown, gather
from lakebed._gateway.operations import commits, metadata, protection, refs, repositories, workspaces
from lakebed._render import html
from lakebed._values import graph as render_graph
from lakebed._values.graph import Graph
from lakebed._values.workspaces import RETRY_FOR, WorkspaceOptions
from lakebed.errors import AlreadyExistsError, NotFoundError
from lakebed.model import Commit, CommitAttempt, ProtectionRules, RefInfo, RefsDump, RepositoryInfo, WorkspaceInfo

if TYPE_CHECKING:
    from lakebed._async.handles.lake import Lake


class Repository(Shown):
    """A handle to one repository. Making it asks nothing; its methods do."""

    __module__ = "lakebed.aio"

    def __init__(self, lake: Lake, id: str) -> None:
        self.id = _checks.check_name(id, "repository name")
        self._lake = lake
        self._transport = lake._transport
        self._shared: tuple[str, str] | None = None
        """Its namespace, and where that is a directory of this machine; known after `objects.shared_directory` asked
        for it.
        """

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

    def branch(self, name: str) -> Branch:
        """A handle to a branch, whether or not it exists."""
        return Branch(self, name)

    def tag(self, name: str) -> Tag:
        """A handle to a tag, whether or not it exists."""
        return Tag(self, name)

    def ref(self, expression: str) -> Ref:
        """A handle to what a ref expression means: `main`, `v1`, a commit id or its beginning, `main~2`, `main@`."""
        return Ref(self, expression)

    async def workspace(
        self,
        id: str,
        on_conflict: Literal["rebase", "abort", "overwrite"] = "rebase",
        *,
        data_path: Literal["direct", "presigned", "proxied"] | None = None,
        retry_for: float = RETRY_FOR,
        on_attempt: Callable[[CommitAttempt], None] | None = None,
    ) -> Workspace:
        """Go on with a workspace, by its id or its name `main+<id>`. The options are those of `branch.workspace`.

        Raises NotFoundError. A closed one is given as well: its `info()` says what became of it.
        """
        info = await self._transport.call(workspaces.get(self.id, _checks.check_name(id, "workspace id")))
        options = WorkspaceOptions(info.message, on_conflict, None, info.claims, data_path, retry_for)
        return Workspace(self, info.name, options, info=info, on_attempt=on_attempt)

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

    async def dump_refs(self) -> RefsDump:
        """Write commits, branches and tags to the storage namespace: `restore_refs` reads them from a copy of it."""
        return await (await self.start_dump()).wait()

    async def start_dump(self) -> Dump:
        """Begin to do so, and do not wait. `dump_task` goes on with it, by its id."""
        return self.dump_task(await self._transport.call(metadata.submit_dump(self.id)))

    def dump_task(self, id: str) -> Dump:
        """A handle to a dump that was begun, by its id."""
        return Dump(self, id)

    async def restore_refs(self, refs: RefsDump) -> None:
        """Read a dump into this repository, which has no branches. Raises InvalidRequestError when it has, or when its
        storage namespace has no such dump; OutcomeUnknownError on a lost answer.
        """
        await (await self.start_restore(refs)).wait()

    async def start_restore(self, refs: RefsDump) -> Restore:
        """Begin to do so, and do not wait. `restore_task` goes on with it, by its id. Raises OutcomeUnknownError."""
        return self.restore_task(await self._transport.call(metadata.submit_restore(self.id, refs)))

    def restore_task(self, id: str) -> Restore:
        """A handle to a restore that was begun, by its id."""
        return Restore(self, id)

    def task(self, id: str) -> Task:
        """A handle to a task of this repository, by its id: of `branch.start_commit` or `branch.start_merge`."""
        return Task(self, id)

    async def graph(self, limit: int = 50) -> Graph:
        """The newest commits of all branches and tags, drawn: a text that `print` shows, with `.svg` as a picture.

        Notebooks show the picture. Raises NotFoundError.
        """
        branches = await self.branches(limit=render_graph.MAX_HEADS).all()
        tags = await self.tags(limit=render_graph.MAX_HEADS).all()
        heads = sorted({info.commit_id for info in [*branches, *tags]})
        logs = await gather([self.ref(head).log(limit=limit).all for head in heads])
        return render_graph.both([commit for log in logs for commit in log], branches, tags, limit)

    async def _look(self) -> str:
        info = await self.info()
        shown: list[Listing[Any]] = [
            self.branches(limit=html.FEW + 1),
            self.tags(limit=html.FEW + 1),
            self.ref(info.default_branch).log(limit=html.FEW + 1),
        ]
        parts = [
            html.rows(listing._title, rows[: html.FEW], listing._columns, more=len(rows) > html.FEW)
            for listing, rows in zip(shown, await gather([listing.all for listing in shown]), strict=True)
        ]
        pairs = [(name, getattr(info, name)) for name, _ in info.COLUMNS]
        return html.facts(self.id, pairs, *parts)
