# Generated from sdk/lakebed/_async/commits/undo.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Undoes the last commit of a branch, with a revert commit or by moving the branch back."""

from __future__ import annotations

from typing import Literal

from lakebed import _checks
from lakebed._gateway.operations import cherry_picks, commits, refs
from lakebed._sync.commits.revert import revert
from lakebed._sync.http.target import Target
from lakebed.errors import InvalidRequestError, NothingToCommitError
from lakebed.model import Commit, Undone

HOW = ("auto", "revert", "reset")


def last_commit(target: Target) -> Commit:
    """The commit that `undo` would undo. Raises InvalidRequestError for the first commit of a branch."""
    head = (target.transport.call(refs.get_branch(target.repository, target.ref))).commit_id
    commit = target.transport.call(commits.get(target.repository, head))
    if not commit.parents:
        raise InvalidRequestError(
            f"cannot undo the last commit of {target}: {commit.short_id} is the first commit of the branch",
            operation="undo",
            repository=target.repository,
            ref=target.ref,
        )
    return commit


def undo(target: Target, message: str, how: Literal["auto", "revert", "reset"]) -> Undone:
    """Undo the last commit. The commit is reverted by its id, so a concurrent commit is kept."""
    if how not in HOW:
        raise InvalidRequestError(f"how must be 'auto', 'revert' or 'reset', not {how!r}")
    _checks.check_text(message, "commit message")
    if how == "reset" and message:
        raise InvalidRequestError("how='reset' makes no commit, so it takes no message")
    commit = last_commit(target)
    if how != "reset":
        parent = 1 if len(commit.parents) > 1 else None
        try:
            made = revert(target, commit.id, parent=parent, message=message, metadata=None, allow_empty=False, key=None)
        except NothingToCommitError:
            if how == "revert" or message:
                raise
        else:
            return Undone(commit, "revert", made.id)
    target.transport.call(cherry_picks.hard_reset(target.repository, target.ref, commit.parents[0], force=False))
    return Undone(commit, "reset", commit.parents[0])
