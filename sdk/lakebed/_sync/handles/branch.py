# Generated from sdk/lakebed/_async/handles/branch.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The branch handle: a ref that users write to and commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, Self

from lakebed import _checks
from lakebed._bulk.progress import Tally
from lakebed._compat.sync import Data
from lakebed._gateway.operations import cherry_picks, commits, physical_addresses, refs, system, workspaces
from lakebed._gateway.operations import metadata as metadata_calls
from lakebed._render import html
from lakebed._sync import bulk, handles, objects, tables
from lakebed._sync import commits as flows
from lakebed._sync.handles.background import Background
from lakebed._sync.handles.ref import Ref, id_of
from lakebed._values.ingest import Source
from lakebed._values.workspaces import (
    RETRY_FOR,
    SEARCHED,
    WorkspaceOptions,
    is_stash,
    new_id,
    seconds_of,
    stash_message,
)
from lakebed.errors import AlreadyExistsError, InvalidRequestError, NotFoundError
from lakebed.model import (
    Change,
    Commit,
    CommitAttempt,
    IngestReport,
    ObjectInfo,
    RefInfo,
    StagedAddress,
    Undone,
    WorkspaceInfo,
)

if TYPE_CHECKING:
    from lakebed._sync.handles.workspace import Workspace
    from lakebed._sync.tables.diff import Diff
    from lakebed._sync.tables.upload import IntoBranch


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

    def create(self, source: str | Ref | None = None, exist_ok: bool = False, hidden: bool = False) -> Self:
        """Create the branch at a ref, without copying data: at the default branch if none is given. Returns itself.

        With `exist_ok`, the call accepts a branch that exists already. `hidden` keeps the branch out of listings.

            dev = repo.branch("dev").create("main")

        Raises AlreadyExistsError, and NotFoundError when there is no such source.
        """
        origin = (self.repository.info()).default_branch if source is None else id_of(source)
        call = refs.create_branch(self.repository.id, self.id, origin, hidden=hidden, repeatable=exist_ok)
        try:
            self._transport.call(call)
        except AlreadyExistsError as error:
            if not exist_ok or error.kind == "name_taken":
                raise
            self.info()  # older servers do not say what uses the name
        return self

    def drop(self, force: bool = False) -> None:
        """Delete the branch and its uncommitted changes. Its commits stay. The server refuses to delete the default
        branch.

            repo.branch("dev").drop()
        """
        self._transport.call(refs.delete_branch(self.repository.id, self.id, force=force))

    def info(self) -> RefInfo:
        """Return the name of the branch and the commit that it points at.

        Example:

            print(main.info().commit_id)
        """
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
        """Write an object from bytes, a pathlib.Path, a binary file or an iterable of bytes.

        The data is streamed, so memory stays bounded. `if_absent` refuses to replace an object. `if_match` replaces
        only an object with this checksum. An upload that breaks off stores nothing. The SDK repeats it when it can read
        the data again.

            main.put("raw/a.csv", b"id,name")
            main.put("raw/b.csv", Path("b.csv"))

        Raises ObjectExistsError, PreconditionFailedError, CorruptTransferError and InvalidRequestError. A write with a
        condition also raises OutcomeUnknownError when the answer was lost. Warns (PathWarning) of a path that is
        probably a mistake: `/a.csv`, `raw\\a.csv`.
        """
        return objects.upload.upload(
            self._target,
            _checks.check_new_path(path),
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
        """Write several objects and delete others, all or nothing: a reader sees all of the changes or none of them.

        At most 10,000 paths. Raises CorruptTransferError and InvalidRequestError.

            main.put_many({"a.csv": b"1", "b.csv": b"2"}, delete=["old.csv"])
        """
        pairs = items.items() if isinstance(items, Mapping) else items
        return self._write_many(
            [(_checks.check_new_path(path), content, None) for path, content in pairs], delete, progress
        )

    def staged_address(self, path: str, sign: bool = False) -> StagedAddress:
        """Return an address in the repository's namespace where another tool writes an object. `link` then shows it.

        Call `link` within 24 hours, with this path and this branch. With `sign` the answer has a signed URL, which
        takes one plain PUT. Raises InvalidRequestError when the store cannot sign.
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
        """Write several objects and delete others as one commit, in one request.

        The commit leaves other uncommitted changes of the branch uncommitted. When several publishers race, each of
        them gets a commit. If they write the same path, the last commit wins. At most 10,000 paths: use a workspace for
        more. When the answer is lost, the SDK asks again with a key that the server remembers, so there is one commit.

        Raises DirtyBranchError (with the paths that are uncommitted on the branch), NothingToCommitError,
        CorruptTransferError, InvalidRequestError and CommitStateUnknownError.

            commit = main.publish({"state.json": b"{}"}, "batch 7")
        """
        pairs = items.items() if isinstance(items, Mapping) else items
        return flows.publish.publish(
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
        return objects.batch.upload_many(self._target, items, deletions, progress)

    def _table_upload(self, message: str | None, tally: Tally) -> IntoBranch:
        checked = None if message is None else _checks.check_text(message, "message")
        made = self.workspace(checked or "write_parquet", expires_in=tables.upload.LIFETIME)
        return tables.upload.IntoBranch(self, made.create, checked, tally)

    # committing

    def uncommitted(self, prefix: str = "", delimiter: str = "", limit: int | None = None) -> Diff:
        """Return the changes of the branch since its last commit.

        Example:

            for change in main.uncommitted():
                print(change.type, change.path)
        """
        _checks.check_text(prefix + delimiter, "prefix or delimiter")
        return tables.diff.Diff(
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
        """Drop uncommitted changes: of one object, of all paths that begin with `prefix`, or of the whole branch.

        Raises InvalidRequestError when both `path` and `prefix` are given or the prefix is empty, and
        OutcomeUnknownError when the answer was lost.

            main.reset("raw/a.csv")
            main.reset()
        """
        if prefix is not None and (path is not None or not prefix):
            raise InvalidRequestError(
                "pass a path or prefix that is not empty; without both, reset drops all uncommitted changes"
            )
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
        author: str = "",
    ) -> Commit:
        """Commit all uncommitted changes of the branch, also those of other users.

        With `author`, the id of another user, that user is the committer: for a service that works for people. Needs
        the permission `fs:CommitAs`. The commit's metadata name the caller as `lakebed.committed_by`.

        The SDK repeats a commit that lost a race. When the answer is lost, or a proxy does not wait for it, the server
        continues the commit as a task, so there is one commit. `key` is any text: a second call with the same key, even
        by another process a day later, returns the same commit.

            main.put("raw/a.csv", b"id,name")
            main.commit("Add the first file")

        Raises NothingToCommitError (another commit may already contain the changes), ConflictError when the key was
        used for another call, and CommitStateUnknownError.
        """
        asked = flows.commit.commit_asked(
            message,
            metadata=metadata,
            allow_empty=allow_empty,
            date=None if date is None else _checks.unix_seconds(date),
            key=None if key is None else _checks.check_text(key, "key"),
            author=author,
        )
        return flows.commit.commit(self._target, asked)

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
        """Undo the changes of one commit, as a new commit.

        `parent` selects the parent to compare with when the commit is a merge: 1 is the first. When the answer is lost,
        the SDK sends the request again with a key, so the server reverts once. With a `key` of your own, the same call
        within seven days returns the same commit.

        Raises MergeConflictError (a path was changed again since then, and the branch is as it was), DirtyBranchError
        (the branch has uncommitted changes), NothingToCommitError (nothing is left to undo), ConflictError when the key
        was used for another call, and CommitStateUnknownError.

            main.revert("main~2")
        """
        return flows.revert.revert(
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
        """Apply the changes of one commit to this branch, as a new commit with its message and metadata.

        `parent` selects the parent to compare with when the commit is a merge: 1 is the first. The SDK repeats the
        request as `revert` does, and `key` means the same: it belongs to a call with the same commit.

            main.cherry_pick("dev~2")

        Raises MergeConflictError, DirtyBranchError, NothingToCommitError (the commit changed nothing) and
        CommitStateUnknownError.
        """
        return flows.revert.cherry_pick(
            self._target,
            id_of(ref),
            parent=parent,
            message=message,
            metadata=metadata,
            key=None if key is None else _checks.check_text(key, "key"),
        )

    def hard_reset(self, ref: str | Ref | Commit, force: bool = False) -> None:
        """Point the branch at another commit. Commits that the branch no longer reaches stay readable by their ids.

        `force` also acts on a read-only repository. Raises DirtyBranchError (the branch has uncommitted changes),
        NotFoundError, and OutcomeUnknownError when the answer was lost.

            dev.hard_reset("v1")
        """
        self._transport.call(cherry_picks.hard_reset(self.repository.id, self.id, id_of(ref), force=force))

    def undo(self, message: str = "", *, how: Literal["auto", "revert", "reset"] = "auto") -> Undone:
        """Undo the last commit of the branch. The result says how.

        `revert` adds a commit that undoes it, so that other users lose nothing. A merge goes back to its first parent.
        `reset` points the branch at the first parent of its last commit, as if it had not happened: only when no other
        user commits at the same time. `auto` reverts, and resets only a commit that changed nothing.

        Nothing is lost in either case: the commit stays readable by its id.

        Raises InvalidRequestError for the first commit of a branch, DirtyBranchError (the branch has uncommitted
        changes) and PermissionDeniedError (a protected branch accepts a revert, and no reset).

            main.undo()
        """
        return flows.revert.undo(self._target, message, how)

    def write_symlinks(self, location: str = "") -> str:
        """Write, for each directory, a file that lists the addresses of its objects, for Hive and similar tools.

        `location` limits this to one directory and everything below it. Returns the address of the folder that holds
        the files.
        """
        checked = _checks.check_text(location, "location")
        return self._transport.call(metadata_calls.symlinks(self.repository.id, self.id, checked))

    def find_operation(self, operation_id: str, limit: int = SEARCHED) -> Commit | None:
        """Return the commit that an operation made, or None. Use it after a CommitStateUnknownError.

        Searches the last `limit` commits by first parents.

            landed = main.find_operation(error.operation_id)
        """
        return flows.recover.find(self._target, operation_id, limit)

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
        """Prepare changes in isolation, on the present commit of the branch, and commit them as one.

        In a `with` block it commits at the end. After an exception it stays open with its changes, and the error says
        how to continue with it or drop it. The server creates it when the block is entered or the workspace is first
        used. The server closes it after `expires_in` (seconds, default one week) unless it is renewed. It does not
        contain the uncommitted changes of the branch.

        `on_conflict` decides what happens when the branch has moved: `rebase` continues unless the same paths changed,
        `abort` refuses, and with `overwrite` the workspace wins. `claims` are prefixes below which any concurrent
        change is a conflict. `data_path` is the way that object bytes take: `direct`, `presigned` or `proxied`.
        `retry_for` is the time in seconds for which the SDK repeats a commit. The SDK calls `on_attempt` for each
        attempt that failed. `ref` starts from another ref.

            with main.workspace("Load June") as ws:
                ws.put("june/a.csv", data)
        """
        start = "" if ref is None else id_of(ref)
        options = WorkspaceOptions(
            message or "", on_conflict, seconds_of(expires_in), tuple(claims), data_path, retry_for, start
        )
        return handles.workspace.Workspace(self.repository, f"{self.id}+{new_id()}", options, on_attempt=on_attempt)

    def stash(self, message: str | None = None, expires_in: timedelta | int | None = None) -> Workspace:
        """Move all uncommitted changes of the branch into a new workspace. The branch then equals its head.

        `pop()` brings the changes of the newest one back, and `workspace.pop()` those of this one. `expires_in` in
        seconds, default one week. The message of the workspace begins with "Stash of", the branch and the time.

        Raises NothingToCommitError, and OutcomeUnknownError when the answer was lost.

            ws = main.stash("half done")
            ws.pop()
        """
        text = stash_message(self.id, _checks.check_text(message or "", "message"), datetime.now(UTC))
        call = workspaces.stash(
            self.repository.id,
            self.id,
            message=text,
            expires_in=seconds_of(expires_in),
        )
        info = self._transport.call(call)
        return handles.workspace.Workspace(self.repository, info.name, WorkspaceOptions(info.message), info=info)

    def stashes(self) -> list[WorkspaceInfo]:
        """Return the caller's open stashes of the branch, the newest first.

        Example:

            for stash in main.stashes():
                print(stash.id, stash.message)
        """
        mine = (self._transport.call(system.user())).id
        found = self.repository.workspaces("open", self.id).all()
        own = [info for info in found if info.creator == mine and is_stash(info.message)]
        return sorted(own, key=lambda info: (info.created, info.message), reverse=True)

    def pop(self) -> WorkspaceInfo:
        """Bring back the changes of the caller's newest stash of the branch, as uncommitted changes. Returns the stash.

        They replace uncommitted changes of the same paths.

        Raises NotFoundError when there is no stash, and OutcomeUnknownError when the answer was lost.

            main.pop()
        """
        found = self.stashes()
        if not found:
            raise NotFoundError(
                f"there is no stash of branch {self.id!r} of {self.repository.id!r} that you made; "
                "repo.workspaces() lists all open workspaces",
                kind="workspace_not_found",
                operation="popWorkspace",
                repository=self.repository.id,
                ref=self.id,
            )
        self._transport.call(workspaces.pop(self.repository.id, found[0].id, self.id))
        return found[0]

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
        """Make the folder `prefix` equal to another folder (`s3://bucket/folder/`), without copying objects.

        Makes one commit of what was added, changed and removed since the last time, and no commit when nothing changed.
        The server must allow the source (`ingest.allow`).

        `include` and `exclude` are globs as in a .gitignore file. Paths that they leave out stay as they are. `settle`
        skips objects that were written less than this number of seconds ago. `removals=False` removes nothing. An empty
        source is an error unless `allow_empty_source`, also with `dry_run`. `on_conflict` is as in `workspace`: a
        commit of another client below `prefix` during the ingest is a conflict. `dry_run` changes nothing, and calls
        `on_change` for each difference.

        Raises ConcurrentCommitError, DirtyBranchError (uncommitted changes below `prefix`) and PermissionDeniedError.

            report = main.ingest("s3://events/kafka/", "events", "new events")
        """
        wanted = Source(source, prefix, tuple(include), tuple(exclude), settle, removals)
        job = bulk.ingest.Ingest(self._target, wanted, progress)
        if dry_run:
            return job.diff(on_change, allow_empty_source=allow_empty_source)
        text = _checks.check_text(f"Ingest {source}" if message is None else message, "commit message")
        return job.commit(text, metadata, on_conflict, allow_empty_source=allow_empty_source)
