"""What went wrong, for people and for scripts: an exit code, one or two plain sentences and the next step.

The codes are a promise (docs/cli.md): they never change their meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from lakebed import errors
from lakebed._values.wire import Subject


class ExitCode(IntEnum):
    """What the process ends with."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFLICT = 4
    NOTHING = 5
    DENIED = 6
    UNAVAILABLE = 7
    UNKNOWN = 8
    INTERRUPTED = 130
    PIPE = 141


@dataclass(frozen=True)
class Failure:
    """One failure as it is shown. `paths` are what it is about, when it is about several."""

    code: ExitCode
    message: str
    hint: str = ""
    kind: str = "unexpected"
    paths: tuple[str, ...] = ()
    more: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


_RULES: tuple[tuple[type[Exception], ExitCode, str], ...] = (
    # the first that fits; what is more special stands first
    (errors.ConfigurationError, ExitCode.USAGE, "`lakebed doctor` shows every setting and where it came from."),
    (errors.InvalidRequestError, ExitCode.USAGE, ""),
    (errors.NotFoundError, ExitCode.NOT_FOUND, ""),
    (errors.AlreadyExistsError, ExitCode.CONFLICT, ""),
    (
        errors.MergeConflictError,
        ExitCode.CONFLICT,
        "Nothing was changed. A merge takes --strategy, one side for all of these, and --resolve, one for some.",
    ),
    (
        errors.DirtyBranchError,
        ExitCode.CONFLICT,
        "Commit them with `lakebed commit`, or drop them with `lakebed branch reset`.",
    ),
    (errors.ConflictError, ExitCode.CONFLICT, "Nothing was changed."),
    (errors.PreconditionFailedError, ExitCode.CONFLICT, ""),
    (errors.WorkspaceClosedError, ExitCode.CONFLICT, "`lakebed workspace show` says what became of it."),
    (errors.NothingToCommitError, ExitCode.NOTHING, "--allow-empty makes a commit anyway."),
    (errors.AuthenticationError, ExitCode.DENIED, "`lakebed doctor` shows where the credentials came from."),
    (errors.PermissionDeniedError, ExitCode.DENIED, ""),
    (
        errors.ServerUnavailableError,
        ExitCode.UNAVAILABLE,
        "Is the server running? `lakebed serve` starts one; `lakebed doctor` shows the endpoint in use.",
    ),
    (errors.ThrottledError, ExitCode.UNAVAILABLE, "Nothing was changed; try again in a while."),
    (errors.OutcomeUnknownError, ExitCode.UNKNOWN, ""),
    (errors.ProtocolError, ExitCode.FAILED, "`lakebed doctor` shows the endpoint in use."),
)

_BY_KIND = {
    "repository_exists": "Choose another name, or take it as it is with --exist-ok.",
    "branch_exists": "Choose another name, or take it as it is with --exist-ok.",
    "tag_exists": "Choose another name, or take it as it is with --exist-ok; `lakebed tag delete` removes it.",
    "name_taken": "Choose another name.",
    "repository_not_found": "`lakebed repo list` shows what there is.",
    "branch_not_found": "`lakebed branch list {repository}` shows what there is.",
    "tag_not_found": "`lakebed tag list {repository}` shows what there is.",
    "ref_not_found": "`lakebed branch list {repository}` and `lakebed tag list {repository}` show what there is.",
    "object_not_found": "`lakebed fs ls` shows what there is.",
    "workspace_not_found": "`lakebed workspace list {repository}` shows what there is.",
}


def explain(error: Exception) -> Failure:
    """The exit code, sentence and next step for an error."""
    if isinstance(error, errors.LakebedError):
        return _explain_ours(error)
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        return Failure(ExitCode.FAILED, f"{error.strerror or error}{where}", kind="local_file")
    return Failure(
        ExitCode.FAILED, f"unexpected {type(error).__name__}: {error}", "Run it again with --debug for a traceback."
    )


def _explain_ours(error: errors.LakebedError) -> Failure:
    code, hint = ExitCode.FAILED, ""
    for kind, rule_code, rule_hint in _RULES:
        if isinstance(error, kind):
            code, hint = rule_code, rule_hint
            break
    if isinstance(error, errors.NotFoundError | errors.AlreadyExistsError):
        hint = _BY_KIND.get(error.kind, "").format(repository=error.repository or "REPO")
    if isinstance(error, errors.CommitStateUnknownError) and error.ref:
        where = f"lakebed://{error.repository}/{error.ref}"
        hint = f"Look for operation {error.operation_id} in `lakebed log --json {where}` before you repeat it."
    if isinstance(error, errors.ServerError) and code is ExitCode.FAILED and error.request_id:
        hint = f"The server's log has more under request id {error.request_id}."
    paths: tuple[str, ...] = ()
    extra: dict[str, Any] = {}
    if isinstance(error, errors.ConflictError):
        paths = error.paths
        extra["conflicts"] = [
            {"path": one.path, "base": one.base, "ours": one.ours, "theirs": one.theirs} for one in error.conflicts
        ]
    if isinstance(error, errors.PartialFailureError):
        paths = tuple(one.path for one in error.failures)
    more = isinstance(error, errors.ConflictError) and error.has_more
    return Failure(code, _plain(error), hint, error.kind, paths, more, extra)


def _plain(error: errors.LakebedError) -> str:
    """What the server said, without the name of the request, its status and a next step in Python: whoever types a verb
    knows what it was.
    """
    subject = Subject(error.repository, error.ref, error.path)
    said = error.message.removeprefix(f"{error.operation} on {subject} failed: ")
    before, status, _ = said.rpartition(f" (HTTP {error.status})")
    return before if status else said
