"""Commit of a workspace: applies its delta to the branch's current head (`PROTOCOL.md` 3, ADVANCE).

One batch moves the head and closes the workspace, or gives it its new base. The batch fails when the branch or the
workspace has changed since they were read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
import pyarrow as pa
from lakebed_format.keys import WORKSPACES

from lakebed_engine.operations.branch.compare_and_swap import Change, everything_of, nothing_staged, rotated
from lakebed_engine.operations.branch.view import is_unchanged
from lakebed_engine.operations.commit.commit import check_commit
from lakebed_engine.operations.commit.commit_file import NewCommit
from lakebed_engine.operations.commit.directory_marks import WithoutMarks
from lakebed_engine.operations.commit.fold import Fold
from lakebed_engine.operations.commit.group_commit import GroupCommit
from lakebed_engine.operations.commit.queue import Cause, CommitGuard, Waiter, commit_together
from lakebed_engine.operations.context import (
    Context,
    Repo,
    Seen,
    encode,
    open_repo,
    read_branch,
    refuse_protected,
    refuse_unreviewed,
)
from lakebed_engine.operations.history.changed_paths import collect_paths
from lakebed_engine.operations.keys import PENDING_MARKERS, pending_marker_key
from lakebed_engine.operations.validation import check_amount, check_text
from lakebed_engine.operations.workspace.conflicts import Work, refuse_concurrent, refuse_dirty
from lakebed_engine.operations.workspace.lifecycle import (
    check_prefixes,
    closing,
    find,
    find_sealed,
    mark_used,
    record_of,
    rows_of,
)
from lakebed_engine.operations.workspace.selection import Chosen, Globs
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.tree.changed_paths import ChangedPathsBuilder
from lakebed_engine.tree.diff import diff
from lakebed_engine.tree.fold import fold as fold_tree
from lakebed_engine.tree.layers import overlaid, write_layer
from lakebed_engine.tree.trees import EMPTY_TREE, Tree, Write
from lakebed_engine.vocabulary.errors import (
    EngineError,
    InvalidRequestError,
    NoChangesError,
    PathsConflictError,
)
from lakebed_engine.vocabulary.records import Commit, Layer, Workspace
from lakebed_engine.vocabulary.requests import AdvanceRequest

POLICIES = ("abort", "rebase", "overwrite")


@dataclass(eq=False)
class WorkspaceWaiter(Waiter):
    """A request to commit the workspace with this uid."""

    request: AdvanceRequest
    uid: str


@dataclass(frozen=True, slots=True)
class _Delta:
    """A workspace as read, and the part of it that a request selects."""

    request: AdvanceRequest
    workspace: Seen
    chosen: Chosen

    @property
    def record(self) -> Workspace:
        return record_of(self.workspace)


async def advance(
    ctx: Context,
    repo_name: str,
    found_id: str,
    request: AdvanceRequest,
    *,
    direct: bool = True,
    guard: CommitGuard | None = None,
) -> Commit:
    """Commit a workspace, or the part of it that globs select. A refusal changes nothing: the caller can try again.

    The request's idempotency key is left to the guard. `direct`: not an import, which protected branches accept.

    Raises ConcurrentCommitError and DirtyOverlapError with the paths, NoChangesError, WorkspaceClosedError,
    BranchNotFoundError, ProtectedBranchError, TooManyAttemptsError; InvalidRequestError also for a glob that matches
    nothing; and the errors of the guard.
    """
    check_request(request)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)
    record = record_of(await find(ctx, repo, found_id))
    if direct:
        refuse_protected(repo, record.branch)
    refuse_unreviewed(repo, record.branch)
    await find_sealed(ctx, repo, found_id)  # load it here, so that other requests need not wait for it
    cause = Cause("branch.committed" if direct else "branch.imported", {"workspace": record.uid})
    waiter = WorkspaceWaiter(ctx.runtime.signal(), request, record.uid, guard=guard, cause=cause)
    branch = record.branch
    new = await commit_together(ctx, repo, branch, waiter, lambda waiters: WorkspaceCommit(ctx, repo, branch, waiters))
    if not request.globs:
        await try_marker(ctx, repo, record.uid, new.id)
    return new


class WorkspaceCommit(GroupCommit[WorkspaceWaiter]):
    """The commit of the first workspace, followed by the commits of other workspaces without conflicts.

    Only the first request can get an error. Other requests are committed with it if they have no conflict and share no
    path with earlier ones. Each remaining request is the first of a later group.
    """

    _tried = False
    _workspace: Seen
    _paths: set[str] | None
    """Paths of the commits so far. None: too many to compare."""

    async def prepare(self) -> Seen | None:
        """The record of the branch. Also seals the first workspace."""
        if self._tried:  # another waiting workspace may have changed: the first must not wait for it
            self.waiters = self.waiters[:1]
        self._tried = True
        first = self.waiters[0]
        if first.guard is not None:
            await first.guard.require()
        workspace = await find_sealed(self.ctx, self.repo, first.uid)
        if workspace is None:
            return None
        self._workspace = workspace
        return await read_branch(self.ctx, self.repo, self.branch)

    async def fold(self, fold: Fold[WorkspaceWaiter]) -> bool:
        """Add the commit of the first workspace, and of others that can be committed with it."""
        first, *others = self.waiters
        delta = self._delta(self._workspace, first.request)
        self._paths = set()
        try:
            await self._add(fold, first, delta, fold.writes)
        except (PathsConflictError, NoChangesError):  # possibly this workspace itself, which was committed or popped
            if await is_unchanged(self.ctx, self.repo, self._workspace):
                raise
            return False
        if self._paths is None or first.request.replace_prefix:
            return True
        known = {first.uid}
        for waiter in others:
            if waiter.uid not in known:  # sent twice: by then, the workspace is closed or has another base
                with suppress(EngineError):  # if this request is the first of a group, it gets this error
                    if await self._add_follower(fold, waiter):
                        known.add(waiter.uid)
        return True

    async def change(self, fold: Fold[WorkspaceWaiter]) -> Change:
        """The record at the new head, with a new token."""
        return await rotated(self.ctx, fold.seen.record, fold.tip.id)

    async def unchanged(self, seen: Seen) -> bool:
        """Whether the first workspace and the branch are unchanged."""
        return await is_unchanged(self.ctx, self.repo, self._workspace) and await super().unchanged(seen)

    def _delta(self, workspace: Seen, request: AdvanceRequest) -> _Delta:
        return _Delta(request, workspace, Chosen(self.ctx, self.repo, workspace.record.layers, Globs(request.globs)))

    async def _add_follower(self, fold: Fold[WorkspaceWaiter], waiter: WorkspaceWaiter) -> bool:
        """Add the commit of a further workspace. False: it cannot be committed with the others.

        With the policy `abort` it never can, because the head has moved.
        """
        request = waiter.request
        workspace = await find_sealed(self.ctx, self.repo, waiter.uid)
        if workspace is None or request.globs or request.replace_prefix or request.policy == "abort":
            return False
        record = record_of(workspace)
        if record.claims or record.branch != fold.seen.record.name:
            return False
        if waiter.guard is not None:
            await waiter.guard.require()
        delta = self._delta(workspace, request)
        assert self._paths is not None
        if await delta.chosen.load() > self.ctx.tuning.guarded_paths:
            return False
        if not self._paths.isdisjoint(await delta.chosen.paths()):
            return False
        fold.begin_writes()
        writes: list[Write] = []
        try:
            await self._add(fold, waiter, delta, writes)
        except BaseException:
            for write in writes:
                write.drop()
            raise
        fold.writes += writes
        return True

    async def _add(
        self, fold: Fold[WorkspaceWaiter], waiter: WorkspaceWaiter, delta: _Delta, writes: list[Write]
    ) -> None:
        """Add the commit of a workspace, and add its files to `writes`. Raises the same errors as `advance`."""
        ctx, repo, request, record = self.ctx, self.repo, delta.request, delta.record
        rows = await delta.chosen.load()
        if not rows and not (request.allow_empty or request.replace_prefix or request.globs):
            raise NoChangesError(f"commit: no changes: workspace {record.uid} of {repo.name!r} has nothing to commit")
        if request.globs:
            delta.chosen.refuse_idle()
        await self._refuse_conflicts(fold.seen, delta)
        changed_paths = ChangedPathsBuilder()
        kept = WithoutMarks(ctx).rows(self._changes(delta, fold.tree))
        changes = collect_paths(ctx.runtime, kept, changed_paths)
        folded = await fold_tree(
            ctx.trees, repo.store, ctx.runtime, fold.tree, changes, later=writes, relocate=request.relocate
        )
        if not folded.changed and not request.allow_empty:
            raise NoChangesError(
                f"commit: no changes: workspace {record.uid} of {repo.name!r} equals the head of the branch"
            )
        rest = await self._rest(delta) if request.globs else None
        paths = await delta.chosen.paths() if rows <= ctx.tuning.guarded_paths else None
        message = request.message or record.message or f"Workspace {record.uid}"
        new = fold.add(
            waiter,
            NewCommit(folded.tree, changed_paths, request.committer, message, request.metadata, request.date),
        )
        self._add_rows(fold, delta, new, rest, paths or [])
        self._paths = None if paths is None or self._paths is None else self._paths | set(paths)

    async def _refuse_conflicts(self, branch: Seen, delta: _Delta) -> None:
        request, record = delta.request, delta.record
        claims = (*record.claims, *request.replace_prefix)
        work = Work(self.ctx, self.repo, delta.workspace, branch, delta.chosen, claims, request.conflicts_amount)
        await refuse_dirty(work)
        if branch.record.commit_id != record.commit_id and request.policy != "overwrite":
            await refuse_concurrent(work, always=request.policy == "abort")

    def _changes(self, delta: _Delta, head: Tree) -> AsyncIterator[pa.Table]:
        """The selected rows, over tombstones for all entries of the head below the replaced prefixes."""
        ctx, prefixes = self.ctx, delta.request.replace_prefix
        if not prefixes:
            return delta.chosen.rows()

        async def gone() -> AsyncIterator[pa.Table]:
            last = None
            for prefix in sorted(prefixes):
                if last is not None and prefix.startswith(last):
                    continue
                last = prefix
                async for rows in diff(ctx.trees, self.repo.store, ctx.runtime, head, EMPTY_TREE, prefix=prefix):
                    yield await ctx.runtime.cpu(rows.as_delta)

        return overlaid(ctx.runtime, [delta.chosen.rows(), gone()])

    async def _rest(self, delta: _Delta) -> Layer:
        """The remaining rows of the workspace after a partial commit, as a layer."""
        await mark_used(self.repo, delta.record)
        ctx = self.ctx
        return await write_layer(
            self.repo.store, ctx.runtime, ctx.ids.new(), delta.chosen.rest(), ctx.tuning.layer_bytes
        )

    def _add_rows(
        self, fold: Fold[WorkspaceWaiter], delta: _Delta, new: Commit, rest: Layer | None, paths: Sequence[str]
    ) -> None:
        """Add the workspace's new record, the note of its unwritten marker, and the checks."""
        repo, record = self.repo, delta.record
        fold.checks.append(delta.workspace.check(repo))
        fold.guard_paths(paths)
        if rest is None:
            fold.checks.append(nothing_staged(record))  # otherwise an acknowledged row would be lost
            fold.dropped += everything_of(record)
            after = closing(self.ctx, record, "committed", new.id)
            fold.puts.append(Put(repo.partition, pending_marker_key(record.uid), new.id.encode()))
        else:
            fold.dropped += record.layers
            after = _continued(record, new, rest)
        fold.puts += rows_of(repo, after)


def check_request(request: AdvanceRequest) -> None:
    """Raises InvalidRequestError."""
    if request.policy not in POLICIES:
        raise InvalidRequestError(f"policy {request.policy[:40]!r}: must be one of {', '.join(POLICIES)}")
    check_commit(request.message, request.metadata, request.committer, request.date)
    check_prefixes(request.replace_prefix)
    check_amount(request.conflicts_amount)
    check_text("idempotency key", request.idempotency_key)
    if len(request.idempotency_key) > 256:
        raise InvalidRequestError("idempotency key: at most 256 characters")


def _continued(record: Workspace, new: Commit, rest: Layer) -> Workspace:
    """The record after a partial commit: the remaining rows, on the new commit, with a new prefix."""
    old = (*record.old_prefixes, record.prefix)
    return msgspec.structs.replace(
        record,
        gen=record.gen + 1,
        commit_id=new.id,
        layers=(rest,) if rest.parts else (),
        prefix=f"{WORKSPACES}{record.uid}.{len(old)}/",
        old_prefixes=old,
    )


async def try_marker(ctx: Context, repo: Repo, found_id: str, commit_id: str) -> None:
    """Write the marker for tools that see only the bucket. If it fails, the expiry of workspaces writes it later."""
    try:
        await write_marker(ctx, repo, found_id, commit_id)
    except EngineError:
        return


async def write_marker(ctx: Context, repo: Repo, found_id: str, commit_id: str) -> None:
    """Write `workspaces/<id>.committed`."""
    await repo.store.put(f"{WORKSPACES}{found_id}.committed", encode({"workspace": found_id, "commit_id": commit_id}))
    ctx.marked.put((PENDING_MARKERS, found_id), True, 1)
