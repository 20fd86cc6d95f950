# Generated from sdk/lakebed/_async/workspace.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The workspace handle: work on a branch that nobody else sees, committed as one.

Over the data paths and the commit flow, beside the branch handle. A workspace is a ref and can be read like one. Bytes
go to the store once, then the objects are registered; a commit moves no data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self
from uuid import uuid4

from lakebed import _checks, _notes
from lakebed._bulk.directory import is_plain
from lakebed._compat.sync import Data
from lakebed._gateway import commits, workspaces
from lakebed._sync import datapaths, merging, transfer
from lakebed._sync.advance import RETRY_FOR, Advance
from lakebed._sync.listing import Listing
from lakebed._sync.ref import Ref
from lakebed._sync.settle import new_operation_id
from lakebed._sync.transport import Transport, recall
from lakebed._sync.writable import Writable
from lakebed.errors import (
    InvalidRequestError,
    NothingToCommitError,
    UnsupportedOperationError,
    WorkspaceClosedError,
)
from lakebed.model import Change, Commit, CommitAttempt, ObjectInfo, ScanResult, WorkspaceInfo

if TYPE_CHECKING:
    from lakebed._sync.repository import Repository

POLICIES = ("rebase", "abort", "overwrite")

_GROUP = 5000
"""Objects in one registration; the server takes 10,000."""

_WINDOW = 1000
"""Objects of `put_many` that are written and kept in mind together."""


def new_id() -> str:
    """An id for a workspace that nobody else has."""
    return uuid4().hex


def seconds_of(lifetime: timedelta | int | None) -> int | None:
    """A lifetime in seconds. Raises InvalidRequestError for what is none."""
    if lifetime is None:
        return None
    seconds = int(lifetime.total_seconds()) if isinstance(lifetime, timedelta) else lifetime
    if isinstance(seconds, bool) or not isinstance(seconds, int) or seconds <= 0:
        raise InvalidRequestError(f"a lifetime is a timedelta or a whole number of seconds above 0, not {lifetime!r}")
    return seconds


@dataclass(frozen=True, slots=True)
class WorkspaceOptions:
    """How a workspace is made and committed: what its handle carries into another process."""

    message: str = ""
    on_conflict: str = "rebase"
    expires_in: int | None = None
    claims: tuple[str, ...] = ()
    data_path: str | None = None
    retry_for: float = RETRY_FOR
    base: str = ""

    def check(self) -> None:
        """Raises InvalidRequestError."""
        _checks.check_text(self.message, "message")
        check_policy(self.on_conflict)
        for claim in self.claims:
            _checks.check_path(claim)


def check_policy(policy: str) -> str:
    """Raises InvalidRequestError."""
    if policy not in POLICIES:
        raise InvalidRequestError(f"on_conflict must be 'rebase', 'abort' or 'overwrite', not {policy!r}")
    return policy


class Opening(Transport):
    """The transport of a workspace that is not there yet: whatever is asked first creates it."""

    def __init__(self, inner: Transport, opened: Callable[[], Any]) -> None:
        super().__init__(inner.settings)
        self.policy = inner.policy
        self._inner = inner
        self._opened = opened

    def call(self, call: Any, body: Any = None) -> Any:
        """As the transport does."""
        self._opened()
        return self._inner.call(call, body)

    def once(self, call: Any) -> Any:
        """As the transport does."""
        self._opened()
        return self._inner.once(call)

    @contextmanager
    def stream(self, call: Any) -> Any:
        """As the transport does."""
        self._opened()
        with self._inner.stream(call) as opened:
            yield opened


class Workspace(Writable):
    """Work on a branch that nobody else sees, committed as one or not at all. `branch.workspace()` makes one.

    It reads as the branch's commit with the workspace's own changes on top, under the ref `main+<id>`. A handle can be
    pickled, without credentials: where it is unpickled, they are taken from the environment or the configuration file.
    A workspace that was committed, popped or dropped, or has expired, raises WorkspaceClosedError.
    """

    __module__ = "lakebed"

    def __init__(
        self,
        repository: Repository,
        id: str,
        options: WorkspaceOptions,
        *,
        info: WorkspaceInfo | None = None,
        on_attempt: Callable[[CommitAttempt], None] | None = None,
        is_made: bool = False,
    ) -> None:
        super().__init__(repository, id)
        options.check()
        self.branch, _, self.workspace_id = id.rpartition("+")
        self.options = options
        self._on_attempt = on_attempt
        self._info = info
        self._made = is_made or info is not None
        self._plain: Transport = repository._transport
        if not self._made:
            self._transport = Opening(self._plain, self._open)
        self._outside = self._plain.outside
        self._sink: datapaths.Sink | None = None
        self._way: str | None = None
        self._given_out = False  # whether other tools were told where to write
        self._done: Commit | None = None

    def __reduce__(self) -> tuple[object, ...]:
        settings = self._plain.settings
        where = (settings.endpoint, settings.access_key_id, settings.timeout, settings.retries)
        made = (self.repository.id, self.id, self.options, self._made, self._given_out)
        return _restore, (type(self), type(self.repository), type(self.repository._lake), where, made)

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._advise(error)
            return
        try:
            self._finish()
        except BaseException as failure:
            self._advise(failure)
            raise

    # its life

    def create(self) -> Self:
        """Create it now rather than at first use. Returns itself. Creating it again changes nothing."""
        self._open()
        return self

    def info(self) -> WorkspaceInfo:
        """What the server knows about it: state, base, expiry, prefix. Works on closed ones as well."""
        self._open()
        return self._plain.call(workspaces.get(self.repository.id, self.id))

    def renew(self, expires_in: timedelta | int) -> WorkspaceInfo:
        """Let it live for so long from now on (seconds, at least 60)."""
        call = workspaces.renew(self.repository.id, self.id, seconds_of(expires_in) or 0)
        return self._transport.call(call)

    def drop(self) -> None:
        """Close it without committing. Its changes are gone; dropping it twice is no error."""
        self._transport.call(workspaces.drop(self.repository.id, self.id))

    def pop(self, branch: str | Ref | None = None) -> None:
        """Make its changes uncommitted changes of its branch, or of another one, on top of what is there; closes it.

        Raises NothingToCommitError, OutcomeUnknownError on a lost answer.
        """
        name = "" if branch is None else _checks.check_name(branch.id if isinstance(branch, Ref) else branch, "branch")
        self._transport.call(workspaces.pop(self.repository.id, self.id, name))

    # writing

    def path(self, path: str = "") -> str:
        """Where another tool can write this path: a file path on a shared directory, or `s3://bucket/...`.

        `commit` then looks for what was written; `scan` does so earlier. After a commit of a part, ask again.

        Raises UnsupportedOperationError when the store cannot be reached from here but through the server.
        """
        _checks.check_text(path, "path")
        info = self._place()
        if datapaths.is_cloud(info):
            self._given_out = True
            return info.storage_prefix + path
        if not datapaths.sees(info):
            raise UnsupportedOperationError(
                f"{info.storage_prefix} cannot be written to from this machine: use put, open or write_parquet",
                operation="path",
                repository=self.repository.id,
                ref=self.id,
            )
        if path and not is_plain(path.rstrip("/")):
            raise InvalidRequestError(f"{path!r} cannot be a file's path: write it with put", path=path)
        self._given_out = True
        return datapaths.folder_for(info, path)

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
        """Write an object from bytes, a pathlib.Path, a binary file or an iterable of bytes, and register it.

        The bytes go to the store without passing through the server, where there is a way. With `if_absent` (nothing
        may be there) or `if_match` (only this checksum is replaced) they go through it, since the check and the write
        must be one.

        Raises ObjectExistsError, PreconditionFailedError, CorruptTransferError and InvalidRequestError.
        """
        item = datapaths.outgoing(path, data, content_type, metadata, progress)
        sink = None if if_absent or if_match is not None else self._opened_sink()
        if sink is None:
            self._open()
            return transfer.upload(
                self._plain,
                self.repository.id,
                self.id,
                path,
                data,
                metadata=metadata,
                content_type=content_type,
                if_absent=if_absent,
                if_match=if_match,
                progress=progress,
            )
        (stored,) = sink.store([item])
        self.register([stored])
        return stored

    def put_many(
        self,
        items: Mapping[str, Data] | Iterable[tuple[str, Data]],
        *,
        delete: Iterable[str] = (),
        progress: Callable[[int], None] | None = None,
    ) -> list[ObjectInfo]:
        """Write any number of objects, and delete others: several at once, registered in groups.

        Up to 5,000 appear together; of more, groups do. `items` is read as it is needed, so memory stays bounded.
        Raises CorruptTransferError and InvalidRequestError.
        """
        pairs = items.items() if isinstance(items, Mapping) else items
        return self._write_many(((path, data, None) for path, data in pairs), delete, progress)

    def register(self, objects: Sequence[ObjectInfo], deletes: Sequence[str] = ()) -> None:
        """Register objects that lie below the prefix already, and deletions. Up to 5,000 appear together.

        `path`, `physical_address`, `checksum` (the hex MD5), `size` and `mtime` count. The server compares them with
        what is there. Raises InvalidRequestError and CorruptTransferError.
        """
        left = list(deletes)
        rows: list[tuple[Sequence[ObjectInfo], Sequence[str]]]
        rows = [(objects[start : start + _GROUP], ()) for start in range(0, len(objects), _GROUP)]
        if rows and len(left) <= _GROUP:
            rows[-1], left = (rows[-1][0], left), []
        rows += [((), left[start : start + _GROUP]) for start in range(0, len(left), _GROUP)]
        for group, gone in rows:
            self._transport.call(workspaces.register(self.repository.id, self.id, group, gone))

    def scan(self) -> ScanResult:
        """Register what other tools wrote at `path()`, and delete what they removed again. Safe to repeat."""
        return self._transport.call(workspaces.scan(self.repository.id, self.id))

    def revert(self, *globs: str) -> None:
        """Take back all changes, or those that globs in .gitignore style choose; it stays open.

        Raises InvalidRequestError for a glob that matches nothing, OutcomeUnknownError on a lost answer.
        """
        self._transport.call(workspaces.revert(self.repository.id, self.id, _checked_globs(globs)))

    def changes(self, prefix: str = "", delimiter: str = "", limit: int | None = None) -> Listing[Change]:
        """What it changes, against the commit that it stands on. (`diff` compares with another ref.)"""
        _checks.check_text(prefix + delimiter, "prefix or delimiter")
        return Listing(
            self._transport,
            lambda after, amount: commits.diff_branch(
                self.repository.id, self.id, prefix=prefix, delimiter=delimiter, after=after, amount=amount
            ),
            Change.COLUMNS,
            f"changes of {self.repository.id}/{self.id}",
            limit=limit,
        )

    # committing

    def add(self, *globs: str) -> Selection:
        """Choose a part of the changes by globs in .gitignore style: `ws.add("**/*.parquet").commit("tables only")`.

        The rest stays in the workspace, which goes on from that commit.
        """
        return Selection(self, _checked_globs(globs))

    def commit(
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
    ) -> Commit:
        """Commit all changes as one commit on top of whatever the branch stands at, and close the workspace.

        `replace_prefix` makes the workspace's content all that is left under some prefixes, and a concurrent change
        under them a conflict. `scan` looks for what other tools wrote first: by default when `path()` was asked for.

        Lost races are tried again, and a lost answer is asked for again under the same key, for `retry_for` seconds.
        Whatever is raised, what was staged stays. Raises ConcurrentCommitError and DirtyBranchError (with the paths),
        NothingToCommitError, WorkspaceClosedError and CommitStateUnknownError.
        """
        return self._commit(
            (), message, metadata, on_conflict, replace_prefix, allow_empty, date, scan, idempotency_key
        )

    def _commit(
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
    ) -> Commit:
        key = idempotency_key or new_operation_id()
        policy = check_policy(on_conflict or self.options.on_conflict)
        call = workspaces.commit(
            self.repository.id,
            self.id,
            message=_checks.check_text(message or self.options.message, "commit message"),
            metadata=merging.marked(metadata, key),
            policy=policy,
            globs=globs,
            replace_prefix=[_checks.check_path(prefix) for prefix in replace_prefix],
            idempotency_key=_checks.check_text(key, "idempotency key"),
            allow_empty=allow_empty,
            date=None if date is None else _checks.unix_seconds(date),
        )
        self._open()
        if (self._given_out if scan is None else scan) and idempotency_key is None:
            self.scan()
        retry_for = self.options.retry_for
        flow = Advance(
            self._plain,
            call,
            key,
            policy=policy,
            retry_for=retry_for,
            on_attempt=self._on_attempt,
            asked_before=idempotency_key is not None,
        )
        commit = flow.run()
        if globs:
            self._info = self._sink = None  # it goes on under another prefix
        else:
            self._done = commit
        return commit

    # what the verbs above share

    def _open(self) -> None:
        """Create it if that was not done. Doing it twice, here or elsewhere, is the same as once."""
        if self._made:
            return
        options = self.options
        self._info = self._plain.call(
            workspaces.create(
                self.repository.id,
                self.workspace_id,
                branch=self.branch,
                ref=options.base,
                message=options.message,
                expires_in=options.expires_in,
                claims=options.claims,
            )
        )
        self._made = True
        self._transport = self._plain

    def _place(self) -> WorkspaceInfo:
        """What the server said, without asking again; the prefix in it changes with commits of a part only."""
        self._open()
        if self._info is None:
            self._info = self._plain.call(workspaces.get(self.repository.id, self.id))
        if not self._info.is_open:
            raise WorkspaceClosedError(
                f"workspace {self.id} of {self.repository.id} is closed ({self._info.state}): create another one",
                repository=self.repository.id,
                ref=self.id,
            )
        return self._info

    def _opened_sink(self) -> datapaths.Sink | None:
        info = self._place()
        if self._sink is None and self._way != datapaths.PROXIED:
            self._way = datapaths.choose(info, self.options.data_path)
            self._sink = datapaths.open_sink(self._way, info, self._plain, self.repository.id, self._outside)
        return self._sink

    def _write_many(
        self, items: Iterable[tuple[str, Any, str | None]], deletions: Iterable[str], progress: Any = None
    ) -> list[ObjectInfo]:
        gone = [_checks.check_path(path) for path in deletions]
        sink = self._opened_sink()
        done: list[ObjectInfo] = []
        waiting: list[ObjectInfo] = []
        for batch in datapaths.windows(items, _WINDOW):
            if sink is None:
                done += transfer.upload_many(self._plain, self.repository.id, self.id, batch, (), progress)
                continue
            waiting += sink.store([datapaths.outgoing(path, data, kind, None, progress) for path, data, kind in batch])
            if len(waiting) >= _GROUP:
                self.register(waiting)
                done, waiting = done + waiting, []
        written = {one.path for one in (*done, *waiting)}
        self.register(waiting, [path for path in gone if path not in written])
        return done + waiting

    def _finish(self) -> None:
        """At the end of a `with` block: commit, unless that was done or there is nothing to commit."""
        if self._done is not None:
            return
        info = self.info()
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
            self.commit()
        except NothingToCommitError:
            self.drop()

    def _advise(self, error: BaseException) -> None:
        """Say what became of the work, once."""
        if self._made and not isinstance(error, WorkspaceClosedError) and self._done is None:
            _notes.advise(error, self.repository.id, self.id, self.workspace_id)


class Selection:
    """A part of a workspace's changes, to be committed alone."""

    __module__ = "lakebed"

    def __init__(self, workspace: Workspace, globs: Sequence[str]) -> None:
        self.workspace = workspace
        self.globs = tuple(globs)

    def __repr__(self) -> str:
        return f"<Selection {' '.join(self.globs)} of {self.workspace.repository.id}/{self.workspace.id}>"

    def commit(
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
        return self.workspace._commit(
            self.globs, message, metadata, on_conflict, (), False, date, scan, idempotency_key
        )


def _checked_globs(globs: Sequence[str]) -> list[str]:
    return [_checks.check_text(glob, "glob") for glob in globs]


def _restore(handle: Any, repository: Any, lake: Any, where: tuple[Any, ...], made: tuple[Any, ...]) -> Workspace:
    """A handle in another process: credentials are this process's own."""
    repository_id, found_id, options, is_made, given_out = made
    home = repository(lake._over(recall(*where)), repository_id)
    again: Workspace = handle(home, found_id, options, is_made=is_made)
    again._given_out = given_out
    return again
