# Generated from sdk/lakebed/_async/commits/recover.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Recovers commits whose response was lost: as a task with the same key, or by their operation id.

Commits and merges have an idempotency key, so the SDK can send the same request as a task. The first request may have
committed, failed, or may still be running: exactly one of the two commits. This also survives a proxy that ends long
requests.

If the task gives no result (the server does not answer, or does not accept a key for this call), the SDK searches the
first-parent history of the branch for the random operation id in the commit metadata. It searches several times,
because the request may still be running. If it finds no commit, the outcome is unknown, because the commit may still
happen later, and the error says so.

A flow starts a task and polls until it has ended. Lost requests are sent again; the key ensures that nothing happens
twice.
"""

from __future__ import annotations

from uuid import uuid4

from lakebed._compat.sync import sleep
from lakebed._gateway.operations import commits, tasks
from lakebed._sync.http.target import Target
from lakebed._values.wire import Call
from lakebed._values.workspaces import SEARCHED
from lakebed.errors import (
    CommitStateUnknownError,
    InvalidRequestError,
    LakebedError,
    NotFoundError,
    OutcomeUnknownError,
    ProtocolError,
)
from lakebed.model import Commit, TaskStatus


def new_operation_id() -> str:
    """A unique operation id."""
    return uuid4().hex


def find(target: Target, operation_id: str, limit: int) -> Commit | None:
    """Find a commit by its operation id, along the first parents from the branch's head."""
    after: str | None = ""
    left = limit
    while after is not None and left > 0:
        call = commits.log(target.repository, target.ref, after=after, amount=min(left, 1000), first_parent=True)
        page = target.transport.call(call)
        for commit in page.items:
            if commit.operation_id == operation_id:
                return commit
        left -= len(page.items)
        after = page.after
    return None


def go_on(
    target: Target,
    begin: Call[TaskStatus],
    operation_id: str,
    lost: OutcomeUnknownError,
    *,
    keyed: bool,
) -> Commit:
    """The commit of a call whose response was lost, by a task with its key. Raises the error of the call. `keyed`: the
    caller knows the key.

    Raises CommitStateUnknownError if the server does not know the outcome either.
    """
    try:
        state = over(target, begin)
    except LakebedError:  # the error is about this request, not about the commit
        return settle(target, operation_id, lost, keyed=keyed)
    if isinstance(state.error, OutcomeUnknownError):
        return settle(target, operation_id, lost, keyed=keyed)
    return made(target, state)


def settle(
    target: Target,
    operation_id: str,
    lost: OutcomeUnknownError,
    *,
    keyed: bool = False,
) -> Commit:
    """Find the commit whose response was lost. Raises CommitStateUnknownError if it cannot be found."""
    trouble = ""
    for wait in target.transport.policy.settle_waits:
        sleep(wait)
        try:
            commit = find(target, operation_id, SEARCHED)
        except NotFoundError as error:
            trouble = f"; the last check failed: {error.message}"
            break  # the branch does not exist: another search would find nothing
        except LakebedError as error:
            trouble = f"; the last check failed: {error.message}"
            continue
        if commit is not None:
            return commit
        trouble = ""
    advice = (
        "The same call with the same key, within seven days, makes one commit"
        if keyed
        else f'Do not repeat it without a check; ask later with branch.find_operation("{operation_id}")'
    )
    failure = CommitStateUnknownError(
        f"the change of {target} may or may not have happened: its response was lost. It is not in the branch's "
        f"history now, but can still arrive{trouble}. {advice}",
        status=lost.status,
        request_id=lost.request_id,
        operation=lost.operation,
        repository=target.repository,
        ref=target.ref,
    )
    failure.operation_id = operation_id
    raise failure from lost


def over(target: Target, begin: Call[TaskStatus]) -> TaskStatus:
    """Wait until a task has ended, and return it."""
    state = target.transport.call(begin)
    return state if state.completed else ended(target, state.id)


def ended(target: Target, task_id: str) -> TaskStatus:
    """Wait until a started task has ended, and return it. Uses long polling of about twenty seconds."""
    while True:
        state = target.transport.call(tasks.get(target.repository, target.ref, task_id))
        if state.completed:
            return state


def made(target: Target, state: TaskStatus) -> Commit:
    """The commit of an ended task. Raises the error of a failed task."""
    if state.commit is not None:
        return state.commit
    if state.operation in ("dump", "restore") and state.error is None:
        raise InvalidRequestError(
            f"task {state.id} of {target.repository} is a {state.operation}, which makes no commit: "
            f"`repo.{state.operation}_task` waits for it, and so does `lakebed repo {state.operation} --task`",
            repository=target.repository,
        )
    raise state.error or ProtocolError(
        f"task {state.id} of {target.repository} ended without a commit and without an error",
        repository=target.repository,
        ref=target.ref,
    )
