"""Moves a branch that has no uncommitted changes: the end of merges, reverts, cherry-picks, hard resets and imports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from lakebed_engine.operations.branch.compare_and_swap import Change, is_staged, nothing_staged, seal, swap
from lakebed_engine.operations.branch.resolve import Resolved
from lakebed_engine.operations.branch.view import View, read_once
from lakebed_engine.operations.commit.commit_file import NewCommit
from lakebed_engine.operations.commit.fold import Fold
from lakebed_engine.operations.commit.group_commit import GroupCommit
from lakebed_engine.operations.commit.queue import Cause, CommitGuard, Waiter
from lakebed_engine.operations.context import Context, Repo, Seen, read_branch, refuse_unreviewed
from lakebed_engine.operations.objects.read import uncommitted
from lakebed_engine.vocabulary.errors import DirtyBranchError, PredicateFailed
from lakebed_engine.vocabulary.records import Branch, Commit, Layer

Build = Callable[[Commit], Awaitable[NewCommit | Commit]]
"""A function of the head of a branch: returns the commit to put on top of it, or an existing commit as the new head."""


async def move_clean_branch(
    ctx: Context,
    repo: Repo,
    branch: str,
    build: Build,
    cause: Cause,
    guard: CommitGuard | None = None,
    *,
    reviewed: bool = False,
) -> tuple[Commit, Branch]:
    """Move a branch to the commit that `build` returns for its head. Returns the new head and the branch record.

    `reviewed`: for a pull request that meets all requirements of the branch.

    Raises DirtyBranchError, BranchNotFoundError, ProtectedBranchError, TooManyAttemptsError, and the errors of `build`
    and the guard.
    """
    if not reviewed:
        refuse_unreviewed(repo, branch)
    waiter = Waiter(ctx.runtime.signal(), guard=guard, cause=cause)
    commit = CleanCommit(ctx, repo, branch, [waiter], build)
    await commit.run()
    return waiter.result(), commit.record


class CleanCommit(GroupCommit[Waiter]):
    """One commit onto a branch without uncommitted changes."""

    record: Branch

    def __init__(self, ctx: Context, repo: Repo, branch: str, waiters: list[Waiter], build: Build) -> None:
        super().__init__(ctx, repo, branch, waiters)
        self._build = build

    async def prepare(self) -> Seen | None:
        """The record of the branch, without uncommitted changes. Raises DirtyBranchError."""
        await self.require_guards()
        return await clean_branch(self.ctx, self.repo, self.branch) if self.waiters else None

    async def fold(self, fold: Fold[Waiter]) -> bool:
        """Add the commit of `build`."""
        new = await self._build(fold.tip)
        if isinstance(new, NewCommit):
            fold.add(self.waiters[0], new)
        else:
            fold.tip = new
            fold.answers.append((self.waiters[0], new))
        return True

    async def change(self, fold: Fold[Waiter]) -> Change:
        """The record at the new head, if nothing was staged since it was read."""
        old = fold.seen.record
        # a new token: a reader of the old record must not see later rows without the move
        self.record = msgspec.structs.replace(
            old, gen=old.gen + 1, commit_id=fold.tip.id, staging_token=self.ctx.ids.new()
        )
        return Change(self.record, [nothing_staged(old)], [Layer(old.staging_token)])


async def clean_branch(ctx: Context, repo: Repo, name: str) -> Seen | None:
    """The record of a branch without uncommitted changes. Removes staged rows that change nothing.

    None: the record has changed. Raises DirtyBranchError.
    """
    started = ctx.clock.monotonic()
    seen = await read_branch(ctx, repo, name)
    if not await is_staged(ctx, seen.record):
        return seen
    try:
        path = await read_once(ctx, repo, Resolved(seen.record.commit_id, seen, True), started, _first_uncommitted)
        if path is not None:
            raise DirtyBranchError(
                f"branch {name!r} of {repo.name!r} has uncommitted changes (dirty branch), {path!r} first: "
                "commit or reset them, then try again"
            )
        started = ctx.clock.monotonic()
        found = await seal(ctx, repo, seen)
        if found is None or not found.record.layers:
            return None
        # the seal may have taken more rows than were read before
        sealed = Resolved(found.record.commit_id, found, True)
        if await read_once(ctx, repo, sealed, started, _first_uncommitted) is not None:
            return None
    except PredicateFailed:
        return None
    new = msgspec.structs.replace(found.record, gen=found.record.gen + 1, layers=())
    await swap(ctx, repo, found, new, dropped=found.record.layers)
    return None


async def _first_uncommitted(view: View) -> str | None:
    async for change in uncommitted(view, ""):
        return change.path
    return None
