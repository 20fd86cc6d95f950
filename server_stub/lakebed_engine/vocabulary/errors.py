"""The engine's errors: one tree. Each has the `kind` that the REST API returns.

The server maps `kind` to a status in one place (`x-error-kinds` of openapi.yaml). The engine knows no HTTP. Every
message says what failed, on what, why, and the next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


class EngineError(Exception):
    """The root of all errors. `kind` is stable: kinds are only added. `message` is for people."""

    kind: ClassVar[str] = "internal"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidRequestError(EngineError):
    """The request itself is invalid: it exceeds a limit, combines options that exclude each other, or has an unknown
    option.
    """

    kind = "invalid_request"


class InvalidNameError(InvalidRequestError):
    """A repository, branch or tag name breaks its naming rule."""

    kind = "invalid_name"


class InvalidPathError(InvalidRequestError):
    """An object path is empty, too long or not UTF-8."""

    kind = "invalid_path"


class InvalidRefError(InvalidRequestError):
    """A ref expression cannot be parsed, or cannot be used in this place."""

    kind = "invalid_ref"


class InvalidNamespaceError(InvalidRequestError):
    """A storage namespace has an unknown scheme or is outside its store."""

    kind = "invalid_namespace"


class NamespaceInUseError(InvalidRequestError):
    """Another repository already uses this storage namespace."""

    kind = "namespace_in_use"


class NamespaceSharedError(EngineError):
    """A repository cannot be purged: another one shows objects of its storage namespace."""

    kind = "namespace_shared"


class NamespaceNotEmptyError(InvalidRequestError):
    """The storage namespace contains other objects, and the caller did not accept that."""

    kind = "namespace_not_empty"


class InvalidAddressError(InvalidRequestError):
    """An object cannot be registered: its address is not the workspace's, or it does not exist."""

    kind = "invalid_address"


class ChecksumMismatchError(InvalidRequestError):
    """The size or checksum of an object to register differs from the request."""

    kind = "checksum_mismatch"


class InvalidPartError(InvalidRequestError):
    """A part in the request to complete an upload was not sent, or differs from the sent one."""

    kind = "invalid_part"


class PartOrderError(InvalidRequestError):
    """The parts in the request to complete an upload are not in ascending order."""

    kind = "invalid_part_order"


class PartTooSmallError(InvalidRequestError):
    """A part that is not the last one is smaller than the minimum."""

    kind = "part_too_small"


class PartTooLargeError(InvalidRequestError):
    """A part, or the whole object, is larger than the maximum."""

    kind = "part_too_large"


class NotSupportedError(EngineError):
    """The store of a repository does not support the request."""

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
    """The revert of a merge needs the number of the parent."""

    kind = "parent_required"


class ProtectedBranchError(EngineError):
    """A protection rule forbids direct changes of the branch."""

    kind = "protected_branch"


class ReadOnlyRepositoryError(EngineError):
    """The repository refuses changes. `force` overrides it."""

    kind = "read_only_repository"


class NotFoundError(EngineError):
    """A named thing does not exist. The subclasses say which kind of thing."""

    kind = "ref_not_found"


class RepositoryNotFoundError(NotFoundError):
    """No repository of this name."""

    kind = "repository_not_found"


class RepositoryDeletingError(RepositoryNotFoundError):
    """The repository is being deleted with its data."""

    kind = "repository_deleting"


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
    """The task does not exist, or was deleted: ended tasks are kept for two days."""

    kind = "task_not_found"


class UploadNotFoundError(NotFoundError):
    """No such multipart upload to this path: it was completed, was aborted, has expired, or was never begun."""

    kind = "upload_not_found"


class PullNotFoundError(NotFoundError):
    """No pull request of this id."""

    kind = "pull_not_found"


class PullClosedError(EngineError):
    """The pull request is not open. Nothing was changed."""

    kind = "pull_closed"


class CommentNotFoundError(NotFoundError):
    """The pull request has no comment of this number."""

    kind = "comment_not_found"


class ReviewNotFoundError(NotFoundError):
    """The pull request has no review of this number."""

    kind = "review_not_found"


class OwnPullError(EngineError):
    """Authors do not review their own pull requests, and users change only their own comments. Nothing was changed."""

    kind = "permission_denied"


class NotMergeableError(EngineError):
    """The pull request is a draft, or lacks approvals or checks. Nothing was changed."""

    kind = "not_mergeable"


class SourceMovedError(EngineError):
    """The source branch is at another commit than the request names. Nothing was changed."""

    kind = "source_moved"


class TaskEndedError(EngineError):
    """The task has already ended."""

    kind = "task_ended"


class KeyReusedError(EngineError):
    """The idempotency key was used for another request."""

    kind = "idempotency_mismatch"


class AlreadyExistsError(EngineError):
    """The name already exists. The subclasses say which kind of thing has it."""

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
    """One path that both source and destination changed. Values are checksums, None where the path is absent.

    `ours` is the destination, `theirs` the source, as in Git.
    """

    path: str
    base: str | None
    ours: str | None
    theirs: str | None


class PathsConflictError(EngineError):
    """Paths block the operation. Has a page of them, and whether there are more. The subclasses say why they block."""

    kind = "concurrent_commit"

    def __init__(self, message: str, conflicts: Sequence[Conflict] = (), has_more: bool = False) -> None:
        super().__init__(message)
        self.conflicts = tuple(conflicts)
        self.has_more = has_more

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.conflicts, self.has_more)


class MergeConflictError(PathsConflictError):
    """Source and destination changed the same paths."""

    kind = "merge_conflict"


class ConcurrentCommitError(PathsConflictError):
    """The branch has moved since a workspace's base, and its changes block the workspace. Nothing was changed."""

    kind = "concurrent_commit"


class DirtyOverlapError(PathsConflictError, DirtyBranchError):
    """Uncommitted changes of the branch block a workspace's commit. Nothing was changed."""

    kind = "dirty_overlap"


class WorkspaceClosedError(EngineError):
    """The workspace is closed: it was committed, dropped or popped, or it expired."""

    kind = "workspace_closed"


class PreconditionFailedError(EngineError):
    """If-Match or If-None-Match did not hold. Nothing was changed."""

    kind = "precondition_failed"


class NothingThereError(PreconditionFailedError):
    """If-Match did not hold, because the path has no object. Nothing was changed."""


class HookRefusedError(EngineError):
    """A hook refused the change, could not check it, or has no result yet (`pending`). Nothing was changed."""

    kind = "hook_refused"

    def __init__(self, message: str, run_id: str = "", pending: bool = False) -> None:
        super().__init__(message)
        self.run_id = run_id
        self.pending = pending

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.run_id, self.pending)


class RunNotFoundError(NotFoundError):
    """No hook run, hook or delivery has this id."""

    kind = "run_not_found"


class TooManyAttemptsError(EngineError):
    """An optimistic operation lost the race in all of its attempts. Nothing was changed. Try again later."""

    kind = "too_many_attempts"


class BackpressureError(TooManyAttemptsError):
    """A branch has the largest number of layers. Nothing was changed. Try again after a compaction or a commit."""

    kind = "throttled"


class InvalidRangeError(EngineError):
    """A byte range outside the object. `size` is the size of the object in bytes, if a Content-Range may contain it."""

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

    `message` is for the log. `public_message` is for clients: it has no path, address or secret of this machine. If it
    is empty, clients get a fixed text. `lasting`: an administrator must repair the store, because waiting does not
    help.
    """

    kind = "store_unavailable"

    def __init__(self, message: str, *, public_message: str = "", lasting: bool = False) -> None:
        super().__init__(message)
        self.public_message = public_message
        self.lasting = lasting


class StoreUnavailableError(StoreError):
    """The store did not respond, or refused temporarily."""

    kind = "store_unavailable"


class NoStoreError(StoreUnavailableError):
    """The bucket of a namespace does not exist."""

    def __init__(self, message: str, *, public_message: str = "", lasting: bool = True) -> None:
        super().__init__(message, public_message=public_message, lasting=lasting)


class StoreDeniedError(StoreUnavailableError):
    """The store refuses the server's credentials or their rights."""


class StoreFullError(StoreError):
    """No space, or read-only. No partial write remains."""

    kind = "store_full"


class CorruptDataError(StoreError):
    """Read data differs from the written data. The message names the file."""

    kind = "corrupt_data"


class MissingFileError(CorruptDataError):
    """A metadata file that a record names does not exist: the record is outdated, or the bucket is damaged."""

    kind = "corrupt_data"


class SchemaTooNewError(StoreError):
    """The KV store was written by a newer Lakebed."""

    kind = "store_unavailable"


class OutcomeUnknownError(StoreError):
    """The response to a write was lost, so its outcome is unknown. Read the data to find out."""

    kind = "outcome_unknown"


class PredicateFailed(EngineError):
    """A check of a KV batch did not hold. Nothing of the batch was applied. Operations catch it and try again."""

    kind = "concurrent_commit"


class ForeignDeniedError(EngineError):
    """The administrator of this server does not allow users to read objects there."""

    kind = "permission_denied"


class UnsortedListing(EngineError):
    """A listing that was assumed to be in byte order is not. List again: from now on, the store sorts its listings."""


class BlobNotFound(EngineError):
    """An object store has no object at this key. Operations turn it into an error with the user's terms."""

    kind = "object_gone"


class BlobExists(EngineError):
    """A put-if-absent found an object at the key. Nothing was written."""

    kind = "precondition_failed"


def error_of(
    kind: str, message: str, conflicts: Sequence[Conflict] = (), has_more: bool = False, run_id: str = ""
) -> EngineError:
    """The error of a stored failure, by its kind. An unknown kind gives the root class."""
    if kind == HookRefusedError.kind:
        return HookRefusedError(message, run_id)
    found = list(EngineError.__subclasses__())
    for cls in found:  # the list grows during the loop
        if cls.kind == kind and cls is not PathsConflictError:
            return cls(message, conflicts, has_more) if issubclass(cls, PathsConflictError) else cls(message)
        found += cls.__subclasses__()
    return EngineError(message)
