"""Reverts and cherry-picks as flows: send once, and settle when the answer is lost. Under the handles."""

from __future__ import annotations

from collections.abc import Mapping

from lakebed import _checks
from lakebed._async.merging import marked
from lakebed._async.settle import SEARCHED, find, new_operation_id, settle
from lakebed._async.transport import Transport
from lakebed._gateway import commits, picks
from lakebed.errors import CommitStateUnknownError, OutcomeUnknownError
from lakebed.model import Commit


async def revert(
    transport: Transport,
    repository: str,
    branch: str,
    ref: str,
    *,
    parent: int | None,
    message: str,
    metadata: Mapping[str, str] | None,
    allow_empty: bool,
) -> Commit:
    """Take back a commit. The server does not say which commit it made: its mark finds it."""
    operation_id = new_operation_id()
    call = picks.revert(
        repository,
        branch,
        ref,
        parent=parent or 0,
        message=_checks.check_text(message, "commit message"),
        metadata=marked(metadata, operation_id),
        allow_empty=allow_empty,
    )
    try:
        await transport.call(call)
    except OutcomeUnknownError as lost:
        return await settle(transport, repository, branch, operation_id, lost)
    made = await find(transport, repository, branch, operation_id, SEARCHED)
    if made is None:
        raise CommitStateUnknownError(
            f"the revert of {ref} on lakebed://{repository}/{branch} was made, but is not in the branch's history now: "
            "somebody moved the branch back",
            operation="revertBranch",
            repository=repository,
            ref=branch,
        )
    return made


async def cherry_pick(
    transport: Transport,
    repository: str,
    branch: str,
    ref: str,
    *,
    parent: int | None,
    message: str,
    metadata: Mapping[str, str] | None,
) -> Commit:
    """Apply the change of a commit, found once. Its metadata go along, but for the mark of the one who made it."""
    origin = await transport.call(commits.get(repository, ref))
    operation_id = new_operation_id()
    call = picks.cherry_pick(
        repository,
        branch,
        origin.id,
        parent=parent or 0,
        message=_checks.check_text(message, "commit message"),
        metadata=marked({**origin.metadata, **(metadata or {})}, operation_id),
    )
    try:
        return await transport.call(call)
    except OutcomeUnknownError as lost:
        return await settle(transport, repository, branch, operation_id, lost)
