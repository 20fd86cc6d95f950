"""The workspace handle: isolated work on a branch, committed as one.

A workspace is a ref, so all reading methods work. The bytes go to the store once, then the objects are registered. A
commit moves no data.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Literal, Self

from lakebed import _checks
from lakebed._async.bulk import upload as bulk_upload
from lakebed._async.commits import commit as commits_commit
from lakebed._async.commits.recover import new_operation_id
from lakebed._async.commits.retry import Advance
from lakebed._async.handles.ref import Ref
from lakebed._async.handles.staging import Staging
from lakebed._async.http.transport import recall
from lakebed._async.objects.shared_directory import trusted
from lakebed._async.tables.diff import Diff
from lakebed._bulk import progress_bar as render_progress
from lakebed._bulk.progress import JOBS
from lakebed._gateway.operations import commits, workspaces
from lakebed._render import html
from lakebed._values.workspaces import advise, check_policy, checked_globs, seconds_of
from lakebed.errors import NothingToCommitError, WorkspaceClosedError
from lakebed.model import Commit, ScanResult, TransferProgress, TransferResult, WorkspaceInfo

log = logging.getLogger("lakebed.workspace")


class Workspace(Staging):
    """Isolated work on a branch, committed as a whole or not at all. `branch.workspace()` makes one.

    It shows the commit of the branch with the workspace's own changes on top, under the ref `main+<id>`. A handle can
    be pickled, without credentials: the process that unpickles it takes its own from the environment or the
    configuration file. The methods raise WorkspaceClosedError after the workspace was committed, popped or dropped, or
    has expired.
    """

    __module__ = "lakebed.aio"

    def __reduce__(self) -> tuple[object, ...]:
        settings = self._plain.settings
        where = (settings.endpoint, settings.identity, settings.timeout, settings.retries)
        made = (self.repository.id, self.id, self.options, self._made, self._given_out)
        return _restore, (type(self), type(self.repository), where, made)

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._advise(error)
            return
        try:
            await self._finish()
        except BaseException as failure:
            self._advise(failure)
            raise

    # its life

    async def create(self) -> Self:
        """Create the workspace now, before its first use. Returns itself. A second call changes nothing.

        Example:

            ws = main.workspace("load orders").create()
        """
        await self._open()
        return self

    async def info(self) -> WorkspaceInfo:
        """Return the server's description: state, base, expiry, prefix. Works on a closed workspace too.

        Example:

            print(ws.info().expires)
        """
        await self._open()
        info = await self._plain.call(workspaces.get(self.repository.id, self.id))
        return await trusted(self._plain, info, self.options.data_path)

    async def renew(self, expires_in: timedelta | int) -> WorkspaceInfo:
        """Extend the life of the workspace: it expires after this time from now (seconds, at least 60).

        Example:

            ws.renew(timedelta(days=7))
        """
        call = workspaces.renew(self.repository.id, self.id, seconds_of(expires_in) or 0)
        return await self._transport.call(call)

    async def drop(self) -> None:
        """Close the workspace and delete its changes, without a commit. A second call is not an error.

        Example:

            ws.drop()
        """
        await self._transport.call(workspaces.drop(self.repository.id, self.id))

    async def pop(self, branch: str | Ref | None = None) -> None:
        """Move the changes to its branch, or to another branch, as uncommitted changes, and close the workspace.

        They replace uncommitted changes of the same paths. Raises NothingToCommitError, and OutcomeUnknownError when
        the answer was lost.

            ws.pop()
        """
        name = "" if branch is None else _checks.check_name(branch.id if isinstance(branch, Ref) else branch, "branch")
        await self._transport.call(workspaces.pop(self.repository.id, self.id, name))

    async def upload_tree(
        self,
        source: str | os.PathLike[str],
        prefix: str = "",
        *,
        progress: bool | Callable[[TransferProgress], None] | None = None,
        jobs: int = JOBS,
        journal: str | os.PathLike[str] | None = None,
    ) -> TransferResult:
        """Upload all files of a directory below a prefix, taken as a folder. Memory stays bounded.

        A journal, in `~/.cache/lakebed` or at `journal`, records the progress: after the process is killed, the same
        call for the same workspace continues where it stopped. `jobs` is the number of parallel uploads. The SDK calls
        `progress` with bytes, files and time left, at most ten times a second. It does not follow links to directories.

        Raises PartialFailureError, after trying all, when files could not be read, and InvalidRequestError.

            with main.workspace("the album") as ws:
                ws.upload_tree("album", "photos/2026")
        """
        with render_progress.following(f"upload to {prefix}", progress) as report:
            return await bulk_upload.upload_tree(self, source, prefix, progress=report, jobs=jobs, journal=journal)

    async def revert(self, *globs: str) -> None:
        """Undo all changes, or the changes of paths that match globs in .gitignore style. The workspace stays open.

        Raises InvalidRequestError for a glob that matches nothing, and OutcomeUnknownError when the answer was lost.

            ws.revert("*.tmp")
        """
        await self._transport.call(workspaces.revert(self.repository.id, self.id, checked_globs(globs)))

    def changes(self, prefix: str = "", delimiter: str = "", limit: int | None = None) -> Diff:
        """List the workspace's changes against its base commit. (`diff` compares with another ref.)

        Example:

            for change in ws.changes():
                print(change.type, change.path)
        """
        _checks.check_text(prefix + delimiter, "prefix or delimiter")
        return Diff(
            self._target,
            lambda after, amount: commits.diff_branch(
                self.repository.id, self.id, prefix=prefix, delimiter=delimiter, after=after, amount=amount
            ),
            f"changes of {self.repository.id}/{self.id}",
            (f"{self.id}@", self.id),
            self.repository.ref,
            live=True,
            limit=limit,
        )

    def _pending(self) -> Diff:
        return self.changes(limit=html.ROWS + 1)

    # committing

    def add(self, *globs: str) -> Selection:
        """Choose a part of the changes by globs in .gitignore style: `ws.add("**/*.parquet").commit("tables only")`.

        The rest stays in the workspace, whose base is then the new commit.

            ws.add("*.csv").commit("only tables")
        """
        return Selection(self, checked_globs(globs))

    async def commit(
        self,
        message: str | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        on_conflict: Literal["rebase", "abort", "overwrite"] | None = None,
        replace_prefix: Sequence[str] = (),
        allow_empty: bool = False,
        date: datetime | int | None = None,
        scan: bool | None = None,
        idempotency_key: str | None = None,
        relocate: bool = False,
        author: str = "",
    ) -> Commit:
        """Commit all changes as one commit on top of the branch's present commit, and close the workspace.

        `replace_prefix` names prefixes: below them only the workspace's content remains, and a concurrent change is a
        conflict. `scan` first registers what other tools wrote. By default it does so when `path()` was called.
        `relocate` also commits entries of which only the address differs, as `share` makes them. `author`: as in
        `Branch.commit`.

        For `retry_for` seconds the SDK repeats a commit that lost a race, and asks again under the same key when an
        answer was lost. When it raises, the staged changes stay.

        Raises ConcurrentCommitError and DirtyBranchError (with the paths), NothingToCommitError, WorkspaceClosedError
        and CommitStateUnknownError.

            ws.put("a.csv", b"1")
            commit = ws.commit("load orders")
        """
        return await self._commit(
            (),
            message,
            metadata,
            on_conflict,
            replace_prefix,
            allow_empty,
            date,
            scan,
            idempotency_key,
            relocate,
            author,
        )

    async def _commit(
        self,
        globs: Sequence[str],
        message: str | None,
        metadata: Mapping[str, str] | None,
        on_conflict: str | None,
        replace_prefix: Sequence[str],
        allow_empty: bool,
        date: datetime | int | None,
        scan: bool | None,
        idempotency_key: str | None,
        relocate: bool = False,
        author: str = "",
    ) -> Commit:
        key = idempotency_key or new_operation_id()
        policy = check_policy(on_conflict or self.options.on_conflict)
        call = workspaces.commit(
            self.repository.id,
            self.id,
            message=_checks.check_text(message or self.options.message, "commit message"),
            metadata=commits_commit.marked(metadata, key),
            policy=policy,
            globs=globs,
            replace_prefix=[_checks.check_path(prefix) for prefix in replace_prefix],
            idempotency_key=_checks.check_text(key, "idempotency key"),
            allow_empty=allow_empty,
            date=None if date is None else _checks.unix_seconds(date),
            relocate=relocate,
            author=_checks.check_text(author, "author"),
        )
        await self._open()
        if (self._given_out if scan is None else scan) and idempotency_key is None:
            _say_refused(await self.scan())
        retry_for = self.options.retry_for
        flow = Advance(
            self._target,
            call,
            key,
            policy=policy,
            retry_for=retry_for,
            on_attempt=self._on_attempt,
            asked_before=idempotency_key is not None,
        )
        commit = await flow.run()
        if globs:
            self._info = self._sink = None  # the workspace continues with another prefix
        else:
            self._done = commit
        return commit

    async def _finish(self) -> None:
        """At the end of a `with` block: commit, unless the block did so or nothing changed."""
        if self._done is not None:
            return
        info = await self.info()
        if not info.is_open:  # the block closed the workspace: it popped or dropped it
            if info.state == "expired":
                raise WorkspaceClosedError(
                    f"workspace {self.id} of {self.repository.id} has expired: its changes are gone; "
                    "pass a longer expires_in, or call renew during long work",
                    repository=self.repository.id,
                    ref=self.id,
                )
            return
        try:
            await self.commit()
        except NothingToCommitError:
            await self.drop()

    def _advise(self, error: BaseException) -> None:
        """Add to the error, once, what happened to the changes."""
        if self._made and not isinstance(error, WorkspaceClosedError) and self._done is None:
            advise(error, self.repository.id, self.id, self.workspace_id)


class Selection:
    """A part of a workspace's changes, to be committed separately."""

    __module__ = "lakebed.aio"

    def __init__(self, workspace: Workspace, globs: Sequence[str]) -> None:
        self.workspace = workspace
        self.globs = tuple(globs)

    def __repr__(self) -> str:
        return f"<Selection {' '.join(self.globs)} of {self.workspace.repository.id}/{self.workspace.id}>"

    async def commit(
        self,
        message: str | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        on_conflict: Literal["rebase", "abort", "overwrite"] | None = None,
        date: datetime | int | None = None,
        scan: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Commit:
        """Commit this part as `Workspace.commit` does. The rest stays, on top of the new commit.

        Raises what `Workspace.commit` raises, and InvalidRequestError for a glob that matches nothing.

            ws.add("*.csv").commit("only tables")
        """
        return await self.workspace._commit(
            self.globs, message, metadata, on_conflict, (), False, date, scan, idempotency_key
        )


def _say_refused(found: ScanResult) -> None:
    if found.refused:
        first = found.refusals[0]
        log.warning(
            "%s files that other tools wrote are not committed, the first is %s: it is %s; put a copy in its place",
            found.refused,
            first.path,
            first.reason,
        )


def _restore(handle: Any, repository: Any, where: tuple[Any, ...], made: tuple[Any, ...]) -> Workspace:
    """Unpickle a handle. It uses the credentials of this process."""
    repository_id, found_id, options, is_made, given_out = made
    home = repository(recall(*where), repository_id)
    again: Workspace = handle(home, found_id, options, is_made=is_made)
    again._given_out = given_out
    return again
