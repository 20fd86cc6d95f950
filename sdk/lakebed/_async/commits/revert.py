"""Reverts and cherry-picks as flows: sent with a key, once more when the answer is lost, then settled.

With its key, a request takes effect once, however often it is sent. Unlike commits and merges, reverts and cherry-picks
have no task: they change as much as one commit did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from lakebed import _checks
from lakebed._async.commits.commit import id_of, marked
from lakebed._async.commits.recover import find, new_operation_id, settle
from lakebed._async.http.target import Target
from lakebed._async.http.transport import Transport
from lakebed._gateway.operations import cherry_picks, commits
from lakebed._values.recovery_hints import SEARCHED
from lakebed._values.wire import Call
from lakebed.errors import CommitStateUnknownError, LakebedError, OutcomeUnknownError
from lakebed.model import Commit

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
