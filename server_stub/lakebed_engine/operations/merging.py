"""Merge: what the source changed since the base, applied to the destination's head (`PROTOCOL.md` 3, MERGE).

Above `history`, `commits`, `swap`. Three-way by path and identity: S = D keeps, S = B takes D, D = B takes S,
anything else is a conflict.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import msgspec
import pyarrow as pa

from lakebed_engine.operations.commits import check_commit_texts, commit_row, write_commit
from lakebed_engine.operations.context import ATTEMPTS, Context, Repo, Seen, load_commit, open_repo, read_branch
from lakebed_engine.operations.history import require_base
from lakebed_engine.operations.names import check_amount
from lakebed_engine.operations.reading import uncommitted
from lakebed_engine.operations.refs import Resolved, resolve_commit
from lakebed_engine.operations.swap import is_staged, nothing_staged, seal, swap
from lakebed_engine.operations.views import View, read_once, tree_of
from lakebed_engine.tree.diff import diff
from lakebed_engine.tree.fold import fold
from lakebed_engine.tree.threeway import Side, aligned
from lakebed_engine.tree.trees import Tree
from lakebed_engine.vocabulary.errors import (
    Conflict,
    DirtyBranchError,
    InvalidRequestError,
    MergeConflictError,
    NoChangesError,
    PredicateFailed,
    TooManyAttemptsError,
)
from lakebed_engine.vocabulary.records import Commit, Layer, MergeRequest

STRATEGIES = ("", "dest-wins", "source-wins")
STRATEGY_KEY = ".lakefs.merge.strategy"
"""Metadata key that existing clients look for (`facts/rest_api.md` 3)."""


async def merge(ctx: Context, repo_name: str, source: str, destination: str, request: MergeRequest) -> Commit:
    """Merge a ref into a branch, always as a merge commit.

    Raises MergeConflictError with the paths, DirtyBranchError, NoChangesError, NoMergeBaseError.
    """
    if request.strategy not in STRATEGIES:
        raise InvalidRequestError(
            f"strategy {request.strategy[:40]!r}: must be empty (conflicts are refused), 'dest-wins' or 'source-wins'"
        )
    check_commit_texts(request.message, request.metadata, request.committer)
    check_amount(request.conflicts_amount)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)
    for _ in range(ATTEMPTS):
        theirs = await resolve_commit(ctx, repo, source)
        seen = await clean_branch(ctx, repo, destination)
        if seen is None:
            continue
        done = await _try_merge(ctx, repo, theirs, seen, source, request)
        if done is not None:
            return done
    raise TooManyAttemptsError(
        f"branch {destination!r} of {repo.name!r}: lost {ATTEMPTS} races, nothing merged: try again"
    )


async def clean_branch(ctx: Context, repo: Repo, name: str) -> Seen | None:
    """The record of a branch without uncommitted changes; staged rows that change nothing are trimmed away.

    None: it changed meanwhile, try again. Raises DirtyBranchError.
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
                "commit or reset them, then merge again"
            )
        started = ctx.clock.monotonic()
        found = await seal(ctx, repo, seen)
        if found is None or not found.record.layers:
            return None
        # what was sealed may hold more than what was looked at
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


async def _try_merge(
    ctx: Context, repo: Repo, theirs: Commit, seen: Seen, source: str, request: MergeRequest
) -> Commit | None:
    ours = await load_commit(ctx, repo, seen.record.commit_id)
    base = await require_base(ctx, repo, theirs, ours)
    trees = [await tree_of(ctx, repo, one.id) for one in (base, theirs, ours)]
    work = _Merge(ctx, repo, request, *trees)
    folded = await fold(ctx.trees, repo.store, ctx.runtime, trees[2], work.delta())
    # not by the trees' ids: after a change was taken back, a tree may be cut in another way
    if not work.changes and not (request.allow_empty or request.force):
        raise NoChangesError(f"merge of {source[:80]!r} into {seen.record.name!r}: no changes since their common base")
    new = await write_commit(
        ctx,
        repo,
        [ours] if request.squash else [ours, theirs],
        folded.tree.id,
        committer=request.committer,
        message=request.message or f"Merge '{source}' into '{seen.record.name}'",
        metadata={**request.metadata, STRATEGY_KEY: request.strategy or "default"},
    )
    # a new token: a reader of the old record must not see rows that come after the merge, and not the merge
    record = msgspec.structs.replace(
        seen.record, gen=seen.record.gen + 1, commit_id=new.id, staging_token=ctx.ids.new()
    )
    guard, dropped = [nothing_staged(seen.record)], [Layer(seen.record.staging_token)]
    landed = await swap(ctx, repo, seen, record, puts=[commit_row(repo, new)], checks=guard, dropped=dropped)
    return new if landed else None


class _Merge:
    """The delta to apply to the destination, found in one walk over both sides' changes."""

    def __init__(self, ctx: Context, repo: Repo, request: MergeRequest, base: Tree, theirs: Tree, ours: Tree) -> None:
        self._ctx = ctx
        self._repo = repo
        self._request = request
        self._trees = (base, theirs, ours)
        self._conflicts: list[Conflict] = []
        self._found = False
        self._more = False
        self.changes = False
        """Whether the source has changed anything, once `delta` is through."""

    async def delta(self) -> AsyncIterator[pa.Table]:
        """Tables of DELTA_SCHEMA. Raises MergeConflictError once all conflicts that were asked for are known."""
        ctx, store = self._ctx, self._repo.store
        base, theirs, ours = self._trees
        theirs_changes = diff(ctx.trees, store, ctx.runtime, base, theirs, detail="delta")
        if base.id == ours.id:
            async for changes in theirs_changes:
                self.changes = True
                yield await ctx.runtime.cpu(changes.as_delta)
            return
        ours_changes = diff(ctx.trees, store, ctx.runtime, base, ours, detail="delta")
        async for left, right in aligned(ctx.runtime, theirs_changes, ours_changes):
            self.changes |= left is not None
            table = await ctx.runtime.cpu(self._join, left, right)
            if table is not None and table.num_rows and not self._found:
                yield table
            if self._more:
                break
        if self._found:
            raise await self._error()

    def _join(self, theirs: Side | None, ours: Side | None) -> pa.Table | None:
        if theirs is None:
            return None
        if ours is None:
            return theirs.rows
        clashes = theirs.clashes(ours)
        drop = {path for path, same in clashes if same or self._request.strategy == "dest-wins"}
        if self._request.strategy == "":
            real = [path for path, same in clashes if not same]
            self._note(real, theirs, ours)
        return theirs.without(drop)

    def _note(self, paths: list[str], theirs: Side, ours: Side) -> None:
        for path in paths:
            self._found = True
            if path <= self._request.conflicts_after:
                continue
            if len(self._conflicts) == self._request.conflicts_amount:
                self._more = True
                return
            self._conflicts.append(Conflict(path, base=None, ours=ours.checksum(path), theirs=theirs.checksum(path)))

    async def _error(self) -> MergeConflictError:
        for index, one in enumerate(self._conflicts):
            entry = await self._ctx.trees.find(self._repo.store, self._trees[0], one.path)
            self._conflicts[index] = replace(one, base=None if entry is None else entry.checksum)
        paths = ", ".join(repr(one.path) for one in self._conflicts[:3])
        more = " and more" if self._more or len(self._conflicts) > 3 else ""
        return MergeConflictError(
            f"conflict found: both sides changed {paths or 'paths before the page that was asked for'}{more}: "
            "resolve it with a strategy (source-wins or dest-wins), or change one side",
            self._conflicts,
            self._more,
        )
