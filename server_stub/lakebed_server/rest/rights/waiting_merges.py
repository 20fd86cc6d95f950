"""The right of a user to a merge that the server makes later (`auto_merge` of a pull request)."""

from __future__ import annotations

from lakebed_auth import AllOf, Context, Need, arn
from lakebed_auth.actions import Fs, Pr
from lakebed_engine.vocabulary.pulls import Pull

from lakebed_server.access.permissions import Permissions
from lakebed_server.vocabulary import RequestError


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
