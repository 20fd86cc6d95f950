"""Turns errors into S3's errors.

An error that the client can correct keeps its message. A failure of the server is logged in full, and its response has
a fixed message.
"""

from __future__ import annotations

import logging
from typing import Final

from lakebed_engine.vocabulary.errors import EngineError, InvalidRangeError, NothingThereError, StoreError

from lakebed_server.http.request import Call
from lakebed_server.http.responses import RETRY_AFTER, Reply, bodiless
from lakebed_server.s3.responses.xml import DECLARATION, XML, tag
from lakebed_server.s3.vocabulary import S3Error
from lakebed_server.vocabulary import NO_TRACEBACK, OUR_FAULT, Header, RequestError

log = logging.getLogger("lakebed.s3")

CODES: Final[dict[str, str]] = {
    "invalid_request": "InvalidArgument",
    "invalid_name": "InvalidArgument",
    "invalid_path": "InvalidURI",
    "invalid_ref": "InvalidArgument",
    "invalid_namespace": "InvalidArgument",
    "namespace_in_use": "BucketAlreadyExists",
    "namespace_not_empty": "BucketAlreadyExists",
    "request_too_large": "EntityTooLarge",
    "dirty_branch": "OperationAborted",
    "no_changes": "InvalidRequest",
    "no_merge_base": "InvalidRequest",
    "pull_closed": "InvalidRequest",
    "invalid_address": "InvalidRequest",
    "checksum_mismatch": "BadDigest",
    "invalid_part": "InvalidPart",
    "invalid_part_order": "InvalidPartOrder",
    "part_too_small": "EntityTooSmall",
    "part_too_large": "EntityTooLarge",
    "table_too_large": "EntityTooLarge",
    "unreadable_table": "InvalidRequest",
    "invalid_policy": "InvalidArgument",
    "unauthenticated": "AccessDenied",
    "permission_denied": "AccessDenied",
    "foreign_origin": "AccessDenied",
    "key_required": "AccessDenied",
    "protected_branch": "AccessDenied",
    "read_only_repository": "AccessDenied",
    "default_branch": "AccessDenied",
    "endpoint_not_found": "MethodNotAllowed",
    "repository_not_found": "NoSuchBucket",
    "repository_deleting": "NoSuchBucket",
    "branch_not_found": "NoSuchKey",
    "tag_not_found": "NoSuchKey",
    "commit_not_found": "NoSuchKey",
    "ref_not_found": "NoSuchKey",
    "object_not_found": "NoSuchKey",
    "workspace_not_found": "NoSuchKey",
    "rule_not_found": "InvalidRequest",
    "task_not_found": "InvalidRequest",
    "pull_not_found": "InvalidRequest",
    "review_not_found": "InvalidRequest",
    "comment_not_found": "InvalidRequest",
    "upload_not_found": "NoSuchUpload",
    "credentials_not_found": "InvalidAccessKeyId",
    "user_not_found": "InvalidRequest",
    "session_not_found": "InvalidRequest",
    "run_not_found": "InvalidRequest",
    "group_not_found": "InvalidRequest",
    "policy_not_found": "InvalidRequest",
    "membership_not_found": "InvalidRequest",
    "attachment_not_found": "InvalidRequest",
    "method_not_allowed": "MethodNotAllowed",
    "repository_exists": "BucketAlreadyOwnedByYou",
    "namespace_shared": "OperationAborted",
    "branch_exists": "OperationAborted",
    "tag_exists": "OperationAborted",
    "name_taken": "BucketAlreadyExists",
    "merge_conflict": "OperationAborted",
    "concurrent_commit": "OperationAborted",
    "source_moved": "OperationAborted",
    "not_mergeable": "OperationAborted",
    "dirty_overlap": "OperationAborted",
    "workspace_closed": "OperationAborted",
    "parent_required": "InvalidRequest",
    "task_ended": "InvalidRequest",
    "idempotency_mismatch": "InvalidRequest",
    "already_set_up": "InvalidRequest",
    "last_credential": "InvalidRequest",
    "already_exists": "InvalidRequest",
    "last_administrator": "InvalidRequest",
    "object_gone": "NoSuchKey",
    "precondition_failed": "PreconditionFailed",
    "hook_refused": "PreconditionFailed",
    "invalid_range": "InvalidRange",
    "too_many_attempts": "SlowDown",
    "throttled": "SlowDown",
    "login_throttled": "SlowDown",
    "overloaded": "SlowDown",
    "interrupted": "ServiceUnavailable",
    "stopping": "ServiceUnavailable",
    "internal": "InternalError",
    "corrupt_data": "InternalError",
    "outcome_unknown": "InternalError",
    "not_implemented": "NotImplemented",
    "store_unavailable": "ServiceUnavailable",
    "store_full": "StorageFull",
}
"""The S3 code of each kind of error."""


BY_CLASS: Final[dict[type[EngineError], str]] = {NothingThereError: "NoSuchKey"}
"""The S3 code of errors whose kind is less specific than S3's codes."""


def respond(error: Exception, call: Call) -> Reply:
    """The response to an error that a request raised. Its resource is the path, `/bucket/key`."""
    return error_reply(as_s3(error, call), call, call.path.decode("ascii", "replace"))


def as_s3(error: Exception, call: Call) -> S3Error:
    """Any error as an S3 error. Logs failures of the server."""
    if isinstance(error, S3Error):
        return error
    if isinstance(error, RequestError):
        return S3Error(CODES[error.kind], error.message, headers=error.headers)
    if isinstance(error, EngineError):
        return _of_engine(error, call)
    log.error("unexpected error", exc_info=error, extra={"request_id": call.request_id})
    return S3Error("InternalError", OUR_FAULT["internal"])


def _of_engine(error: EngineError, call: Call) -> S3Error:
    code = BY_CLASS.get(type(error)) or CODES[error.kind]
    if error.kind in OUR_FAULT:
        detail = f"{type(error).__name__}: {error.message}"
        trace = None if error.kind in NO_TRACEBACK else error
        log.error("%s: %s", error.kind, detail, exc_info=trace, extra={"request_id": call.request_id})
        message = error.public_message if isinstance(error, StoreError) else ""
        return S3Error(code, message or OUR_FAULT[error.kind])
    if error.kind == "invalid_path" and "at most" in error.message:
        code = "KeyTooLongError"
    if error.kind == "invalid_ref" and call.method in ("GET", "HEAD"):
        code = "NoSuchKey"  # tools may ask for any key
    headers: tuple[Header, ...] = ()
    if isinstance(error, InvalidRangeError) and error.size is not None:
        headers = ((b"content-range", b"bytes */%d" % error.size),)
    message = error.message
    if error.kind == "branch_not_found" and call.method not in ("GET", "HEAD"):
        message += "; only branches and workspaces can be written: tags and commits are read-only"
    return S3Error(code, message, headers=headers)


def error_reply(error: S3Error, call: Call, resource: str) -> Reply:
    """The response to an error. The answer to HEAD has no body: a header has the message."""
    headers = error.headers
    if error.status == 503 and not any(name == RETRY_AFTER[0] for name, _ in headers):
        headers = (*headers, RETRY_AFTER)
    if call.head:
        return bodiless(error.status, error.message, headers=headers)
    return Reply(error.status, (DECLARATION + error_xml(error, call, resource)).encode(), (XML, *headers))


def error_xml(error: S3Error, call: Call, resource: str) -> str:
    """The `Error` element, for an answer whose status was already sent."""
    details = "".join(tag(name, value) for name, value in error.details)
    return (
        f"<Error>{tag('Code', error.code)}{tag('Message', error.message)}{details}"
        f"{tag('Resource', resource)}{tag('RequestId', call.request_id)}<HostId>lakebed</HostId></Error>"
    )
