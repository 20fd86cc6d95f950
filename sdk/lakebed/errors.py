"""Every error of the SDK: one shallow tree under `LakebedError`, grouped by what a handler does next.

`kind` is the server's word for what went wrong (`x-error-kinds` in openapi.yaml) or one of ours; it never changes its
meaning, and messages are for people only. Every class survives pickle, so that Spark and process pools show the true
error. docs/errors.md has the same tree, held by a test.
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
    """The root. `except LakebedError` catches all that this package raises on purpose."""

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
        # The builtin parents (OSError, KeyError) would each print something else.
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.message, dict(self.__dict__))


def _restore(cls: type[LakebedError], message: str, state: dict[str, object]) -> LakebedError:
    """Rebuild an error from its message and its attributes, whatever a subclass adds to them."""
    error = cls(message)
    error.__dict__.update(state)
    return error


class NotFoundError(LakebedError, LookupError):
    """Something named does not exist; `kind` says what: a repository, branch, tag, commit, ref or object."""

    default_kind = "ref_not_found"


class ObjectNotFoundError(NotFoundError, FileNotFoundError):
    """No object at this path in this ref."""

    default_kind = "object_not_found"
    errno = _errno.ENOENT


class ObjectGoneError(NotFoundError):
    """The object is listed, but its content is no longer in the object store."""

    default_kind = "object_gone"


class AlreadyExistsError(LakebedError):
    """A name or a storage namespace is taken. `exist_ok=True` accepts what is there."""

    default_kind = "name_taken"


class ObjectExistsError(AlreadyExistsError, FileExistsError):
    """An object is at this path already, and the write was asked not to replace it."""

    default_kind = "object_exists"
    errno = _errno.EEXIST


class InvalidRequestError(LakebedError, ValueError):
    """The request cannot be meant: a malformed name or path, a limit, an impossible combination."""

    default_kind = "invalid_request"


class ReadOnlyRefError(InvalidRequestError, AttributeError):
    """A tag, a commit or another ref expression was asked to be written to: only branches and workspaces can be."""

    default_kind = "read_only_ref"


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """One column that `path` has otherwise than expected. Types are Arrow's names; None: there is no such column."""

    path: str
    column: str
    expected: str | None
    found: str | None

    def __str__(self) -> str:
        if self.expected is None:
            return f"{self.path!r} has a column {self.column!r} ({self.found}) more"
        if self.found is None:
            return f"{self.path!r} has no column {self.column!r} ({self.expected})"
        return f"{self.path!r} has {self.column!r} as {self.found}, not {self.expected}"


class SchemaMismatchError(InvalidRequestError):
    """Files of a table, or data and the table that they are added to, have different columns or types.

    Nothing was written. `differences` says which; `schema="unify"` accepts more and fewer columns, never other types.
    """

    default_kind = "schema_mismatch"
    differences: tuple[SchemaDifference, ...] = ()


class TableFormatError(LakebedError, ValueError):
    """An object is not a whole file of the format that it was read as: cut short, damaged, or something else."""

    default_kind = "table_format"


class AuthenticationError(LakebedError, PermissionError):
    """The credentials are missing or wrong."""

    default_kind = "unauthenticated"
    errno = _errno.EACCES


class PermissionDeniedError(LakebedError, PermissionError):
    """The credentials are good, but this is not allowed: policy, protected branch or read-only repository."""

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
    """Conflicts in the order of their paths: a tuple that is a table as well."""

    __slots__ = ()

    def to_arrow(self) -> pa.Table:
        """Path, base, ours and theirs, as an Arrow table."""
        from lakebed._render import rows

        return rows.to_arrow(self, Conflict.COLUMNS)

    def to_pandas(self) -> pd.DataFrame:
        """The same, as a DataFrame."""
        from lakebed._render import rows

        return rows.to_pandas(self, Conflict.COLUMNS)

    def _repr_html_(self) -> str:
        from lakebed._render import html

        return html.rows(f"{len(self)} conflicts", self[: html.ROWS], Conflict.COLUMNS, more=len(self) > html.ROWS)


class ConflictError(LakebedError):
    """Two lines of work touched the same paths. `has_more` says that `conflicts` is only the beginning."""

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
    """Another commit was first, and touched what this one relies on. Nothing was changed."""

    default_kind = "concurrent_commit"


class DirtyBranchError(ConflictError):
    """The branch has uncommitted changes that are in the way. Commit or reset them first.

    `conflicts` lists them for the commit of a workspace; a merge is refused for any, and lists none.
    """

    default_kind = "dirty_branch"


class WorkspaceClosedError(LakebedError):
    """The workspace was committed, dropped, popped, or it expired. Create another one."""

    default_kind = "workspace_closed"


class NothingToCommitError(LakebedError):
    """There is nothing to commit or to merge. `allow_empty=True` makes an empty commit."""

    default_kind = "no_changes"


class PreconditionFailedError(LakebedError):
    """A condition did not hold: `if_match`, a rule of the server, or an object that changed while it was read."""

    default_kind = "precondition_failed"


class ThrottledError(LakebedError):
    """The server is too busy, or too many races were lost in a row. Nothing was changed; try again later."""

    default_kind = "throttled"
    retry_after: float | None = None


class ServerError(LakebedError):
    """The server failed in a way that it did not foresee. `request_id` finds it in the server's log."""

    default_kind = "internal"


class CorruptDataError(ServerError):
    """A stored file is damaged or missing, and no data is given rather than wrong data. The message names the file:
    whoever keeps the bucket restores it; `lakebed fsck` says which branches and tags need it.
    """

    default_kind = "corrupt_data"


class StoreFullError(ServerError, OSError):
    """The store has no room for what was to be written, or takes no writes. Nothing is half-written; what was there can
    be read. Make room, then do it again.
    """

    default_kind = "store_full"
    errno = _errno.ENOSPC


class ServerUnavailableError(ServerError, ConnectionError):
    """The server, or the store behind it, could not be reached. What was asked may be asked again."""

    default_kind = "store_unavailable"


class OutcomeUnknownError(LakebedError):
    """The answer to a change was lost: it may have been made, or not, or may still be. Look before repeating it."""

    default_kind = "outcome_unknown"


class CommitStateUnknownError(OutcomeUnknownError):
    """The answer to a commit or merge was lost, and reading the branch back did not show it.

    `branch.find_operation(error.operation_id)` tells later whether it landed.
    """

    operation_id: str = ""


class CorruptTransferError(LakebedError, OSError):
    """The bytes that arrived are not the bytes that were sent: checksum or length differ."""

    default_kind = "corrupt_transfer"
    errno = _errno.EIO


@dataclass(frozen=True, slots=True)
class ObjectFailure:
    """Why one path of a bulk operation failed."""

    path: str
    status: int
    message: str


class PartialFailureError(LakebedError):
    """Some paths of a bulk operation failed; `failures` says which and why. The others are done."""

    default_kind = "partial_failure"
    failures: tuple[ObjectFailure, ...] = ()


class UnsupportedOperationError(LakebedError, NotImplementedError):
    """This server, or this version of the SDK, does not do this."""

    default_kind = "not_implemented"


class ConfigurationError(LakebedError, ValueError):
    """A setting is missing or wrong. The message names the place that it came from."""

    default_kind = "configuration"


class ProtocolError(LakebedError):
    """The answer is not one that a Lakebed server gives: usually a wrong endpoint, or a proxy in between."""

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
