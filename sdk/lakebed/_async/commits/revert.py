"""Reverts and cherry-picks as flows: sent with a key, once more when the answer is lost, then settled.

With its key, a request takes effect once, however often it is sent. Unlike commits and merges, reverts and cherry-picks
have no task: they change as much as one commit did.

`undo` undoes the last commit of a branch, with a revert commit or by moving the branch back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar

from lakebed import _checks
from lakebed._async.commits.commit import id_of, marked
from lakebed._async.commits.recover import find, new_operation_id, settle
from lakebed._async.http.target import Target
from lakebed._async.http.transport import Transport
from lakebed._gateway.operations import cherry_picks, commits, refs
from lakebed._values.wire import Call
from lakebed._values.workspaces import SEARCHED
from lakebed.errors import (
    CommitStateUnknownError,
    InvalidRequestError,
    LakebedError,
    NothingToCommitError,
    OutcomeUnknownError,
)
from lakebed.model import Commit, Undone

T = TypeVar("T")


async def revert(
    target: Target,
    ref: str,
    *,
    parent: int | None,
    message: str,
    metadata: Mapping[str, str] | None,
    allow_empty: bool,
    key: str | None,
) -> Commit:
    """Revert a commit. The response does not contain the new commit: the operation id finds it."""
    mark = id_of(key) if key else new_operation_id()
    call = cherry_picks.revert(
        target.repository,
        target.ref,
        ref,
        parent=parent or 0,
        message=_checks.check_text(message, "commit message"),
        metadata=marked(metadata, mark),
        allow_empty=allow_empty,
        key=key or mark,
    )
    try:
        await _sent(target.transport, call)
    except OutcomeUnknownError as lost:
        return await settle(target, mark, lost, keyed=bool(key))
    made = await find(target, mark, SEARCHED)
    if made is None:
        raise CommitStateUnknownError(
            f"the revert of {ref} on {target} was made, but is not among the last {SEARCHED} "
            "commits of the branch: the branch was reset, or has many newer commits",
            operation="revertBranch",
            repository=target.repository,
            ref=target.ref,
        )
    return made


async def cherry_pick(
    target: Target,
    ref: str,
    *,
    parent: int | None,
    message: str,
    metadata: Mapping[str, str] | None,
    key: str | None,
) -> Commit:
    """Apply the changes of a commit. The new commit keeps its metadata, except its operation id."""
    origin = await target.transport.call(commits.get(target.repository, ref))
    mark = id_of(key) if key else new_operation_id()
    call = cherry_picks.cherry_pick(
        target.repository,
        target.ref,
        origin.id,
        parent=parent or 0,
        message=_checks.check_text(message, "commit message"),
        metadata=marked({**origin.metadata, **(metadata or {})}, mark),
        key=key or mark,
    )
    try:
        return await _sent(target.transport, call)
    except OutcomeUnknownError as lost:
        return await settle(target, mark, lost, keyed=bool(key))


async def _sent(transport: Transport, call: Call[T]) -> T:
    """The response to a call, or to a second attempt if the first response is lost. Raises OutcomeUnknownError."""
    try:
        return await transport.call(call)
    except OutcomeUnknownError as lost:
        try:
            return await transport.call(call)
        except LakebedError as again:  # also after a refusal: the first request may still be running, and commit
            raise lost from again


HOW = ("auto", "revert", "reset")


async def last_commit(target: Target) -> Commit:
    """The commit that `undo` would undo. Raises InvalidRequestError for the first commit of a branch."""
    head = (await target.transport.call(refs.get_branch(target.repository, target.ref))).commit_id
    commit = await target.transport.call(commits.get(target.repository, head))
    if not commit.parents:
        raise InvalidRequestError(
            f"cannot undo the last commit of {target}: {commit.short_id} is the first commit of the branch",
            operation="undo",
            repository=target.repository,
            ref=target.ref,
        )
    return commit


async def undo(target: Target, message: str, how: Literal["auto", "revert", "reset"]) -> Undone:
    """Undo the last commit. The commit is reverted by its id, so a concurrent commit is kept."""
    if how not in HOW:
        raise InvalidRequestError(f"how must be 'auto', 'revert' or 'reset', not {how!r}")
    _checks.check_text(message, "commit message")
    if how == "reset" and message:
        raise InvalidRequestError("how='reset' makes no commit, so it takes no message")
    commit = await last_commit(target)
    if how != "reset":
        parent = 1 if len(commit.parents) > 1 else None
        try:
            made = await revert(
                target, commit.id, parent=parent, message=message, metadata=None, allow_empty=False, key=None
            )
        except NothingToCommitError:
            if how == "revert" or message:
                raise
        else:
            return Undone(commit, "revert", made.id)
    await target.transport.call(cherry_picks.hard_reset(target.repository, target.ref, commit.parents[0], force=False))
    return Undone(commit, "reset", commit.parents[0])
