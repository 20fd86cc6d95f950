"""Put a delta on a branch as one layer (`PROTOCOL.md` 3, PUSH).

A file layer is durable before the record names it, and its id is never used again.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Sequence
from operator import itemgetter, lt

import msgspec
import pyarrow as pa

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.compare_and_swap import nothing_staged, swap
from lakebed_engine.operations.context import Context, Repo, Seen, open_repo, read_record
from lakebed_engine.operations.keys import STAGED_MARKER, staging, workspace_id
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import Check, Put
from lakebed_engine.tree.layers import write_layer
from lakebed_engine.tree.rows import delta_table
from lakebed_engine.vocabulary.errors import (
    BackpressureError,
    InvalidRequestError,
)
from lakebed_engine.vocabulary.records import Entry, Layer


async def push(ctx: Context, repo: Repo, branch: str, delta: AsyncIterator[pa.Table]) -> Layer:
    """Publish a delta (tables of DELTA_SCHEMA, ascending) in one swap: a reader sees all of it or nothing.

    Raises BranchNotFoundError, BackpressureError when the branch already has the largest number of layers, and
    InvalidRequestError for a delta without rows.
    """
    seen = await read_record(ctx, repo, branch)
    refuse_full(ctx, repo, branch, seen.record.layers)
    layer = await write_layer(repo.store, ctx.runtime, ctx.ids.new(), delta, ctx.tuning.layer_bytes)
    if not layer.parts:
        raise InvalidRequestError("a delta without rows: nothing to push")

    async def attempt() -> Layer | None:
        return layer if await put_on_top(ctx, repo, await read_record(ctx, repo, branch), layer) else None

    return await retry_on_conflict(f"branch {branch!r} of {repo.name!r}", attempt)


def refuse_full(ctx: Context, repo: Repo, branch: str, layers: Sequence[Layer]) -> None:
    """Raises BackpressureError when a branch with these layers cannot take another."""
    most = ctx.tuning.max_layers
    if len(layers) >= most:
        what = "branch" if workspace_id(branch) is None else "workspace"
        raise BackpressureError(
            f"{what} {branch!r} of {repo.name!r} has {len(layers)} layers, at most {most}: nothing was changed; "
            "commit, or try again after a compaction"
        )


async def put_on_top(
    ctx: Context,
    repo: Repo,
    seen: Seen,
    layer: Layer,
    *,
    puts: Sequence[Put] = (),
    checks: Sequence[Check] = (),
    dropped: Sequence[Layer] = (),
) -> bool:
    """Make `layer` the newest layer of the record `seen`. False when the record has changed.

    The token must change, because its older rows would hide the layer. A token with rows becomes a layer. For a token
    without rows, the swap checks that it still has none. Further rows, checks and dropped layers go into the same
    batch.

    Raises BackpressureError.
    """
    record = seen.record
    used = await ctx.kv.get(staging(record.staging_token), STAGED_MARKER) is not None
    below = (Layer(record.staging_token), *record.layers) if used else record.layers
    refuse_full(ctx, repo, record.name, below)
    new = msgspec.structs.replace(record, gen=record.gen + 1, staging_token=ctx.ids.new(), layers=(layer, *below))
    guard = [] if used else [nothing_staged(record)]
    gone = [] if used else [Layer(record.staging_token)]
    return await swap(ctx, repo, seen, new, puts=puts, checks=[*guard, *checks], dropped=[*gone, *dropped])


async def push_rows(
    ctx: Context, repo_name: str, branch: str, rows: Sequence[tuple[str, Entry | None]], *, force: bool = False
) -> Layer:
    """Like `push`, for rows in any order, each path once. None is a tombstone."""
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=branch)
    paths = [path for path, _ in rows]
    validation.check_paths(paths)
    if not all(map(lt, paths, itertools.islice(paths, 1, None))):
        rows = sorted(rows, key=itemgetter(0))
        for (path, _), (following, _) in itertools.pairwise(rows):
            if path == following:
                raise InvalidRequestError(f"object {path!r} occurs twice in one push: nothing was changed")
    return await push(ctx, repo, branch, _tables(ctx, rows))


async def _tables(ctx: Context, rows: Sequence[tuple[str, Entry | None]]) -> AsyncIterator[pa.Table]:
    for start in range(0, len(rows), 50_000):
        yield await ctx.runtime.cpu(delta_table, rows[start : start + 50_000])
