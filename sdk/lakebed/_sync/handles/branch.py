# Generated from sdk/lakebed/_async/handles/branch.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The branch handle: a ref that can be written to and committed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, Self

from lakebed import _checks
from lakebed._bulk.progress import Tally
from lakebed._compat.sync import Data
from lakebed._gateway.operations import cherry_picks, commits, physical_addresses, refs, workspaces
from lakebed._gateway.operations import metadata as metadata_calls
from lakebed._render import html
from lakebed._sync.bulk.ingest import Ingest
from lakebed._sync.commits import commit as commits_commit
from lakebed._sync.commits import publish as commits_publish
from lakebed._sync.commits import recover
from lakebed._sync.commits import revert as commits_revert
from lakebed._sync.handles.background import Background
from lakebed._sync.handles.ref import Ref, id_of
from lakebed._sync.handles.workspace import Workspace
from lakebed._sync.objects import batch, upload
from lakebed._sync.tables.diff import Diff
from lakebed._sync.tables.upload import LIFETIME, IntoBranch
from lakebed._values.ingest import Source
from lakebed._values.workspaces import RETRY_FOR, WorkspaceOptions, new_id, seconds_of
from lakebed.errors import AlreadyExistsError, InvalidRequestError
from lakebed.model import Change, Commit, CommitAttempt, IngestReport, ObjectInfo, RefInfo, StagedAddress


class Branch(Background):
    """A handle to one branch. Writes are uncommitted until `commit`; `reset` drops them.

    Any method raises NotFoundError when the repository or the branch does not exist, and PermissionDeniedError when
    the branch is protected or the repository read-only.
    """

    __module__ = "lakebed"

    @property
    def name(self) -> str:
        """The name of the branch."""
        return self.id

    # its life

    def create(self, source: str | Ref = "main", exist_ok: bool = False, hidden: bool = False) -> Self:
        """Create the branch at a ref; copies nothing. Returns itself. With `exist_ok`, an existing branch is accepted.

        Raises AlreadyExistsError and NotFoundError (no such source).
        """
        origin = id_of(source)
        call = refs.create_branch(self.repository.id, self.id, origin, hidden=hidden, repeatable=exist_ok)
        try:
            self._transport.call(call)
        except AlreadyExistsError as error:
            if not exist_ok or error.kind == "name_taken":
                raise
            self.info()  # older servers do not say what the name is taken by
        return self

    def drop(self, force: bool = False) -> None:
        """Delete the branch with its uncommitted changes; commits stay. The default branch is refused."""
        self._transport.call(refs.delete_branch(self.repository.id, self.id, force=force))

    def info(self) -> RefInfo:
        """The commit that the branch stands at."""
        return self._transport.call(refs.get_branch(self.repository.id, self.id))

    # writing

    def put(
        self,
        path: str,
        data: Data,
        *,
        metadata: Mapping[str, str] | None = None,
        content_type: str | None = None,
        if_absent: bool = False,
        if_match: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> ObjectInfo:
        """Write an object from bytes, a pathlib.Path, a binary file or an iterable of bytes. Memory stays bounded.

        `if_absent` refuses to replace an object; `if_match` replaces only one with this checksum. An upload that
        breaks off leaves nothing, and is repeated when the data can be read again.

        Raises ObjectExistsError, PreconditionFailedError, CorruptTransferError and InvalidRequestError; with a
        condition also OutcomeUnknownError, when the answer was lost.
        """
        return upload.upload(
            self._target,
            path,
            data,
            metadata=metadata,
            content_type=content_type,
            if_absent=if_absent,
            if_match=if_match,
            progress=progress,
        )

    def put_many(
        self,
        items: Mapping[str, Data] | Iterable[tuple[str, Data]],
        *,
        delete: Iterable[str] = (),
        progress: Callable[[int], None] | None = None,
    ) -> list[ObjectInfo]:
        """Write several objects, and delete others, all or nothing: readers see everything or nothing of it.

        At most 10,000 paths. Raises CorruptTransferError and InvalidRequestError.
        """
        pairs = items.items() if isinstance(items, Mapping) else items
        return self._write_many([(path, content, None) for path, content in pairs], delete, progress)

    def staged_address(self, path: str, sign: bool = False) -> StagedAddress:
        """An address in the repository's namespace at which another tool writes an object, for `link` to show it.

        It is to be linked within 24 hours, at this path of this branch. `sign` gives a signed one, to be written by a
        plain PUT. Raises InvalidRequestError where the store does not sign.
        """
        call = physical_addresses.address(self.repository.id, self.id, _checks.check_path(path), sign=sign)
        return self._transport.call(call)

    def publish(
        self,
        items: Mapping[str, Data] | Iterable[tuple[str, Data]],
        message: str,
        *,
        delete: Iterable[str] = (),
        metadata: Mapping[str, str] | None = None,
        date: datetime | int | None = None,
        allow_empty: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Commit:
        """Write several objects, and delete others, as one commit of their own, in one request.

        What is uncommitted on the branch stays so. Of racing publishers each gets a commit; the last one of a path
        stands. At most 10,000 paths: more go through a workspace. A lost answer is settled by a key that the server
        remembers: the commit is made once.

        Raises DirtyBranchError (with the paths that are uncommitted on the branch), NothingToCommitError,
        CorruptTransferError, InvalidRequestError and CommitStateUnknownError.
        """
        pairs = items.items() if isinstance(items, Mapping) else items
        return commits_publish.publish(
            self._target,
            [(path, content, None) for path, content in pairs],
            delete,
            message=message,
            metadata=metadata,
            date=None if date is None else _checks.unix_seconds(date),
            allow_empty=allow_empty,
            progress=progress,
        )

    def _write_many(
        self, items: Iterable[tuple[str, Any, str | None]], deletions: Iterable[str], progress: Any = None
    ) -> list[ObjectInfo]:
        return batch.upload_many(self._target, items, deletions, progress)

    def _shipment(self, message: str | None, tally: Tally) -> IntoBranch:
        checked = None if message is None else _checks.check_text(message, "message")
        made = self.workspace(checked or "write_parquet", expires_in=LIFETIME)
        return IntoBranch(self, made.create, checked, tally)

    # committing

    def uncommitted(self, prefix: str = "", delimiter: str = "", limit: int | None = None) -> Diff:
        """What has changed since the last commit."""
        _checks.check_text(prefix + delimiter, "prefix or delimiter")
        return Diff(
            self._target,
            lambda after, amount: commits.diff_branch(
                self.repository.id, self.id, prefix=prefix, delimiter=delimiter, after=after, amount=amount
            ),
            f"uncommitted changes of {self.repository.id}/{self.id}",
            (f"{self.id}@", self.id),
            self.repository.ref,
            live=True,
            limit=limit,
        )

    def _pending(self) -> Diff:
        return self.uncommitted(limit=html.ROWS + 1)

    def reset(self, path: str | None = None, *, prefix: str | None = None) -> None:
        """Drop uncommitted changes: of one object, of all whose path begins with `prefix`, or all of them.

        Raises InvalidRequestError for both at once or an empty prefix, OutcomeUnknownError on a lost answer.
        """
        if prefix is not None and (path is not None or not prefix):
            raise InvalidRequestError("reset takes a path or a prefix that is not empty; without either it resets all")
        checked = None if path is None else _checks.check_path(path)
        self._transport.call(refs.reset_branch(self.repository.id, self.id, checked, prefix))

    def commit(
        self,
        message: str,
        *,
        metadata: Mapping[str, str] | None = None,
        allow_empty: bool = False,
        date: datetime | int | None = None,
        key: str | None = None,
    ) -> Commit:
        """Commit everything uncommitted on the branch, whoever wrote it.

        Lost races are tried again. When the answer is lost, or a proxy does not wait for it, the server goes on with it
        as a task: it is committed once. With a `key`, any text of your own, the same call again, even by another
        process a day later, gives the same commit. ConflictError: the key was another call's.

        Raises NothingToCommitError (another commit may have taken the changes along) and CommitStateUnknownError.
        """
        asked = commits_commit.commit_asked(
            message,
            metadata=metadata,
            allow_empty=allow_empty,
            date=None if date is None else _checks.unix_seconds(date),
            key=None if key is None else _checks.check_text(key, "key"),
        )
        return commits_commit.commit(self._target, asked)

    def revert(
        self,
        ref: str | Ref | Commit,
        message: str = "",
        *,
        parent: int | None = None,
        metadata: Mapping[str, str] | None = None,
        allow_empty: bool = False,
        key: str | None = None,
    ) -> Commit:
        """Take back what a commit changed, as a new commit. Of a merge, say to which `parent` (from 1).

        When the answer is lost it is sent again, with a key that lands once. With a `key` of your own the same call
        again, within seven days, gives the same commit. ConflictError: the key was another call's.

        Raises MergeConflictError (a path was changed again since; the branch is as it was), DirtyBranchError (it has
        uncommitted changes), NothingToCommitError (nothing of it is left) and CommitStateUnknownError.
        """
        return commits_revert.revert(
            self._target,
            id_of(ref),
            parent=parent,
            message=message,
            metadata=metadata,
            allow_empty=allow_empty,
            key=None if key is None else _checks.check_text(key, "key"),
        )

    def cherry_pick(
        self,
        ref: str | Ref | Commit,
        message: str = "",
        *,
        parent: int | None = None,
        metadata: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> Commit:
        """Apply what a commit changed, as a new commit with its message and metadata. Of a merge, say which `parent`.

        It is sent again, and `key` counts, as with `revert`; the same call is one of the same commit.

        Raises MergeConflictError, DirtyBranchError, NothingToCommitError (it changed nothing), CommitStateUnknownError.
        """
        return commits_revert.cherry_pick(
            self._target,
            id_of(ref),
            parent=parent,
            message=message,
            metadata=metadata,
            key=None if key is None else _checks.check_text(key, "key"),
        )

    def hard_reset(self, ref: str | Ref | Commit, force: bool = False) -> None:
        """Point the branch at another commit. Those that it leads to no longer can still be read by their ids.

        Raises DirtyBranchError (it has uncommitted changes), NotFoundError, OutcomeUnknownError on a lost answer.
        `force` acts on a read-only repository as well.
        """
        self._transport.call(cherry_picks.hard_reset(self.repository.id, self.id, id_of(ref), force=force))

    def write_symlinks(self, location: str = "") -> str:
        """Write, for each directory, a file that lists where the data of its objects lie, for Hive and its like.

        Gives the address that they lie below. Only `location` and what is below it, when that is given.
        """
        checked = _checks.check_text(location, "location")
        return self._transport.call(metadata_calls.symlinks(self.repository.id, self.id, checked))

    def find_operation(self, operation_id: str, limit: int = recover.SEARCHED) -> Commit | None:
        """The commit that an operation made, or None: settles a CommitStateUnknownError later.

        Looks at the last `limit` commits by first parents.
        """
        return recover.find(self._target, operation_id, limit)

    # workspaces

    def workspace(
        self,
        message: str | None = None,
        on_conflict: Literal["rebase", "abort", "overwrite"] = "rebase",
        expires_in: timedelta | int | None = None,
        claims: Sequence[str] = (),
        *,
        data_path: Literal["direct", "presigned", "proxied"] | None = None,
        retry_for: float = RETRY_FOR,
        on_attempt: Callable[[CommitAttempt], None] | None = None,
        ref: str | Ref | None = None,
    ) -> Workspace:
        """Prepare changes apart from everybody else, on the branch's present commit, and commit them as one.

        Used with `with`, it commits at the end. After an exception it stays open with its changes, and the error says
        how to go on with it or drop it. It is created when it is entered or first used, and closed by the server after
        `expires_in` (seconds; a week) unless it is renewed. What is uncommitted on the branch is no part of it.

        `on_conflict`: what to do when the branch has moved. `rebase` goes on unless the same paths changed, `abort`
        refuses, `overwrite` lets the workspace win. `claims` are prefixes below which any concurrent change is a
        conflict. `data_path` says how bytes travel, `retry_for` for how many seconds a commit is tried again;
        `on_attempt` is told of each attempt that failed. `ref` is another one to start from.
        """
        start = "" if ref is None else id_of(ref)
        options = WorkspaceOptions(
            message or "", on_conflict, seconds_of(expires_in), tuple(claims), data_path, retry_for, start
        )
        return Workspace(self.repository, f"{self.id}+{new_id()}", options, on_attempt=on_attempt)

    def stash(self, message: str | None = None, expires_in: timedelta | int | None = None) -> Workspace:
        """Move all uncommitted changes of the branch into a new workspace; the branch shows its last commit then.

        `workspace.pop()` brings them back. Raises NothingToCommitError, OutcomeUnknownError on a lost answer.
        """
        call = workspaces.stash(
            self.repository.id,
            self.id,
            message=_checks.check_text(message or "", "message"),
            expires_in=seconds_of(expires_in),
        )
        info = self._transport.call(call)
        return Workspace(self.repository, info.name, WorkspaceOptions(info.message), info=info)

    def ingest(
        self,
        source: str,
        prefix: str = "",
        message: str | None = None,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        settle: int = 0,
        removals: bool = True,
        on_conflict: Literal["rebase", "abort", "overwrite"] = "rebase",
        metadata: Mapping[str, str] | None = None,
        dry_run: bool = False,
        allow_empty_source: bool = False,
        progress: Callable[[IngestReport], None] | None = None,
        on_change: Callable[[Change], None] | None = None,
    ) -> IngestReport:
        """Make the folder `prefix` show the objects of a folder elsewhere (`s3://bucket/folder/`), without a copy.

        One commit of what was added, changed and removed since; none when nothing was. The server must allow the source
        (`ingest.allow`). `include` and `exclude` are globs as in a .gitignore file; what they leave out is left alone.
        Objects written less than `settle` seconds ago wait. Without `removals` nothing is removed, and an
        empty source only with `allow_empty_source`. `on_conflict` as of a workspace: a commit of somebody else below
        `prefix` meanwhile is a conflict. `dry_run` changes nothing, and tells `on_change` each difference.

        Raises ConcurrentCommitError, DirtyBranchError (uncommitted changes below `prefix`), PermissionDeniedError.
        """
        wanted = Source(source, prefix, tuple(include), tuple(exclude), settle, removals)
        job = Ingest(self._target, wanted, progress)
        if dry_run:
            return job.diff(on_change)
        text = _checks.check_text(f"Ingest {source}" if message is None else message, "commit message")
        return job.commit(text, metadata, on_conflict, allow_empty_source=allow_empty_source)
