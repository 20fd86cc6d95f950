"""Converts a response of the server to an error: reads the status, then the content type, then the body.

Only this module chooses error classes: by `kind` when the server sends a known one, else by status. A body may be
anything, whatever the status says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import unquote

from lakebed import errors
from lakebed._gateway.next_steps import next_step
from lakebed._values.wire import Answer, Call
from lakebed.errors import Conflict, LakebedError, ProtocolError

BY_KIND: dict[str, type[LakebedError]] = {
    "invalid_request": errors.InvalidRequestError,
    "invalid_name": errors.InvalidRequestError,
    "invalid_path": errors.InvalidRequestError,
    "invalid_ref": errors.InvalidRequestError,
    "invalid_namespace": errors.InvalidRequestError,
    "namespace_in_use": errors.AlreadyExistsError,
    "namespace_not_empty": errors.AlreadyExistsError,
    "request_too_large": errors.InvalidRequestError,
    "dirty_branch": errors.DirtyBranchError,
    "no_changes": errors.NothingToCommitError,
    "no_merge_base": errors.InvalidRequestError,
    "pull_closed": errors.ConflictError,
    "invalid_address": errors.InvalidRequestError,
    "checksum_mismatch": errors.CorruptTransferError,
    "invalid_part": errors.InvalidRequestError,
    "invalid_part_order": errors.InvalidRequestError,
    "part_too_small": errors.InvalidRequestError,
    "part_too_large": errors.InvalidRequestError,
    "invalid_policy": errors.InvalidRequestError,
    "unauthenticated": errors.AuthenticationError,
    "permission_denied": errors.PermissionDeniedError,
    "foreign_origin": errors.PermissionDeniedError,
    "key_required": errors.PermissionDeniedError,
    "protected_branch": errors.PermissionDeniedError,
    "read_only_repository": errors.PermissionDeniedError,
    "default_branch": errors.PermissionDeniedError,
    "endpoint_not_found": errors.UnsupportedOperationError,
    "repository_not_found": errors.NotFoundError,
    "repository_deleting": errors.NotFoundError,
    "branch_not_found": errors.NotFoundError,
    "tag_not_found": errors.NotFoundError,
    "commit_not_found": errors.NotFoundError,
    "ref_not_found": errors.NotFoundError,
    "object_not_found": errors.ObjectNotFoundError,
    "workspace_not_found": errors.NotFoundError,
    "rule_not_found": errors.NotFoundError,
    "task_not_found": errors.NotFoundError,
    "pull_not_found": errors.NotFoundError,
    "review_not_found": errors.NotFoundError,
    "comment_not_found": errors.NotFoundError,
    "upload_not_found": errors.NotFoundError,
    "credentials_not_found": errors.NotFoundError,
    "user_not_found": errors.NotFoundError,
    "group_not_found": errors.NotFoundError,
    "policy_not_found": errors.NotFoundError,
    "membership_not_found": errors.NotFoundError,
    "attachment_not_found": errors.NotFoundError,
    "session_not_found": errors.NotFoundError,
    "run_not_found": errors.RunNotFoundError,
    "method_not_allowed": errors.UnsupportedOperationError,
    "repository_exists": errors.AlreadyExistsError,
    "namespace_shared": errors.PreconditionFailedError,
    "branch_exists": errors.AlreadyExistsError,
    "tag_exists": errors.AlreadyExistsError,
    "name_taken": errors.AlreadyExistsError,
    "merge_conflict": errors.MergeConflictError,
    "concurrent_commit": errors.ConcurrentCommitError,
    "source_moved": errors.ConflictError,
    "not_mergeable": errors.ConflictError,
    "dirty_overlap": errors.DirtyBranchError,
    "workspace_closed": errors.WorkspaceClosedError,
    "parent_required": errors.InvalidRequestError,
    "task_ended": errors.ConflictError,
    "idempotency_mismatch": errors.ConflictError,
    "already_set_up": errors.AlreadyExistsError,
    "last_credential": errors.ConflictError,
    "already_exists": errors.AlreadyExistsError,
    "last_administrator": errors.ConflictError,
    "object_gone": errors.ObjectGoneError,
    "table_too_large": errors.InvalidRequestError,
    "unreadable_table": errors.TableFormatError,
    "precondition_failed": errors.PreconditionFailedError,
    "hook_refused": errors.HookRefusedError,
    "invalid_range": errors.InvalidRequestError,
    "too_many_attempts": errors.ThrottledError,
    "throttled": errors.ThrottledError,
    "login_throttled": errors.ThrottledError,
    "internal": errors.ServerError,
    "corrupt_data": errors.CorruptDataError,
    "outcome_unknown": errors.OutcomeUnknownError,
    "not_implemented": errors.UnsupportedOperationError,
    "store_unavailable": errors.ServerUnavailableError,
    "overloaded": errors.ThrottledError,
    "interrupted": errors.OutcomeUnknownError,
    "stopping": errors.ServerUnavailableError,
    "store_full": errors.StoreFullError,
}

BY_STATUS: dict[int, type[LakebedError]] = {
    400: errors.InvalidRequestError,
    401: errors.AuthenticationError,
    403: errors.PermissionDeniedError,
    404: errors.NotFoundError,
    405: errors.UnsupportedOperationError,
    409: errors.ConflictError,
    410: errors.ObjectGoneError,
    412: errors.PreconditionFailedError,
    413: errors.InvalidRequestError,
    416: errors.InvalidRequestError,
    422: errors.InvalidRequestError,
    420: errors.ThrottledError,
    429: errors.ThrottledError,
    501: errors.UnsupportedOperationError,
    502: errors.ServerUnavailableError,
    503: errors.ServerUnavailableError,
    504: errors.ServerUnavailableError,
}

_CLIPPED = 300
_SHORT = 100
_FIELD = re.compile(r"^(body|parameter) ([\w.]+)(?:\[\d+\])?: ")
"""The beginning of the server's messages about one field of a request."""

_CONTRACT = re.compile(
    r"^commit: no changes: |^error creating repository: not unique: |(?<=^branch already exists: )not unique: "
    r"|(?<=^tag already exists: )not unique: "
)
"""First words that clients of the shared API expect. In the SDK, `cannot commit NAME` has the same meaning."""

_ARGUMENTS = {"parent_number": "parent", "amount": "limit", "source_ref": "source"}
"""Fields of the REST API whose arguments in Python have another name."""


def error_of(call: Call[Any], answer: Answer) -> LakebedError:
    """The error for a response. Accepts any status and any body."""
    body = _error_body(answer)
    kind = body.get("kind") if isinstance(body.get("kind"), str) else None
    sent = body.get("message")
    is_message = isinstance(sent, str) and sent and answer.status >= 400
    reason = _reason(call, str(sent)) if is_message else _foreign(answer)
    cls = _class_of(answer.status, kind, call)
    run_id = body.get("run_id") if isinstance(body.get("run_id"), str) else ""
    step = next_step(call, kind, run_id or "")
    subject = call.subject if call.subject.repository else f"on {call.subject}"
    sentence = f"cannot {call.action} {subject}: {reason}" + (f"; {step}" if step else "")
    error = cls(sentence, kind=kind, **context(call, answer, body))
    error.reason = reason
    if isinstance(error, errors.ThrottledError):
        error.retry_after = retry_after(answer.headers)
    if isinstance(error, errors.HookRefusedError):
        error.run_id = run_id or ""
    if isinstance(error, errors.ConflictError):
        error.with_conflicts(conflicts_of(body), bool(body.get("conflicts_has_more")))
    return error


def _class_of(status: int, kind: str | None, call: Call[Any]) -> type[LakebedError]:
    if kind in BY_KIND:
        return BY_KIND[kind]
    if status == 409:  # servers without kinds: creation can only collide, a merge can only conflict
        creating = call.operation.startswith("create")
        merging = call.operation == "mergeIntoBranch"
        return errors.AlreadyExistsError if creating else errors.MergeConflictError if merging else BY_STATUS[409]
    if status == 404 and call.subject.path is not None:
        return errors.ObjectNotFoundError
    if status in BY_STATUS:
        return BY_STATUS[status]
    if 400 <= status < 500:
        return errors.InvalidRequestError
    return errors.ServerError if status >= 500 else ProtocolError


def _foreign(answer: Answer) -> str:
    """Describes a response that is not an error of a Lakebed server: a proxy may have sent it."""
    doubt = "; is it a Lakebed server?" if 200 <= answer.status < 400 else ""
    text = clip(answer)
    return f"the endpoint returned the status {answer.status}{doubt}" + (f": {text}" if text else " and no text")


def _reason(call: Call[Any], message: str) -> str:
    """The cause, without the names and the fixed first words of the REST API."""
    return _FIELD.sub(lambda found: _field(call, found[1], found[2]), _CONTRACT.sub("", message))


def _field(call: Call[Any], place: str, name: str) -> str:
    """A field of a request as a caller of the SDK knows it, with its value when that is short text."""
    sent = call.params if place == "parameter" else call.json
    value = sent.get(name) if isinstance(sent, Mapping) else None
    shown = f" {value!r}" if isinstance(value, str) and len(value) <= _SHORT else ""
    return f"{_ARGUMENTS.get(name, name)}{shown}: "


def context(call: Call[Any], answer: Answer, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    said = (body or {}).get("request_id")
    request_id = answer.headers.get("x-request-id") or (said if isinstance(said, str) else None)
    subject = call.subject
    return {
        "status": answer.status,
        "request_id": request_id,
        "operation": call.operation,
        "repository": subject.repository,
        "ref": subject.ref,
        "path": subject.path,
    }


def _error_body(answer: Answer) -> Mapping[str, Any]:
    if "x-lakebed-error" in answer.headers:  # the response to HEAD has no body
        kind = answer.headers.get("x-lakebed-error-kind")
        return {"kind": kind, "message": unquote(answer.headers["x-lakebed-error"])}
    if "json" not in answer.headers.get("content-type", "").lower():
        return {}
    try:
        body = answer.json()
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def clip(answer: Answer) -> str:
    text = answer.content[: 4 * _CLIPPED].decode("utf-8", "replace").strip()
    return " ".join(text.split())[:_CLIPPED]


def conflicts_of(body: Mapping[str, Any]) -> list[Conflict]:
    rows = body.get("conflicts")
    return [
        Conflict(row["path"], *(_text_or_none(row.get(side)) for side in ("base", "ours", "theirs")))
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict) and isinstance(row.get("path"), str)
    ]


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After header, which is a number or a date."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
