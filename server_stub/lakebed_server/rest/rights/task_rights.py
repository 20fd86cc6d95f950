"""What a user needs to read the progress of a task."""

from __future__ import annotations

from typing import Final

from lakebed_auth import Need, arn
from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.errors import NotFoundError
from lakebed_engine.vocabulary.tasks import CHERRY_PICK, COMMIT, IMPORT, MERGE, REVERT

from lakebed_server.http.authorization import plain_branch
from lakebed_server.http.request import Call

_OF_BRANCH: Final = frozenset((COMMIT, MERGE, REVERT, CHERRY_PICK, IMPORT))
"""The kinds of tasks whose target is a branch."""


async def require_reader(call: Call, repository: str, task_id: str) -> None:
    """Raise RequestError (403) unless the caller began the task, or may read its branch.

    A task of no branch and an unknown task need the right to read every branch.
    """
    if call.rights is None:
        return
    needed = Need(Fs.READ_BRANCH, arn.branch(repository, "*"))
    try:
        task, _ = await call.engine.tasks.get(repository, task_id)
    except NotFoundError:
        pass  # a caller without the right does not learn this
    else:
        if task.user == call.user and not call.limits.policies:
            return
        if task.what in _OF_BRANCH:
            branch = plain_branch(task.target)
            needed = Need(Fs.READ_BRANCH, arn.branch(repository, branch), branch=branch, ref=branch)
    call.rights.require(needed)
