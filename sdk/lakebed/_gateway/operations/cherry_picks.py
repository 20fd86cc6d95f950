"""Calls that move a branch to another commit: revert, cherry-pick, hard reset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean, reads
from lakebed._values.wire import Call, Subject
from lakebed.model import Commit

if TYPE_CHECKING:
    from lakebed_api.models import CommitOverrides


def revert(
    repository: str,
    branch: str,
    ref: str,
    *,
    parent: int,
    message: str,
    metadata: Mapping[str, str],
    allow_empty: bool,
    key: str,
) -> Call[None]:
    """Undo a commit. After a lost response it may be sent again: the server acts once for each key."""
    from lakebed_api.api.branches import revert_branch
    from lakebed_api.models import RevertCreation

    body = RevertCreation(
        ref=ref, parent_number=parent, commit_overrides=_overrides(message, metadata), allow_empty=allow_empty
    )
    return call(
        "revertBranch",
        revert_branch._get_kwargs(repository, branch, body=body, idempotency_key=key),
        calls.nothing,
        Subject(repository, branch, also=(ref,)),
        success=204,
        slow=True,
        races=True,
    )


def cherry_pick(
    repository: str, branch: str, ref: str, *, parent: int, message: str, metadata: Mapping[str, str], key: str
) -> Call[Commit]:
    """Apply a commit. After a lost response it may be sent again: the server acts once for each key."""
    from lakebed_api.api.branches import cherry_pick
    from lakebed_api.models import CherryPickCreation
    from lakebed_api.models import Commit as WireCommit
    from lakebed_api.types import UNSET

    body = CherryPickCreation(ref=ref, parent_number=parent or UNSET, commit_overrides=_overrides(message, metadata))
    return call(
        "cherryPick",
        cherry_pick._get_kwargs(repository, branch, body=body, idempotency_key=key),
        reads(WireCommit.from_dict, convert.commit),
        Subject(repository, branch, also=(ref,)),
        success=201,
        slow=True,
        races=True,
    )


def hard_reset(repository: str, branch: str, ref: str, *, force: bool) -> Call[None]:
    """Point a branch to another commit. Not repeated after a lost response: another writer may have moved the branch
    since.
    """
    from lakebed_api.api.branches import hard_reset_branch

    kwargs = hard_reset_branch._get_kwargs(repository, branch, ref=ref, **clean(force=force or None))
    return call(
        "hardResetBranch", kwargs, calls.nothing, Subject(repository, branch, also=(ref,)), success=204, slow=True
    )


def _overrides(message: str, metadata: Mapping[str, str]) -> CommitOverrides:
    from lakebed_api.models import CommitOverrides, CommitOverridesMetadata
    from lakebed_api.types import UNSET

    return CommitOverrides(message=message or UNSET, metadata=CommitOverridesMetadata.from_dict(metadata))
