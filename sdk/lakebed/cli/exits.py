"""An error for people and for scripts: an exit code, one or two sentences and the next step.

The codes never change their meaning (docs/cli.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from lakebed import errors
from lakebed._http import trust
from lakebed._values.ingest import EmptySourceError


class ExitCode(IntEnum):
    """The exit code of the process."""

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
    """One failure as it is shown. `paths` lists the paths that it concerns, when there are several."""

    code: ExitCode
    message: str
    hint: str = ""
    kind: str = "unexpected"
    paths: tuple[str, ...] = ()
    more: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


_RULES: tuple[tuple[type[Exception], ExitCode, str], ...] = (
    # the first that fits: subclasses come before their parents
    (errors.ConfigurationError, ExitCode.USAGE, "`lakebed doctor` shows every setting and where it came from."),
    (EmptySourceError, ExitCode.USAGE, "--allow-empty-source removes everything. Check the URI first."),
    (errors.InvalidRequestError, ExitCode.USAGE, ""),
    (errors.NotFoundError, ExitCode.NOT_FOUND, ""),
    (errors.AlreadyExistsError, ExitCode.CONFLICT, ""),
    (
        errors.MergeConflictError,
        ExitCode.CONFLICT,
        "Nothing was changed. For a merge, --strategy chooses one side for all of these, and --resolve for some.",
    ),
    (
        errors.DirtyBranchError,
        ExitCode.CONFLICT,
        "Commit them with `lakebed commit`, or drop them with `lakebed branch reset`.",
    ),
    (errors.ConflictError, ExitCode.CONFLICT, "Nothing was changed."),
    (errors.HookRefusedError, ExitCode.CONFLICT, "Nothing was changed. See `lakebed hooks runs`."),
    (errors.PreconditionFailedError, ExitCode.CONFLICT, ""),
    (errors.WorkspaceClosedError, ExitCode.CONFLICT, "`lakebed workspace show` shows its state."),
    (errors.NothingToCommitError, ExitCode.NOTHING, "--allow-empty makes a commit anyway."),
    (errors.AuthenticationError, ExitCode.DENIED, "`lakebed doctor` shows where the credentials came from."),
    (errors.PermissionDeniedError, ExitCode.DENIED, ""),
    (
        errors.ServerUnavailableError,
        ExitCode.UNAVAILABLE,
        "Is the server running? `lakebed serve` starts one; `lakebed doctor` shows the endpoint in use.",
    ),
    (errors.ThrottledError, ExitCode.UNAVAILABLE, "Nothing was changed; try again later."),
    (errors.OutcomeUnknownError, ExitCode.UNKNOWN, ""),
    (errors.ProtocolError, ExitCode.FAILED, "`lakebed doctor` shows the endpoint in use."),
)

_BY_KIND = {
    "repository_exists": "Choose another name, or pass --exist-ok to use it as it is.",
    "branch_exists": "Choose another name, or pass --exist-ok to use it as it is.",
    "tag_exists": "Choose another name; `lakebed tag delete` removes the tag.",
    "name_taken": "Choose another name.",
    "repository_not_found": "See `lakebed repo list`.",
    "branch_not_found": "See `lakebed branch list {repository}`.",
    "tag_not_found": "See `lakebed tag list {repository}`.",
    "ref_not_found": "See `lakebed branch list {repository}` and `lakebed tag list {repository}`.",
    "object_not_found": "See `lakebed fs ls`.",
    "workspace_not_found": "See `lakebed workspace list {repository}`.",
    "run_not_found": "See `lakebed hooks runs {repository}` and `lakebed hooks deliveries {repository}`.",
    "pull_not_found": "See `lakebed pr list {repository}`.",
    "pull_closed": "`lakebed pr show` shows its state.",
    "not_mergeable": "`lakebed pr show` shows what is missing.",
    "user_not_found": "See `lakebed user list`.",
    "group_not_found": "See `lakebed group list`.",
    "policy_not_found": "See `lakebed policy list`.",
    "membership_not_found": "See `lakebed group members`.",
    "attachment_not_found": "See `lakebed user show` and `lakebed group show`.",
    "already_exists": "Nothing was changed.",
    "namespace_not_empty": "Choose an empty one, or pass --allow-non-empty to keep the objects that are there.",
    "spark_missing": "--local runs it without Spark.",
    "parent_required": "Pass --parent 1 for the first parent.",
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
    extra: dict[str, Any] = {}
    for kind, rule_code, rule_hint in _RULES:
        if isinstance(error, kind):
            code, hint = rule_code, rule_hint
            break
    if error.kind in _BY_KIND:
        hint = _BY_KIND[error.kind].format(repository=error.repository or "REPO")
    if isinstance(error, errors.NotFoundError) and error.suggestions:
        hint = f"Did you mean {' or '.join(map(repr, error.suggestions))}? {hint}".rstrip()
        extra["suggestions"] = list(error.suggestions)
    if trust.explained(error.reason):  # the server runs: the certificate or the scheme is wrong
        hint = "`lakebed doctor` shows the endpoint in use."
    if isinstance(error, errors.HookRefusedError) and error.run_id:
        hint = (
            f"Nothing was changed. `lakebed hooks show {error.repository} {error.run_id}` shows what the hooks found."
        )
        extra["run_id"] = error.run_id
    if isinstance(error, errors.CommitStateUnknownError) and error.ref:
        where = f"lakebed://{error.repository}/{error.ref}"
        hint = f"Search for operation {error.operation_id} in `lakebed log --json {where}` before you repeat it."
    if isinstance(error, errors.ServerError) and code is ExitCode.FAILED and error.request_id:
        hint = f"The server's log has more under request id {error.request_id}."
    paths: tuple[str, ...] = ()
    if isinstance(error, errors.ConflictError):
        paths = error.paths
        extra["conflicts"] = [
            {"path": one.path, "base": one.base, "ours": one.ours, "theirs": one.theirs} for one in error.conflicts
        ]
    if isinstance(error, errors.PartialFailureError):
        paths = tuple(one.path for one in error.failures)
    more = isinstance(error, errors.ConflictError) and error.has_more
    return Failure(code, error.reason, hint, error.kind, paths, more, extra)
