"""Every error of the SDK: one shallow tree under `LakebedError`, grouped by what a handler does next.

`kind` is the server's word for the cause (`x-error-kinds` in openapi.yaml) or a word of the SDK. It never changes its
meaning. Messages are only for people. Every class survives pickle, so Spark and process pools show the original error.
docs/errors.md has the same tree, and a test compares them.
"""

from __future__ import annotations

import errno as _errno
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from lakebed._render.columns import Columns

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class LakebedError(Exception):
    """The root. `except LakebedError` catches everything that this package raises on purpose."""

    default_kind: ClassVar[str] = "unexpected"

    def __init__(
        self,
        message: str,
        *,
        kind: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        operation: str | None = None,
        repository: str | None = None,
        ref: str | None = None,
        path: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind or self.default_kind
        self.status = status
        self.request_id = request_id
        self.operation = operation
        self.repository = repository
        self.ref = ref
        self.path = path
        self._reason = ""

    @property
    def reason(self) -> str:
        """The cause alone: the message without what failed and without the next step."""
        return self._reason or self.message

    @reason.setter
    def reason(self, reason: str) -> None:
        self._reason = reason

    def __str__(self) -> str:
        # The builtin parents (OSError, KeyError) would each print a different text.
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.message, dict(self.__dict__))


def _restore(cls: type[LakebedError], message: str, state: dict[str, object]) -> LakebedError:
    """Rebuild an error from its message and its attributes, whatever attributes a subclass adds."""
    error = cls(message)
    error.__dict__.update(state)
    return error


class NotFoundError(LakebedError, LookupError):
    """Something with this name does not exist. `kind` says what: a repository, branch, tag, commit, ref or object.

    `suggestions` are similar names, where the SDK could find out quickly.
    """

    default_kind = "ref_not_found"
    suggestions: tuple[str, ...] = ()


class ObjectNotFoundError(NotFoundError, FileNotFoundError):
    """No object at this path in this ref."""

    default_kind = "object_not_found"
    errno = _errno.ENOENT


class ObjectGoneError(NotFoundError):
    """The object is listed, but its content is no longer in the object store."""

    default_kind = "object_gone"


class RunNotFoundError(NotFoundError):
    """There is no run of hooks, no hook in a run, or no failed delivery with this id. Old runs are deleted."""

    default_kind = "run_not_found"


class AlreadyExistsError(LakebedError):
    """A name or a storage namespace is taken. `exist_ok=True` accepts what is there."""

    default_kind = "name_taken"


class ObjectExistsError(AlreadyExistsError, FileExistsError):
    """The path has an object already, and the caller asked not to replace it."""

    default_kind = "object_exists"
    errno = _errno.EEXIST


class InvalidRequestError(LakebedError, ValueError):
    """The request is invalid: a malformed name or path, a limit, an impossible combination."""

    default_kind = "invalid_request"


class ReadOnlyRefError(InvalidRequestError, AttributeError):
    """The caller tried to write to a tag, a commit or another ref expression. Only branches and workspaces accept
    writes.
    """

    default_kind = "read_only_ref"


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """A column of `path` that differs from the expected one. Types are Arrow's names. None means that there is no such
    column.
    """

    path: str
    column: str
    expected: str | None
    found: str | None

    def __str__(self) -> str:
        if self.expected is None:
            return f"{self.path!r} has an additional column {self.column!r} ({self.found})"
        if self.found is None:
            return f"{self.path!r} has no column {self.column!r} ({self.expected})"
        return f"{self.path!r} has {self.column!r} as {self.found}, not {self.expected}"


class SchemaMismatchError(InvalidRequestError):
    """Files of a table, or new data and the table, have different columns or types.

    Nothing was written. `differences` lists them. `schema="unify"` accepts missing and new columns, never other types.
    """

    default_kind = "schema_mismatch"
    differences: tuple[SchemaDifference, ...] = ()


class TableFormatError(LakebedError, ValueError):
    """An object is not a complete file of the expected format: it is cut short, damaged, or of another format."""

    default_kind = "table_format"


class AuthenticationError(LakebedError, PermissionError):
    """The credentials are missing or wrong."""

    default_kind = "unauthenticated"
    errno = _errno.EACCES


class PermissionDeniedError(LakebedError, PermissionError):
    """The credentials are valid, but the action is not allowed: policy, protected branch or read-only repository."""

    default_kind = "permission_denied"
    errno = _errno.EACCES


@dataclass(frozen=True, slots=True)
class Conflict:
    """One path that both sides changed. Values are checksums, None where the path is absent.

    `ours` is the destination, `theirs` the source, as in Git.
    """

    COLUMNS: ClassVar[Columns] = (
        ("path", "string"),
        ("base", "string"),
        ("ours", "string"),
        ("theirs", "string"),
    )

    path: str
    base: str | None = None
    ours: str | None = None
    theirs: str | None = None


class Conflicts(tuple[Conflict, ...]):
    """Conflicts in the order of their paths: a tuple that also converts to a table."""

    __slots__ = ()

    def to_arrow(self) -> pa.Table:
        """Return path, base, ours and theirs as an Arrow table."""
        from lakebed._render import rows

        return rows.to_arrow(self, Conflict.COLUMNS)

    def to_pandas(self) -> pd.DataFrame:
        """Return the same as a DataFrame."""
        from lakebed._render import rows

        return rows.to_pandas(self, Conflict.COLUMNS)

    def _repr_html_(self) -> str:
        from lakebed._render import html

        return html.rows(f"{len(self)} conflicts", self[: html.ROWS], Conflict.COLUMNS, more=len(self) > html.ROWS)


class ConflictError(LakebedError):
    """Two sides changed the same paths. When `has_more` is true, `conflicts` is only the beginning of the list."""

    default_kind = "conflict"
    conflicts: Conflicts = Conflicts()
    has_more: bool = False

    def with_conflicts(self, conflicts: Iterable[Conflict], has_more: bool = False) -> Self:
        """Attach the conflicts and return the error."""
        self.conflicts = Conflicts(conflicts)
        self.has_more = has_more
        return self

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths in conflict, in order."""
        return tuple(conflict.path for conflict in self.conflicts)


class MergeConflictError(ConflictError):
    """Both sides of a merge changed the same paths. The destination is as it was."""

    default_kind = "merge_conflict"


class ConcurrentCommitError(ConflictError):
    """Another commit came first and changed paths that this commit depends on. Nothing was changed."""

    default_kind = "concurrent_commit"


class DirtyBranchError(ConflictError):
    """Uncommitted changes of the branch are in the way. Commit or reset them first.

    For the commit of a workspace `conflicts` lists them. A merge is refused for any uncommitted change, and lists none.
    """

    default_kind = "dirty_branch"


class WorkspaceClosedError(LakebedError):
    """The workspace was committed, dropped or popped, or has expired. Create another one."""

    default_kind = "workspace_closed"


class NothingToCommitError(LakebedError):
    """There is nothing to commit or to merge. `allow_empty=True` makes an empty commit."""

    default_kind = "no_changes"


class PreconditionFailedError(LakebedError):
    """A condition did not hold: `if_match`, a rule of the server, or an object that changed while it was read."""

    default_kind = "precondition_failed"


class HookRefusedError(PreconditionFailedError):
    """A hook refused the change, failed while it checked it, or has not answered yet. Nothing was changed.

    The same call is refused again until the data or the hook is corrected. `repo.runs.hooks(error.run_id)` says what
    the hooks found. `run_id` is empty if no hook ran.
    """

    default_kind = "hook_refused"
    run_id: str = ""


class ThrottledError(LakebedError):
    """The server is too busy, or the request lost too many races. Nothing was changed. Try again later."""

    default_kind = "throttled"
    retry_after: float | None = None


class ServerError(LakebedError):
    """The server failed unexpectedly. `request_id` finds the failure in the server's log."""

    default_kind = "internal"


class CorruptDataError(ServerError):
    """A stored file is damaged or missing, so the server returns no data. The message names the file.

    Restore the file in the bucket. `lakebed fsck` lists the branches and tags that need it.
    """

    default_kind = "corrupt_data"


class StoreFullError(ServerError, OSError):
    """The store has no room, or is read-only. Nothing is half-written, and existing data can be read.

    Make room, then repeat the call.
    """

    default_kind = "store_full"
    errno = _errno.ENOSPC


class ServerUnavailableError(ServerError, ConnectionError):
    """The server, or the store behind it, could not be reached. The request may be repeated."""

    default_kind = "store_unavailable"


class OutcomeUnknownError(LakebedError):
    """The answer to a change was lost: the change was made, or not, or is still in progress. Check before you repeat
    it.
    """

    default_kind = "outcome_unknown"


class CommitStateUnknownError(OutcomeUnknownError):
    """The answer to a commit or merge was lost, and the SDK did not find the commit on the branch.

    Call `branch.find_operation(error.operation_id)` later to find out whether the commit was made.
    """

    operation_id: str = ""


class CorruptTransferError(LakebedError, OSError):
    """The received bytes are not the sent bytes: checksum or length differ."""

    default_kind = "corrupt_transfer"
    errno = _errno.EIO


@dataclass(frozen=True, slots=True)
class ObjectFailure:
    """Why one path of a bulk operation failed."""

    path: str
    status: int
    message: str


class PartialFailureError(LakebedError):
    """Some paths of a bulk operation failed. `failures` says which and why. The others succeeded."""

    default_kind = "partial_failure"
    failures: tuple[ObjectFailure, ...] = ()


class UnsupportedOperationError(LakebedError, NotImplementedError):
    """This server, or this version of the SDK, does not support the operation."""

    default_kind = "not_implemented"


class ConfigurationError(LakebedError, ValueError):
    """A setting is missing or wrong. The message names its place."""

    default_kind = "configuration"


class ProtocolError(LakebedError):
    """The answer does not come from a Lakebed server. Usually the endpoint is wrong, or a proxy answers."""

    default_kind = "protocol"


__all__ = [
    "AlreadyExistsError",
    "AuthenticationError",
    "CommitStateUnknownError",
    "ConcurrentCommitError",
    "ConfigurationError",
    "Conflict",
    "ConflictError",
    "Conflicts",
    "CorruptDataError",
    "CorruptTransferError",
    "DirtyBranchError",
    "HookRefusedError",
    "InvalidRequestError",
    "LakebedError",
    "MergeConflictError",
    "NotFoundError",
    "NothingToCommitError",
    "ObjectExistsError",
    "ObjectFailure",
    "ObjectGoneError",
    "ObjectNotFoundError",
    "OutcomeUnknownError",
    "PartialFailureError",
    "PermissionDeniedError",
    "PreconditionFailedError",
    "ProtocolError",
    "ReadOnlyRefError",
    "RunNotFoundError",
    "SchemaDifference",
    "SchemaMismatchError",
    "ServerError",
    "ServerUnavailableError",
    "StoreFullError",
    "TableFormatError",
    "ThrottledError",
    "UnsupportedOperationError",
    "WorkspaceClosedError",
]
