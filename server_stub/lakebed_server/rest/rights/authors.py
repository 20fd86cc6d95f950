"""The rights to commit for another author, and to change history although hooks refuse it (`force`)."""

from __future__ import annotations

from typing import Final

from lakebed_auth import Need, arn
from lakebed_auth.actions import Branches, Fs
from msgspec import UNSET, UnsetType

from lakebed_server.http.authorization import plain_branch
from lakebed_server.http.request import Call
from lakebed_server.rest import serializers
from lakebed_server.vocabulary import bad_request

COMMITTED_BY: Final = "lakebed.committed_by"
"""The key in the metadata of a commit for another user. Its value is the user who sent the request."""


async def commit_as(call: Call, repository: str, branch: str, author: str | UnsetType) -> None:
    """Let commits of this request name another user as the committer.

    Raises RequestError: 403 without `fs:CommitAs` on the branch, 404 without such a user. With `auth.mode: single` any
    name is accepted, because there are no users.
    """
    name = serializers.text(author)
    if name in ("", call.user):
        return
    if call.rights is not None:
        own = plain_branch(branch)
        call.rights.require(Need(Fs.COMMIT_AS, arn.branch(repository, own), branch=own, ref=own))
    call.committed_by = call.committer
    call.committer = name
    if call.services.permissions is not None:
        user = await call.services.permissions.directory.user(name)
        call.committer = user.email or user.id


async def commit_workspace_as(call: Call, repository: str, workspace: str, author: str | UnsetType) -> None:
    """As `commit_as`, for the commit of a workspace to its branch."""
    if author is not UNSET:
        branch = (await call.engine.workspaces.get(repository, workspace)).branch
        await commit_as(call, repository, branch, author)


def metadata(call: Call, sent: dict[str, str] | UnsetType) -> dict[str, str]:
    """The metadata of a commit. Raises RequestError (400) if the client sends the key that the server sets."""
    given = {} if sent is UNSET else sent
    if COMMITTED_BY in given:
        raise bad_request(f"body metadata: the server sets {COMMITTED_BY!r} in a commit for another user: leave it out")
    return {**given, COMMITTED_BY: call.committed_by} if call.committed_by else given


def may_bypass(call: Call, repository: str) -> bool:
    """Whether the caller may bypass the hooks of a repository. The permissions of the request are known."""
    if call.rights is None:
        return True
    need = Need(Branches.SET_PROTECTION_RULES, arn.repository(repository))
    return call.rights.policies.check(need, call.rights.context) is None
