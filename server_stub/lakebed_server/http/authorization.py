"""Checks the permissions of a request, and of the paths that a handler finds.

With `auth.mode: single` everything is allowed, because every user is the administrator. Only the policy of an access
key still restricts what that key may do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lakebed_auth import Context, Need, arn
from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.errors import EngineError, NotFoundError

from lakebed_server.access.asked import Asked, Row
from lakebed_server.access.permissions import Known, Rights, narrowed
from lakebed_server.access_history.recorder import MOST_ROWS
from lakebed_server.http.request import Call
from lakebed_server.vocabulary import RequestError


async def authorize(call: Call, row: Row, repository: str, *request: object) -> None:
    """Raise RequestError (401, 403) unless the caller may do what a request asks for. Sets `call.rights`.

    `request`: the arguments of the function of the row.
    """
    permissions = call.services.permissions
    if permissions is None and not call.limits.policies:
        return
    known = None if permissions is None else await permissions.of(call.user)
    if known is None or call.limits.policies:
        known = narrowed(known, call.user, call.limits.policies)
    call.committer = known.user.email or known.user.id
    rights = known.in_every_context
    if rights is not None and row.actions and rights.policies.always_allows(row.actions, repository):
        call.rights = rights
    else:
        await _decide(call, known, row.asked(*request), repository)


async def _decide(call: Call, known: Known, asked: Asked, repository: str) -> None:
    """Raise RequestError (403) unless the policies allow what a request asks for. Sets `call.rights`."""
    spares = not call.limits.policies  # such a key needs permissions also for what belongs to its user
    branch, spared = plain_branch(asked.branch), spares and asked.owner == call.user
    if asked.workspace and (asked.spares_creator or known.asks_branch):
        workspace = await call.engine.workspaces.get(repository, asked.workspace)
        branch, spared = workspace.branch, spares and asked.spares_creator and workspace.creator == call.user
    elif asked.ref and not branch and known.asks_branch:
        branch = await _branch_of(call, repository, asked.ref)
    context = Context(
        source_ip=call.client_address or None, branch=branch, ref=asked.ref or asked.branch, source=call.source
    )
    call.rights = rights = Rights(known.policies, context, known.own)
    if not spared:
        rights.require(asked.needs)
    if asked.source is not None:
        source = asked.source
        read_from = await _branch_of(call, source.repository, source.ref) if known.asks_branch else ""
        resource = arn.object_(source.repository, source.path)
        rights.require(Need(Fs.READ_OBJECT, resource, branch=read_from, ref=source.ref))
    for each in asked.each:
        require_paths(call, each.action, each.repository, each.paths)
    for below in asked.everything:
        require_everything(call, below.action, below.repository, below.prefix)


def allowed_paths(call: Call, action: str, repository: str, paths: Sequence[str]) -> list[bool]:
    """For each path, whether the caller may do this to its object."""
    note(call, paths)
    return may_address(call, action, repository, paths)


def may_address(call: Call, action: str, repository: str, paths: Sequence[str]) -> list[bool]:
    """As `allowed_paths`, for a request that is not about each of these objects, but may give their addresses."""
    if call.rights is None:
        return [True] * len(paths)
    return call.rights.allowed(action, (arn.object_(repository, path) for path in paths))


def require_paths(call: Call, action: str, repository: str, paths: Iterable[str]) -> None:
    """Raise RequestError (403) unless the caller may do this to the objects at all paths."""
    paths = list(paths)
    note(call, paths)
    if call.rights is not None:
        for path in paths:
            call.rights.require(Need(action, arn.object_(repository, path)))


def note(call: Call, paths: Sequence[str]) -> None:
    """Note the paths of many objects for the access history, at most as many as that keeps in memory."""
    if call.services.history is not None and len(call.accessed.paths) < MOST_ROWS:
        call.accessed.paths += paths


def note_addresses(call: Call, paths: Sequence[str]) -> None:
    """Note that the client gets addresses of objects, for the access history. The path "" is all of the repository."""
    if call.services.history is not None:
        call.accessed.addresses += paths


class ObjectRefusedError(EngineError):
    """The caller may not do this to one object of a request about many."""

    kind = "permission_denied"


def refused(call: Call, action: str, repository: str, path: str) -> ObjectRefusedError:
    """The error of one object that `allowed_paths` did not allow. The access history has it as a refusal."""
    call.accessed.refused.add(path)
    return ObjectRefusedError(f"needs {action} on {arn.short(arn.object_(repository, path))}")


def covers(call: Call, action: str, repository: str, prefix: str = "") -> bool:
    """Whether the caller may do this to every object whose path begins with `prefix`."""
    return call.rights is None or call.rights.covers(action, arn.object_(repository, prefix))


def require_everything(call: Call, action: str, repository: str, prefix: str = "") -> None:
    """Raise RequestError (403) unless `covers`."""
    if not covers(call, action, repository, prefix):
        needed = f"{action} on all of {arn.short(arn.object_(repository, prefix))}*"
        raise RequestError("permission_denied", f"needs {needed}, because the request concerns all these objects")


def shares_directory(call: Call, repository: str) -> bool:
    """Whether the client may know the directory of a repository's data, in which it can read every object."""
    return call.shares_directories and covers(call, Fs.READ_OBJECT, repository)


def plain_branch(name: str) -> str:
    """The branch of a name to which a request writes: a workspace `<branch>+<id>` counts as its branch."""
    branch, plus, id = name.rpartition("+")
    return branch if plus and len(id) == _WORKSPACE_ID and not id.strip("0123456789abcdef") else name


_WORKSPACE_ID = 32


async def _branch_of(call: Call, repository: str, ref: str) -> str:
    """The branch of this name. Empty if there is none: the ref is a tag, a commit or an expression."""
    try:
        return (await call.engine.branches.get(repository, plain_branch(ref))).name
    except NotFoundError:
        return ""
