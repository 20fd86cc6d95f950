"""What a user needs to follow a task, to publish a workspace, and for a merge that the server makes later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakebed_auth import AllOf, Context, Need, arn
from lakebed_auth.actions import Fs, Pr
from lakebed_engine.vocabulary.errors import NotFoundError
from lakebed_engine.vocabulary.pulls import Pull
from lakebed_engine.vocabulary.tasks import CHERRY_PICK, COMMIT, IMPORT, MERGE, REVERT

from lakebed_server.access.permissions import Permissions
from lakebed_server.http.authorization import allowed_paths, covers, plain_branch, refused, require_everything
from lakebed_server.http.request import Call
from lakebed_server.vocabulary import RequestError

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


_PAGE: Final = 1000


async def require_changes(call: Call, repository: str, workspace: str, replaced: Sequence[str] = ()) -> None:
    """Raise RequestError or ObjectRefusedError (403) unless the caller may make these changes to the branch.

    Needs CreateCommit on the branch, and WriteObject or DeleteObject on each path that the workspace changes. Reads the
    changes only if the policies do not allow everything. `replaced`: prefixes below which objects may be deleted.
    """
    if call.rights is None:
        return
    found = await call.engine.workspaces.get(repository, workspace)
    call.rights = call.rights.at(found.branch)
    call.rights.require(Need(Fs.CREATE_COMMIT, arn.branch(repository, found.branch)))
    for prefix in replaced:
        require_everything(call, Fs.DELETE_OBJECT, repository, prefix)
    if covers(call, Fs.WRITE_OBJECT, repository) and covers(call, Fs.DELETE_OBJECT, repository):
        return
    after, has_more = "", True
    while has_more:
        page = await call.engine.branches.diff(
            repository, found.name, after=after, amount=_PAGE, prefix="", delimiter=""
        )
        for action, types in ((Fs.WRITE_OBJECT, ("added", "changed")), (Fs.DELETE_OBJECT, ("removed",))):
            paths = [row.path for row in page.items if row.type in types]
            for path, allowed in zip(paths, allowed_paths(call, action, repository, paths), strict=True):
                if not allowed:
                    raise refused(call, action, repository, path)
        has_more = page.has_more
        after = page.items[-1].path if page.items else after


async def may_merge(permissions: Permissions | None, repository: str, pull: Pull) -> bool:
    """Whether the user who asked for the merge still has the permissions of a merge."""
    if permissions is None:
        return True
    if pull.auto_merge is None:
        return False
    try:
        known = await permissions.of(pull.auto_merge.user)
    except RequestError:  # the user no longer exists, or is disabled
        return False
    branch, of_repository = pull.destination_branch, arn.repository(repository)
    target = Need(Fs.CREATE_COMMIT, arn.branch(repository, branch))
    needs = AllOf(target, Need(Pr.WRITE, of_repository), Need(Fs.READ_COMMIT, of_repository))
    return known.policies.check(needs, Context(branch=branch, ref=branch)) is None
