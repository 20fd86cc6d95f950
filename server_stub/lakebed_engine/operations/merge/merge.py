"""Merge: what the source changed since the base, applied to the destination's head (`PROTOCOL.md` 3, MERGE).

`land` is the end of every merge, and of the revert and the cherry-pick, which are merges with another base.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from lakebed_engine.operations.branch.commit_guard import Stamp
from lakebed_engine.operations.branch.compare_and_swap import is_staged, nothing_staged, seal, swap
from lakebed_engine.operations.branch.resolve import Resolved, resolve_commit
from lakebed_engine.operations.branch.view import View, read_once, tree_of
from lakebed_engine.operations.commit.commit import check_commit_texts, commit_row, write_commit
from lakebed_engine.operations.context import ATTEMPTS, Context, Repo, Seen, load_commit, open_repo, read_branch
from lakebed_engine.operations.history.changed_paths import touched_row, watched
from lakebed_engine.operations.history.merge_base import require_base
from lakebed_engine.operations.merge.three_way import Join, Resolution, Sides
from lakebed_engine.operations.objects.read import uncommitted
from lakebed_engine.stores.kv.base import Check, Put
from lakebed_engine.tree.changed_paths import Touched
from lakebed_engine.tree.fold import fold
from lakebed_engine.vocabulary.errors import DirtyBranchError, NoChangesError, PredicateFailed, TooManyAttemptsError
from lakebed_engine.vocabulary.records import Branch, Commit, Layer, MergeRequest

STRATEGY_KEY = ".lakefs.merge.strategy"
"""Metadata key that existing clients look for (`facts/rest_api.md` 3)."""


async def merge(
    ctx: Context, repo_name: str, source: str, destination: str, request: MergeRequest, stamp: Stamp | None = None
) -> Commit:
    """Merge a ref into a branch, always as a merge commit, together with a `stamp`.

    Raises MergeConflictError with the paths, DirtyBranchError, NoChangesError, NoMergeBaseError.
    """
    resolution = Resolution(request.strategy, request.resolve)
    check_commit_texts(request.message, request.metadata, request.committer)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)
    for _ in range(ATTEMPTS):
        if stamp is not None:
            await stamp.require()
        theirs = await resolve_commit(ctx, repo, source)
        seen = await clean_branch(ctx, repo, destination)
        if seen is None:
            continue
        done = await _try_merge(ctx, repo, theirs, seen, source, request, resolution, stamp)
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
                "commit or reset them, then try again"
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
    ctx: Context,
    repo: Repo,
    theirs: Commit,
    seen: Seen,
    source: str,
    request: MergeRequest,
    resolution: Resolution,
    stamp: Stamp | None,
) -> Commit | None:
    ours = await load_commit(ctx, repo, seen.record.commit_id)
    base = await require_base(ctx, repo, theirs, ours)
    sides = await sides_of(ctx, repo, base, theirs, ours)
    join = Join(ctx, repo, sides, resolution, after=request.conflicts_after, amount=request.conflicts_amount)
    touched = Touched()
    delta = watched(ctx.runtime, join.delta(), touched)
    folded = await fold(ctx.trees, repo.store, ctx.runtime, sides.ours, delta)
    # not by the trees' ids: after a change was taken back, a tree may be cut in another way
    if not join.changes and not (request.allow_empty or request.force):
        raise NoChangesError(f"merge of {source[:80]!r} into {seen.record.name!r}: no changes since their common base")
    return await land(
        ctx,
        repo,
        seen,
        [ours] if request.squash else [ours, theirs],
        folded.tree.id,
        touched,
        committer=request.committer,
        message=request.message or f"Merge '{source}' into '{seen.record.name}'",
        metadata={**request.metadata, STRATEGY_KEY: request.strategy or "default"},
        stamp=stamp,
    )


async def sides_of(ctx: Context, repo: Repo, base: Commit, theirs: Commit, ours: Commit) -> Sides:
    """The trees of three commits."""
    return Sides(*[await tree_of(ctx, repo, one.id) for one in (base, theirs, ours)])


async def land(
    ctx: Context,
    repo: Repo,
    seen: Seen,
    parents: Sequence[Commit],
    tree_id: str,
    touched: Touched | None,
    *,
    committer: str,
    message: str,
    metadata: Mapping[str, str],
    date: int | None = None,
    stamp: Stamp | None = None,
) -> Commit | None:
    """Make a commit the head of a branch that was clean when it was seen. None: it changed meanwhile, try again."""
    new = await write_commit(
        ctx, repo, parents, tree_id, committer=committer, message=message, metadata=metadata, date=date
    )
    puts = [commit_row(repo, new)]
    if touched is not None:  # else the first log that asks makes it
        puts.append(touched_row(repo, new.id, touched))
    checks = []
    if stamp is not None:
        puts += stamp.ended(new)
        checks.append(stamp.check)
    return None if await move(ctx, repo, seen, new, puts, checks) is None else new


async def move(
    ctx: Context, repo: Repo, seen: Seen, head: Commit, puts: Sequence[Put] = (), checks: Sequence[Check] = ()
) -> Branch | None:
    """Point a clean branch at a commit, with further rows in the same batch. None: it changed meanwhile."""
    # a new token: a reader of the old record must not see rows that come after the move, and not the move
    record = msgspec.structs.replace(
        seen.record, gen=seen.record.gen + 1, commit_id=head.id, staging_token=ctx.ids.new()
    )
    dropped = [Layer(seen.record.staging_token)]
    checks = [nothing_staged(seen.record), *checks]
    return record if await swap(ctx, repo, seen, record, puts=puts, checks=checks, dropped=dropped) else None
