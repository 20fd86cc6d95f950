"""What a user needs to publish the changes of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lakebed_auth import Need, arn
from lakebed_auth.actions import Fs

from lakebed_server.http.authorization import allowed_paths, covers, refused, require_everything
from lakebed_server.http.request import Call

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
