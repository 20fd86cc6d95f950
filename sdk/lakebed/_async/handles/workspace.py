"""The workspace handle: work on a branch that nobody else sees, committed as one.

A workspace is a ref and can be read like one. Bytes go to the store once, then the objects are registered; a commit
moves no data.
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
from lakebed._bulk.batches import JOBS
from lakebed._gateway.operations import commits, workspaces
from lakebed._render import html
from lakebed._values import recovery_hints
from lakebed._values.workspaces import check_policy, checked_globs, seconds_of
from lakebed.errors import NothingToCommitError, WorkspaceClosedError
from lakebed.model import Commit, ScanResult, TransferProgress, TransferResult, WorkspaceInfo

log = logging.getLogger("lakebed.workspace")


class Workspace(Staging):
    """Work on a branch that nobody else sees, committed as one or not at all. `branch.workspace()` makes one.

    It reads as the branch's commit with the workspace's own changes on top, under the ref `main+<id>`. A handle can be
    pickled, without credentials: where it is unpickled, they are taken from the environment or the configuration file.
    A workspace that was committed, popped or dropped, or has expired, raises WorkspaceClosedError.
    """

    __module__ = "lakebed.aio"

    def __reduce__(self) -> tuple[object, ...]:
        settings = self._plain.settings
        where = (settings.endpoint, settings.access_key_id, settings.timeout, settings.retries)
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
        """Create it now rather than at first use. Returns itself. Creating it again changes nothing."""
        await self._open()
        return self

    async def info(self) -> WorkspaceInfo:
        """What the server knows about it: state, base, expiry, prefix. Works on closed ones as well."""
        await self._open()
        info = await self._plain.call(workspaces.get(self.repository.id, self.id))
        return await trusted(self._plain, info, self.options.data_path)

    async def renew(self, expires_in: timedelta | int) -> WorkspaceInfo:
        """Let it live for so long from now on (seconds, at least 60)."""
        call = workspaces.renew(self.repository.id, self.id, seconds_of(expires_in) or 0)
        return await self._transport.call(call)

    async def drop(self) -> None:
        """Close it without committing. Its changes are gone; dropping it twice is no error."""
        await self._transport.call(workspaces.drop(self.repository.id, self.id))

    async def pop(self, branch: str | Ref | None = None) -> None:
        """Make its changes uncommitted changes of its branch, or of another one, on top of what is there; closes it.

        Raises NothingToCommitError, OutcomeUnknownError on a lost answer.
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
        """Upload what is in a directory, below a prefix that is taken as a folder. Memory stays bounded.

        What is done is noted in a journal, in `~/.cache/lakebed` or where `journal` says, until all of it is: when the
        process is killed, the same call for the same workspace goes on where it stopped. `progress` is told of bytes,
        files and time left, ten times in a second at most. Links to directories are not followed.

        Raises PartialFailureError, after trying all, when files could not be read, and InvalidRequestError.
        """
        with render_progress.following(f"upload to {prefix}", progress) as report:
            return await bulk_upload.upload_tree(self, source, prefix, progress=report, jobs=jobs, journal=journal)

    async def revert(self, *globs: str) -> None:
        """Take back all changes, or those that globs in .gitignore style choose; it stays open.

        Raises InvalidRequestError for a glob that matches nothing, OutcomeUnknownError on a lost answer.
        """
        await self._transport.call(workspaces.revert(self.repository.id, self.id, checked_globs(globs)))

    def changes(self, prefix: str = "", delimiter: str = "", limit: int | None = None) -> Diff:
        """What it changes, against the commit that it stands on. (`diff` compares with another ref.)"""
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

        The rest stays in the workspace, which goes on from that commit.
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
    ) -> Commit:
        """Commit all changes as one commit on top of whatever the branch stands at, and close the workspace.

        `replace_prefix` makes the workspace's content all that is left under some prefixes, and a concurrent change
        under them a conflict. `scan` looks for what other tools wrote first: by default when `path()` was asked for.
        `relocate` takes over entries that differ in their address only, as `share` makes them.

        Lost races are tried again, and a lost answer is asked for again under the same key, for `retry_for` seconds.
        Whatever is raised, what was staged stays. Raises ConcurrentCommitError and DirtyBranchError (with the paths),
        NothingToCommitError, WorkspaceClosedError and CommitStateUnknownError.
        """
        return await self._commit(
            (), message, metadata, on_conflict, replace_prefix, allow_empty, date, scan, idempotency_key, relocate
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
            self._info = self._sink = None  # it goes on under another prefix
        else:
            self._done = commit
        return commit

    async def _finish(self) -> None:
        """At the end of a `with` block: commit, unless that was done or there is nothing to commit."""
        if self._done is not None:
            return
        info = await self.info()
        if not info.is_open:  # the block closed it: popped or dropped
            if info.state == "expired":
                raise WorkspaceClosedError(
                    f"workspace {self.id} of {self.repository.id} has expired: its changes are gone; "
                    "give expires_in, or renew it while the work goes on",
                    repository=self.repository.id,
                    ref=self.id,
                )
            return
        try:
            await self.commit()
        except NothingToCommitError:
            await self.drop()

    def _advise(self, error: BaseException) -> None:
        """Say what became of the work, once."""
        if self._made and not isinstance(error, WorkspaceClosedError) and self._done is None:
            recovery_hints.advise(error, self.repository.id, self.id, self.workspace_id)


class Selection:
    """A part of a workspace's changes, to be committed alone."""

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
        """Commit this part as `Workspace.commit` does; the rest stays, on top of the new commit.

        Raises what that raises, and InvalidRequestError for a glob that matches nothing.
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
    """A handle in another process: credentials are this process's own."""
    repository_id, found_id, options, is_made, given_out = made
    home = repository(recall(*where), repository_id)
    again: Workspace = handle(home, found_id, options, is_made=is_made)
    again._given_out = given_out
    return again
