"""Stash and pop: a stash moves uncommitted changes of a branch to a workspace, a pop moves them to a layer of a branch.

Each is one batch, so the changes are always in exactly one of the two.
"""

from __future__ import annotations

import msgspec

from lakebed_engine.operations.branch.compare_and_swap import emptied, everything_of, nothing_staged, swap
from lakebed_engine.operations.branch.view import is_unchanged, layers_delta
from lakebed_engine.operations.context import (
    Context,
    Repo,
    Seen,
    absent,
    open_repo,
    read_branch,
    refuse_protected,
)
from lakebed_engine.operations.keys import STAGED_MARKER, record_key, staging
from lakebed_engine.operations.layers.push import put_on_top
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.workspace.lifecycle import (
    check_request,
    closing,
    find_sealed,
    new_record,
    record_of,
    rows_of,
)
from lakebed_engine.tree.layers import write_layer
from lakebed_engine.vocabulary.errors import MissingFileError, NoChangesError
from lakebed_engine.vocabulary.records import Layer, Workspace
from lakebed_engine.vocabulary.requests import WorkspaceRequest


async def stash(ctx: Context, repo_name: str, branch_name: str, request: WorkspaceRequest) -> Workspace:
    """Move all uncommitted changes of a branch into a new workspace on its head. Ignores the `ref` of the request.

    The layers move without a copy, the live token as one of them. The branch then shows its head.

    Raises NoChangesError, BranchNotFoundError, ProtectedBranchError, TooManyAttemptsError.
    """
    request = msgspec.structs.replace(request, ref=branch_name)
    check_request(request)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force, branch=request.ref)

    async def attempt() -> Workspace | None:
        seen = await read_branch(ctx, repo, request.ref)
        branch = seen.record
        used = await ctx.kv.get(staging(branch.staging_token), STAGED_MARKER) is not None
        layers = (Layer(branch.staging_token), *branch.layers) if used else branch.layers
        if not layers:
            raise NoChangesError(f"branch {branch.name!r} of {repo.name!r}: no uncommitted changes to stash")
        new = new_record(ctx, branch.name, branch.commit_id, request, layers)
        guard = [absent(repo.partition, record_key(new.name)), *([] if used else [nothing_staged(branch)])]
        gone = [] if used else [Layer(branch.staging_token)]
        after = emptied(branch, ctx.ids.new())
        done = await swap(ctx, repo, seen, after, puts=rows_of(repo, new), checks=guard, dropped=gone)
        return new if done else None

    return await retry_on_conflict(f"branch {request.ref!r} of {repo.name!r}", attempt)


async def pop(ctx: Context, repo_name: str, found_id: str, *, branch: str = "", force: bool = False) -> Layer:
    """Put a workspace's changes on top of a branch's uncommitted ones, as one layer, and close the workspace.

    There are no conflicts, as with a push. If a path is staged on the branch, or changed in its head since the
    workspace's base, the version of the workspace wins. `branch` is by default the workspace's own.

    Raises NoChangesError, WorkspaceClosedError, BranchNotFoundError, BackpressureError, TooManyAttemptsError.
    """
    repo = await open_repo(ctx, repo_name, write=True, force=force)

    async def attempt() -> Layer | None:
        workspace = await find_sealed(ctx, repo, found_id)
        if workspace is None:
            return None
        seen = await read_branch(ctx, repo, branch or record_of(workspace).branch)
        refuse_protected(repo, seen.record.name)
        if not workspace.record.layers:
            raise NoChangesError(f"workspace {record_of(workspace).uid} of {repo.name!r}: no changes to pop")
        return await _pop(ctx, repo, workspace, seen)

    return await retry_on_conflict(f"workspace {found_id!r} of {repo.name!r}", attempt)


async def _pop(ctx: Context, repo: Repo, workspace: Seen, seen: Seen) -> Layer | None:
    record = record_of(workspace)
    try:
        rows = layers_delta(ctx, repo, record.layers)
        layer = await write_layer(repo.store, ctx.runtime, ctx.ids.new(), rows, ctx.tuning.layer_bytes)
    except MissingFileError:
        if await is_unchanged(ctx, repo, workspace):
            raise
        return None
    done = await put_on_top(
        ctx,
        repo,
        seen,
        layer,
        puts=rows_of(repo, closing(ctx, record, "popped")),
        checks=[workspace.check(repo), nothing_staged(record)],
        dropped=everything_of(record),
    )
    return layer if done else None
