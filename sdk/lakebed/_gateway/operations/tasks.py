"""Calls about tasks: commits and merges that the server runs in the background. With a key, a repeat has no effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lakebed._gateway import convert, error_answers
from lakebed._gateway._bodies import commit_body, merge_body
from lakebed._gateway.calls import call, reads
from lakebed._values.wire import Call, Subject, in_words
from lakebed.errors import ConflictError, HookRefusedError, LakebedError, ServerError
from lakebed.model import TaskStatus

if TYPE_CHECKING:
    from lakebed_api.models import Error
    from lakebed_api.types import Unset

WAIT = 20
"""Seconds for which the server waits for the end of the task before it responds."""


def commit(
    repository: str,
    branch: str,
    message: str,
    metadata: Mapping[str, str],
    *,
    date: int | None,
    allow_empty: bool,
    key: str,
    author: str = "",
    wait: int = WAIT,
) -> Call[TaskStatus]:
    """Start a commit, or return the task that was started with this key."""
    from lakebed_api.api.commits import commit_async

    body = commit_body(message, metadata, date, allow_empty=allow_empty, author=author)
    kwargs = commit_async._get_kwargs(repository, branch, body=body, wait=wait, idempotency_key=key)
    return _call("commitAsync", kwargs, Subject(repository, branch), 202)


def merge(
    repository: str,
    source: str,
    destination: str,
    *,
    message: str,
    metadata: Mapping[str, str],
    strategy: str,
    squash: bool,
    allow_empty: bool,
    resolve: Sequence[tuple[str, str]],
    author: str,
    key: str,
    wait: int = WAIT,
) -> Call[TaskStatus]:
    """Start a merge, or return the task that was started with this key."""
    from lakebed_api.api.merges import merge_into_branch_async

    body = merge_body(message, metadata, strategy, resolve, squash=squash, allow_empty=allow_empty, author=author)
    kwargs = merge_into_branch_async._get_kwargs(
        repository, source, destination, body=body, wait=wait, idempotency_key=key
    )
    return _call("mergeIntoBranchAsync", kwargs, Subject(repository, destination), 202)


def get(repository: str, ref: str, task_id: str, *, wait: int = WAIT) -> Call[TaskStatus]:
    """Return the progress of a task."""
    from lakebed_api.api.commits import get_task

    return _call("getTask", get_task._get_kwargs(repository, task_id, wait=wait), Subject(repository, ref), 200)


def _call(operation: str, kwargs: Mapping[str, object], subject: Subject, success: int) -> Call[TaskStatus]:
    from lakebed_api.models import Task

    def read(task: Task) -> TaskStatus:
        return TaskStatus(
            id=convert.text(task.id),
            operation=convert.text(task.operation),
            completed=bool(task.completed),
            updated=task.update_time,
            commit=convert.commit(task.commit) if task.commit else None,
            error=failure(task.error, operation, subject),
        )

    return call(operation, kwargs, reads(Task.from_dict, read), subject, success=success, repeat="safe", slow=True)


def failure(error: Error | Unset, operation: str, subject: Subject) -> LakebedError | None:
    """Return the error of a failed task, equal to the error of a synchronous request. None when the task has not
    failed.
    """
    if not error:
        return None
    kind, body, reason = convert.text(error.kind, ""), error.to_dict(), convert.text(error.message)
    failed = error_answers.BY_KIND.get(kind, ServerError)(
        f"cannot {in_words(operation.removesuffix('Async'))} {subject}: {reason}",
        kind=kind,
        operation=operation,
        repository=subject.repository,
        ref=subject.ref,
    )
    failed.reason = reason
    if isinstance(failed, HookRefusedError):
        failed.run_id = convert.text(error.run_id, "")
    if isinstance(failed, ConflictError):
        failed.with_conflicts(error_answers.conflicts_of(body), bool(body.get("conflicts_has_more")))
    return failed
