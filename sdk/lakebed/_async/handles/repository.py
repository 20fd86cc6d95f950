"""The repository handle. It makes the handles to branches, tags, refs, workspaces and tasks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from lakebed import _checks
from lakebed._async import handles
from lakebed._async.handles.repository_base import RepositoryBase
from lakebed._async.http.pagination import Listing
from lakebed._compat.aio import gather
from lakebed._gateway.operations import metadata, workspaces
from lakebed._render import html
from lakebed._values.workspaces import RETRY_FOR, WorkspaceOptions
from lakebed.model import CommitAttempt, RefsDump

if TYPE_CHECKING:
    import pyarrow as pa

    from lakebed._async.handles.branch import Branch
    from lakebed._async.handles.ref import Ref
    from lakebed._async.handles.tag import Tag
    from lakebed._async.handles.task import Dump, Restore, Task
    from lakebed._async.handles.workspace import Workspace
    from lakebed._values.graph import Graph


class Repository(RepositoryBase):
    """A handle to one repository. Making the handle sends no request, its methods do."""

    __module__ = "lakebed.aio"

    def branch(self, name: str) -> Branch:
        """Return a handle to a branch, whether or not it exists.

        Example:

            main = repo.branch("main")
        """
        return handles.branch.Branch(self, name)

    def tag(self, name: str) -> Tag:
        """Return a handle to a tag, whether or not it exists.

        Example:

            v1 = repo.tag("v1")
        """
        return handles.tag.Tag(self, name)

    def ref(self, expression: str) -> Ref:
        """Return a handle to a ref expression: `main`, `v1`, a commit id or its beginning, `main~2`, `main@`.

        Example:

            before = repo.ref("main~1")
        """
        return handles.ref.Ref(self, expression)

    async def access_history(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        user: str = "",
        path: str = "",
        operation: str = "",
        refused: bool = False,
    ) -> pa.Table:
        """Return the reads, writes and refusals with their users: a table with the columns of docs/audit.md, by time.

        `since` is by default a week before `until`, which is by default now. A time without a zone is local time.
        `path` is the beginning of the paths. The caller needs `audit:ReadEvents` on the repository.

            repo.access_history(user="ana").to_pandas()

        Raises UnsupportedOperationError if the server records no access history, PermissionDeniedError, NotFoundError.
        """
        import pyarrow as arrow

        wanted = metadata.access_history(
            self.id, since=since, until=until, user=user, path=path, operation=operation, refused=refused
        )
        return arrow.ipc.open_stream(await self._transport.call(wanted)).read_all().sort_by("time")

    async def workspace(
        self,
        id: str,
        on_conflict: Literal["rebase", "abort", "overwrite"] = "rebase",
        *,
        data_path: Literal["direct", "presigned", "proxied"] | None = None,
        retry_for: float = RETRY_FOR,
        on_attempt: Callable[[CommitAttempt], None] | None = None,
    ) -> Workspace:
        """Continue with an existing workspace, by its id or its name `main+<id>`. The options are as in
        `branch.workspace`.

        Returns a closed workspace as well: its `info()` says why it is closed. Raises NotFoundError.

            ws = repo.workspace("5d2f0c1b9a8e47f6b3d2a1c0e9f8d7c6")
        """
        info = await self._transport.call(workspaces.get(self.id, _checks.check_name(id, "workspace id")))
        options = WorkspaceOptions(info.message, on_conflict, None, info.claims, data_path, retry_for)
        return handles.workspace.Workspace(self, info.name, options, info=info, on_attempt=on_attempt)

    async def dump_refs(self) -> RefsDump:
        """Write commits, branches and tags to the storage namespace. `restore_refs` reads them from a copy of it."""
        return await (await self.start_dump()).wait()

    async def start_dump(self) -> Dump:
        """Start a dump and return without waiting. `dump_task` finds it again by its id."""
        return self.dump_task(await self._transport.call(metadata.submit_dump(self.id)))

    def dump_task(self, id: str) -> Dump:
        """Return the handle to a dump that was started before, by its id."""
        return handles.task.Dump(self, id)

    async def restore_refs(self, refs: RefsDump) -> None:
        """Read a dump into this repository, which must have no branches.

        Raises InvalidRequestError when it has branches, or when its storage namespace does not contain the dump. Raises
        OutcomeUnknownError when the answer was lost.
        """
        await (await self.start_restore(refs)).wait()

    async def start_restore(self, refs: RefsDump) -> Restore:
        """Start a restore and return without waiting. `restore_task` finds it again by its id.

        Raises OutcomeUnknownError when the answer was lost.
        """
        return self.restore_task(await self._transport.call(metadata.submit_restore(self.id, refs)))

    def restore_task(self, id: str) -> Restore:
        """Return the handle to a restore that was started before, by its id."""
        return handles.task.Restore(self, id)

    def task(self, id: str) -> Task:
        """Return the handle to a task of `branch.start_commit` or `branch.start_merge`, by its id."""
        return handles.task.Task(self, id)

    async def graph(self, limit: int = 50) -> Graph:
        """Draw the newest commits of all branches and tags. `print` shows it as text, and `.svg` is a picture.

        Notebooks show the picture. Raises NotFoundError.

            print(repo.graph())
        """
        from lakebed._values import graph

        branches = await self.branches(limit=graph.MAX_HEADS).all()
        tags = await self.tags(limit=graph.MAX_HEADS).all()
        heads = sorted({info.commit_id for info in [*branches, *tags]})
        logs = await gather([self.ref(head).log(limit=limit).all for head in heads])
        return graph.both([commit for log in logs for commit in log], branches, tags, limit)

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
