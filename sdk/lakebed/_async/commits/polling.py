"""Tasks as flows: start a task and poll until it has ended. Lost requests are sent again; the key ensures that nothing
happens twice.
"""

from __future__ import annotations

from lakebed._async.http.target import Target
from lakebed._gateway.operations import tasks
from lakebed._values.wire import Call
from lakebed.errors import InvalidRequestError, ProtocolError
from lakebed.model import Commit, TaskStatus


async def over(target: Target, begin: Call[TaskStatus]) -> TaskStatus:
    """Wait until a task has ended, and return it."""
    state = await target.transport.call(begin)
    return state if state.completed else await ended(target, state.id)


async def ended(target: Target, task_id: str) -> TaskStatus:
    """Wait until a started task has ended, and return it. Uses long polling of about twenty seconds."""
    while True:
        state = await target.transport.call(tasks.get(target.repository, target.ref, task_id))
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
