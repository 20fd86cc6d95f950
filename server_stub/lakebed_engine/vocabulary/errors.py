"""The engine's errors: one tree, each with the `kind` that stands on the wire.

The server turns `kind` into a status in one place (`x-error-kinds` of openapi.yaml); nothing here knows HTTP. Every
error says what failed, on what, why, and the next step, in its message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


class EngineError(Exception):
    """The root. `kind` is stable and append-only; `message` is for people."""

    kind: ClassVar[str] = "internal"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidRequestError(EngineError):
    """The request itself cannot be meant: a limit, a combination, an unknown option."""

    kind = "invalid_request"


class InvalidNameError(InvalidRequestError):
    """A repository, branch or tag name breaks its naming rule."""

    kind = "invalid_name"


class InvalidPathError(InvalidRequestError):
    """An object path is empty, too long or not UTF-8."""

    kind = "invalid_path"


class InvalidRefError(InvalidRequestError):
    """A ref expression cannot be parsed, or cannot be used where it stands."""

    kind = "invalid_ref"


class InvalidNamespaceError(InvalidRequestError):
    """A storage namespace has an unknown scheme or leaves its store."""

    kind = "invalid_namespace"


class NamespaceInUseError(InvalidRequestError):
    """Another repository already lives in this storage namespace."""

    kind = "namespace_in_use"


class NamespaceNotEmptyError(InvalidRequestError):
    """Other objects lie in this storage namespace, and the caller did not accept that."""

    kind = "namespace_not_empty"


class InvalidAddressError(InvalidRequestError):
    """An object cannot be registered: its address is not the workspace's, or nothing is there."""

    kind = "invalid_address"


class ChecksumMismatchError(InvalidRequestError):
    """An object to be registered is not what was told of it: another size, or another checksum."""

    kind = "checksum_mismatch"


class InvalidPartError(InvalidRequestError):
    """A part that an upload is to be completed with was not sent, or is another one."""

    kind = "invalid_part"


class PartOrderError(InvalidRequestError):
    """The parts that an upload is to be completed with are not in ascending order."""

    kind = "invalid_part_order"


class PartTooSmallError(InvalidRequestError):
    """A part that is not the last one has less than the least size."""

    kind = "part_too_small"


class PartTooLargeError(InvalidRequestError):
    """A part, or the whole object, is larger than one may be."""

    kind = "part_too_large"


class NotSupportedError(EngineError):
    """The store behind a repository cannot do what was asked for."""

    kind = "not_implemented"


class DirtyBranchError(EngineError):
    """The operation needs a branch without uncommitted changes."""

    kind = "dirty_branch"


class NoChangesError(EngineError):
    """There is nothing to commit or to merge."""

    kind = "no_changes"


class NoMergeBaseError(EngineError):
    """Two commits share no ancestor."""

    kind = "no_merge_base"


class DefaultBranchError(EngineError):
    """The default branch cannot be deleted."""

    kind = "default_branch"


class MergeParentError(EngineError):
    """The revert of a merge needs to know to which parent."""

    kind = "parent_required"


class ProtectedBranchError(EngineError):
    """A protection rule forbids direct changes of the branch."""

    kind = "protected_branch"


class ReadOnlyRepositoryError(EngineError):
    """The repository refuses changes; `force` overrides it."""

    kind = "read_only_repository"


class NotFoundError(EngineError):
    """Something named does not exist. The subclasses say what."""

    kind = "ref_not_found"


class RepositoryNotFoundError(NotFoundError):
    """No repository of this name."""

    kind = "repository_not_found"


class BranchNotFoundError(NotFoundError):
    """No branch of this name."""

    kind = "branch_not_found"


class TagNotFoundError(NotFoundError):
    """No tag of this name."""

    kind = "tag_not_found"


class CommitNotFoundError(NotFoundError):
    """No commit of this id."""

    kind = "commit_not_found"


class RefNotFoundError(NotFoundError):
    """A ref expression names nothing, or more than one commit."""

    kind = "ref_not_found"


class ObjectNotFoundError(NotFoundError):
    """No object at this path in this ref."""

    kind = "object_not_found"


class RuleNotFoundError(NotFoundError):
    """No protection rule of this pattern."""

    kind = "rule_not_found"


class WorkspaceNotFoundError(NotFoundError):
    """No workspace of this id."""

    kind = "workspace_not_found"


class TaskNotFoundError(NotFoundError):
    """No such task, or it is forgotten: tasks that are over are kept for two days."""

    kind = "task_not_found"


class UploadNotFoundError(NotFoundError):
    """No upload in parts of this id to this path: it was completed, given up, has expired, or was never begun."""

    kind = "upload_not_found"


class TaskEndedError(EngineError):
    """The task is over already."""

    kind = "task_ended"


class KeyReusedError(EngineError):
    """The idempotency key was used for another request."""

    kind = "idempotency_mismatch"


class AlreadyExistsError(EngineError):
    """A name is taken. The subclasses say by what."""

    kind = "name_taken"


class RepositoryExistsError(AlreadyExistsError):
    """A repository of this name exists."""

    kind = "repository_exists"


class BranchExistsError(AlreadyExistsError):
    """A branch of this name exists."""

    kind = "branch_exists"


class TagExistsError(AlreadyExistsError):
    """A tag of this name exists."""

    kind = "tag_exists"


class NameTakenError(AlreadyExistsError):
    """The name already means something else: a tag for a branch, a branch for a tag, or a commit id."""

    kind = "name_taken"


@dataclass(frozen=True, slots=True)
class Conflict:
    """One path that both sides changed. Values are checksums; None where the path is absent on that side.

    `ours` is the destination, `theirs` the source, as in Git.
    """

    path: str
    base: str | None
    ours: str | None
    theirs: str | None


class PathsConflictError(EngineError):
    """Paths stand in the way. Carries a page of them and whether there are more. The subclasses say of what."""

    kind = "concurrent_commit"

    def __init__(self, message: str, conflicts: Sequence[Conflict] = (), has_more: bool = False) -> None:
        super().__init__(message)
        self.conflicts = tuple(conflicts)
        self.has_more = has_more

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.conflicts, self.has_more)


class MergeConflictError(PathsConflictError):
    """Both sides changed the same paths."""

    kind = "merge_conflict"


class ConcurrentCommitError(PathsConflictError):
    """The branch moved since a workspace's base, and what it changed stands against the workspace. Nothing changed."""

    kind = "concurrent_commit"


class DirtyOverlapError(PathsConflictError, DirtyBranchError):
    """Uncommitted changes of the branch are in the way of a workspace's commit. Nothing was changed."""

    kind = "dirty_overlap"


class WorkspaceClosedError(EngineError):
    """The workspace was committed, dropped, popped, or it expired: nothing can be done with it any more."""

    kind = "workspace_closed"


class PreconditionFailedError(EngineError):
    """If-Match or If-None-Match did not hold. Nothing was changed."""

    kind = "precondition_failed"


class NothingThereError(PreconditionFailedError):
    """If-Match did not hold, since the path holds nothing. Nothing was changed."""


class TooManyAttemptsError(EngineError):
    """An optimistic operation lost every race in its bounded tries. Nothing was changed; try again later."""

    kind = "too_many_attempts"


class BackpressureError(TooManyAttemptsError):
    """A branch has as many layers as it may. Nothing was changed; try again when they are compacted or committed."""

    kind = "throttled"


class InvalidRangeError(EngineError):
    """A byte range outside the object. `size` is the object's size in bytes, when a Content-Range may say it."""

    kind = "invalid_range"

    def __init__(self, message: str, size: int | None = None) -> None:
        super().__init__(message)
        self.size = size

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.size)


class ObjectGoneError(EngineError):
    """The entry exists but its data does not."""

    kind = "object_gone"


class StoreError(EngineError):
    """A KV or object store failed. The subclasses say how.

    `message` is for the log. `told` is what a client may read: the client's own words, no path, address or secret of
    this machine; empty when only fixed words will do. `lasting`: somebody has to mend it, waiting alone does not help.
    """

    kind = "store_unavailable"

    def __init__(self, message: str, *, told: str = "", lasting: bool = False) -> None:
        super().__init__(message)
        self.told = told
        self.lasting = lasting


class StoreUnavailableError(StoreError):
    """The store did not answer, or refused for now."""

    kind = "store_unavailable"


class NoStoreError(StoreUnavailableError):
    """The bucket that a namespace lies in does not exist."""

    def __init__(self, message: str, *, told: str = "", lasting: bool = True) -> None:
        super().__init__(message, told=told, lasting=lasting)


class StoreDeniedError(StoreUnavailableError):
    """The store knows the server and refuses it, or does not know it."""


class StoreFullError(StoreError):
    """No space, or read-only. Nothing was half-written."""

    kind = "store_full"


class CorruptDataError(StoreError):
    """What was read is not what was written. Names the file."""

    kind = "corrupt_data"


class MissingFileError(CorruptDataError):
    """A metadata file that a record names is not there: a record that is no longer current, or a damaged bucket."""

    kind = "corrupt_data"


class SchemaTooNewError(StoreError):
    """The KV store was written by a newer Lakebed."""

    kind = "store_unavailable"


class OutcomeUnknownError(StoreError):
    """The answer to a write was lost: it may or may not have happened. Settle it by reading back."""

    kind = "outcome_unknown"


class PredicateFailed(EngineError):
    """A check of a KV batch did not hold; nothing of the batch was applied. Operations catch it and try again."""

    kind = "concurrent_commit"


class ForeignDeniedError(EngineError):
    """The administrator of this server does not allow to read objects there."""

    kind = "permission_denied"


class UnsortedListing(EngineError):
    """A store that was trusted to list in byte order does not. From now on it is not: list it again."""


class BlobNotFound(EngineError):
    """An object store has nothing at this key. Operations turn it into an error of the user's words."""

    kind = "object_gone"


class BlobExists(EngineError):
    """A put-if-absent found the key taken. Nothing was written."""

    kind = "precondition_failed"


def error_of(kind: str, message: str, conflicts: Sequence[Conflict] = (), has_more: bool = False) -> EngineError:
    """The error of this kind: for a failure that was written down. Of a kind that is not known it is the root."""
    found = list(EngineError.__subclasses__())
    for cls in found:  # grows while it is walked
        if cls.kind == kind and cls is not PathsConflictError:
            return cls(message, conflicts, has_more) if issubclass(cls, PathsConflictError) else cls(message)
        found += cls.__subclasses__()
    return EngineError(message)
