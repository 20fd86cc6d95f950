"""Whether a pull request can be merged: approvals, checks, conflicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lakebed_engine.operations.context import Context, Repo, load_commit, open_repo, read_branch, requirements_of
from lakebed_engine.operations.keys import check_key
from lakebed_engine.operations.merge.merge import list_conflicts, try_merge
from lakebed_engine.operations.pulls.checks import read_checks
from lakebed_engine.operations.pulls.records import read_events, read_pull, require_open, with_head
from lakebed_engine.operations.pulls.reviews import verdicts
from lakebed_engine.stores.kv.base import Check
from lakebed_engine.vocabulary.errors import (
    BranchNotFoundError,
    Conflict,
    NoMergeBaseError,
    NotMergeableError,
)
from lakebed_engine.vocabulary.pulls import CheckOfPull, Mergeable, Pull, PullState
from lakebed_engine.vocabulary.records import Commit, Page


class Readiness(NamedTuple):
    """The state of the reviews and checks of a pull request. `rows`: checks that the rows of required checks are
    unchanged.

    Reviews need none: every review changes the record of the pull request.
    """

    approvals: int
    needed: int
    requested_by: tuple[str, ...]
    checks: tuple[CheckOfPull, ...]
    rows: Sequence[Check]

    @property
    def is_approved(self) -> bool:
        """Whether it has enough approvals, and no user requests changes."""
        return self.approvals >= self.needed and not self.requested_by

    @property
    def missing_checks(self) -> list[str]:
        """The required checks that have not succeeded."""
        return [one.name for one in self.checks if one.required and (one.check is None or one.check.state != "success")]


async def readiness(ctx: Context, repo: Repo, pull: Pull) -> Readiness:
    """The reviews and checks of an open pull request, at the head that its record has."""
    needs = requirements_of(repo, pull.destination_branch)
    counted = verdicts(await read_events(ctx, repo, pull.id), pull.head_commit_id)
    found = await read_checks(ctx, repo, pull.head_commit_id)
    required = [
        CheckOfPull(name=name, required=True, check=found[name].check if name in found else None)
        for name in needs.checks
    ]
    others = [
        CheckOfPull(name=name, required=False, check=one.check)
        for name, one in found.items()
        if name not in needs.checks
    ]
    rows = [
        Check(repo.partition, check_key(pull.head_commit_id, name), found[name].version if name in found else 0)
        for name in needs.checks
    ]
    requested_by = tuple(event.actor for event in counted.requests)
    return Readiness(len(counted.approvals), needs.approvals, requested_by, (*required, *others), rows)


def require_ready(pull: Pull, ready: Readiness) -> None:
    """Raises NotMergeableError, which names the missing reviews and checks."""
    why = []
    if pull.draft:
        why.append("it is a draft")
    if ready.approvals < ready.needed:
        why.append(f"it has {ready.approvals} of {ready.needed} approvals of its newest commit")
    if ready.requested_by:
        why.append(f"{', '.join(map(repr, ready.requested_by[:5]))} asked for changes")
    if ready.missing_checks:
        why.append(f"required checks have not succeeded: {', '.join(ready.missing_checks[:5])}")
    if why:
        raise NotMergeableError(f"pull request {pull.id} cannot be merged: {'; '.join(why)}; nothing was changed")


async def pull_state(ctx: Context, repo_name: str, pull_id: str) -> PullState:
    """Whether a pull request can be merged. Raises PullNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    pull, _ = await with_head(ctx, repo, (await read_pull(ctx, repo, pull_id)).pull)
    if pull.status != "open":
        return PullState(mergeable="unknown", source_commit_id=pull.source_commit_id)
    ready = await readiness(ctx, repo, pull)
    try:
        theirs, ours = await _sides(ctx, repo, pull)
        trial = await try_merge(ctx, repo, theirs, ours)
    except (BranchNotFoundError, NoMergeBaseError):
        mergeable: Mergeable = "unknown"
        ours_id = base_id = ""
    else:
        mergeable = _mergeable(pull, ready, conflicts=trial.conflicts, changes=trial.changes)
        ours_id, base_id = ours.id, trial.base_id
    return PullState(
        mergeable=mergeable,
        approvals=ready.approvals,
        approvals_needed=ready.needed,
        changes_requested_by=ready.requested_by,
        checks=ready.checks,
        source_commit_id=pull.head_commit_id,
        destination_commit_id=ours_id,
        base_commit_id=base_id,
    )


async def pull_conflicts(
    ctx: Context, repo_name: str, pull_id: str, *, after: str = "", amount: int = 100
) -> Page[Conflict]:
    """The conflicting paths of an open pull request. Raises PullNotFoundError, PullClosedError, BranchNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    pull, _ = await with_head(ctx, repo, (await read_pull(ctx, repo, pull_id)).pull)
    require_open(pull)
    theirs, ours = await _sides(ctx, repo, pull)
    return await list_conflicts(ctx, repo, theirs, ours, after=after, amount=amount)


async def _sides(ctx: Context, repo: Repo, pull: Pull) -> tuple[Commit, Commit]:
    """The heads of source and destination. Raises BranchNotFoundError."""
    heads = [
        (await read_branch(ctx, repo, branch)).record.commit_id
        for branch in (pull.source_branch, pull.destination_branch)
    ]
    return await load_commit(ctx, repo, heads[0]), await load_commit(ctx, repo, heads[1])


def _mergeable(pull: Pull, ready: Readiness, *, conflicts: bool, changes: bool) -> Mergeable:
    if pull.draft:
        return "draft"
    if conflicts:
        return "conflicts"
    if not changes:
        return "behind"
    if not ready.is_approved:
        return "approvals"
    return "checks" if ready.missing_checks else "clean"
