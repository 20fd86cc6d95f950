"""Direct commits: changes that are committed without being staged. Staged changes of the branch remain staged.

The changes have no base, so the last one of a path wins, as with uploads. The commit is refused only if a row is staged
on the branch at one of its paths: this older row would hide the commit, and overwrite it later.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from lakebed_engine.operations.branch.compare_and_swap import Change, is_staged, rotated
from lakebed_engine.operations.branch.view import View, sources_of
from lakebed_engine.operations.commit.commit import check_commit, recreated
from lakebed_engine.operations.commit.commit_file import NewCommit
from lakebed_engine.operations.commit.fold import Fold
from lakebed_engine.operations.commit.group_commit import GroupCommit
from lakebed_engine.operations.commit.queue import CommitGuard, Waiter, commit_together
from lakebed_engine.operations.context import Context, Seen, open_repo, read_branch
from lakebed_engine.operations.validation import check_text
from lakebed_engine.tree.changed_paths import ChangedPathsBuilder
from lakebed_engine.tree.fold import fold as fold_tree
from lakebed_engine.tree.rows import delta_table
from lakebed_engine.tree.trees import Tree
from lakebed_engine.vocabulary.errors import (
    Conflict,
    DirtyOverlapError,
    InvalidRequestError,
    NoChangesError,
)
from lakebed_engine.vocabulary.records import Commit, Entry
from lakebed_engine.vocabulary.requests import PublishRequest

_TOLD = 100
"""Maximum number of paths in an error."""

_LOOKED_UP = 1_000
"""Number of paths that are looked up in the staged rows at a time."""

_FEW = 64
"""Requests with at most this many changes are converted to deltas together."""

Row = tuple[str, Entry | None]


@dataclass(eq=False)
class DirectWaiter(Waiter):
    """A request to commit changes, in order of their paths, onto the branch with this uid."""

    request: PublishRequest
    uid: str
    changes: Sequence[Row]
    rows: pa.Table | None = None
    """The changes as a delta. Small deltas are made for all waiters together, which takes hardly longer."""


async def publish(
    ctx: Context,
    repo_name: str,
    branch: str,
    changes: Sequence[Row],
    request: PublishRequest,
    guard: CommitGuard | None = None,
) -> Commit:
    """Commit changes (None: delete the path) onto a branch. The guard handles the request's idempotency key.

    Raises DirtyOverlapError with the paths, NoChangesError, BranchNotFoundError, ProtectedBranchError,
    TooManyAttemptsError, InvalidRequestError, and the errors of the guard.
    """
    check_request(request)
    ordered = sorted(changes, key=lambda change: change[0].encode())
    rows = delta_table(ordered) if len(ordered) > _FEW else None
    repo = await open_repo(ctx, repo_name, write=True, force=request.force, branch=branch)
    uid = (await read_branch(ctx, repo, branch)).record.uid
    waiter = DirectWaiter(ctx.runtime.signal(), request, uid, ordered, rows, guard=guard)
    return await commit_together(ctx, repo, branch, waiter, lambda waiters: DirectCommit(ctx, repo, branch, waiters))


def check_request(request: PublishRequest) -> None:
    """Raises InvalidRequestError."""
    check_commit(request.message, request.metadata, request.committer, request.date)
    check_text("idempotency key", request.idempotency_key)
    if len(request.idempotency_key) > 256:
        raise InvalidRequestError("idempotency key: at most 256 characters")


class DirectCommit(GroupCommit[DirectWaiter]):
    """The commits of several requests, in order of arrival."""

    async def prepare(self) -> Seen:
        """The record of the branch. Refuses requests that were made to an earlier branch of this name."""
        seen = await read_branch(self.ctx, self.repo, self.branch)
        for waiter in [waiter for waiter in self.waiters if waiter.uid != seen.record.uid]:
            self.settle(waiter, recreated(self.branch))
        await self.require_guards()
        return seen

    async def fold(self, fold: Fold[DirectWaiter]) -> bool:
        """Add the commits. Refuses requests with a path that is staged on the branch."""
        ctx, repo = self.ctx, self.repo
        if not await self._refuse_staged(fold):
            return False
        for waiter, rows in zip(self.waiters, _deltas(self.waiters), strict=True):
            fold.begin_writes()
            request = waiter.request
            folded = await fold_tree(ctx.trees, repo.store, ctx.runtime, fold.tree, _once(rows), later=fold.writes)
            if folded.changed or request.allow_empty:
                self._add(fold, waiter, folded.tree)
            else:
                text = f"commit: no changes: branch {self.branch!r} of {repo.name!r} already contains these changes"
                fold.answers.append((waiter, NoChangesError(text)))
        return True

    def _add(self, fold: Fold[DirectWaiter], waiter: DirectWaiter, tree: Tree) -> None:
        request = waiter.request
        changed_paths = ChangedPathsBuilder()
        changed_paths.add_paths([path for path, _ in waiter.changes])
        text = (request.committer, request.message, request.metadata, request.date)
        fold.add(waiter, NewCommit(tree, changed_paths, *text))
        if len(waiter.changes) <= self.ctx.tuning.guarded_paths:
            fold.guard_paths([path for path, _ in waiter.changes])

    async def change(self, fold: Fold[DirectWaiter]) -> Change | None:
        """The record at the new head, with a new token."""
        return None if fold.is_empty else await rotated(self.ctx, fold.seen.record, fold.tip.id)

    async def _refuse_staged(self, fold: Fold[DirectWaiter]) -> bool:
        """Answer requests with a path that is staged on the branch. False: the branch has changed and must be read
        again.

        An error lists the rows that were staged at one moment, never a mixture from before and after a change.
        """
        record = fold.seen.record
        if not await is_staged(self.ctx, record):
            return True
        view = View(self.ctx, self.repo, sources_of(record), fold.tree)
        refused = []
        for waiter in self.waiters:
            staged = await _staged(view, [path for path, _ in waiter.changes])
            if staged is None:
                return False
            if staged:
                refused.append((waiter, await self._overlap(view, waiter, staged)))
        if refused and not await self.unchanged(fold.seen):
            return False
        for waiter, error in refused:
            self.settle(waiter, error)
        return True

    async def _overlap(self, view: View, waiter: DirectWaiter, staged: Mapping[str, Entry | None]) -> DirtyOverlapError:
        conflicts = []
        changes = [(path, entry) for path, entry in waiter.changes if path in staged]
        for path, entry in changes[:_TOLD]:
            base = await self.ctx.trees.find(self.repo.store, view.tree, path)
            entries = (base, staged[path], entry)
            conflicts.append(Conflict(path, *[None if one is None else one.checksum for one in entries]))
        more = len(changes) > _TOLD
        shown = ", ".join(repr(one.path) for one in conflicts[:3]) + (" and more" if more or len(conflicts) > 3 else "")
        return DirtyOverlapError(
            f"branch {self.branch!r} of {self.repo.name!r} has uncommitted changes at {shown}, which this commit "
            "changes too; nothing was done: commit or reset them first",
            conflicts,
            more,
        )


async def _staged(view: View, paths: Sequence[str]) -> dict[str, Entry | None] | None:
    """The staged rows at the first of these paths that have one, all from one moment. None: they changed in between."""
    found: dict[str, Entry | None] = {}
    for start in range(0, len(paths), _LOOKED_UP):
        found |= await view.staged_many(paths[start : start + _LOOKED_UP])
        if len(found) > _TOLD:
            break
    if len(paths) <= _LOOKED_UP or not found:
        return found
    again = await view.staged_many(list(found))
    return again if again.keys() == found.keys() else None


def _deltas(waiters: Sequence[DirectWaiter]) -> list[pa.Table]:
    """The changes of each request as a delta."""
    new = [waiter for waiter in waiters if waiter.rows is None]
    table = delta_table([change for waiter in new for change in waiter.changes])
    start = 0
    for waiter in new:
        waiter.rows = table.slice(start, len(waiter.changes))
        start += len(waiter.changes)
    return [waiter.rows for waiter in waiters]


async def _once(rows: pa.Table) -> AsyncIterator[pa.Table]:
    if rows.num_rows:
        yield rows
