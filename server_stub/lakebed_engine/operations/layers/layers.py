"""Layers: push a delta as one unit, compact runs of layers, reset a prefix (`PROTOCOL.md` 3, PUSH, COMPACT).

A file layer is durable before the record names it, and its id is never used again.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from operator import itemgetter, lt

import msgspec
import pyarrow as pa

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.compare_and_swap import COMPACT_FROM, nothing_staged, seal, swap
from lakebed_engine.operations.branch.record import after_reset
from lakebed_engine.operations.branch.view import View, layers_delta, source_of, stands, tree_of
from lakebed_engine.operations.context import Context, Repo, Seen, open_repo, read_record
from lakebed_engine.operations.keys import STAGED_MARKER, staging, workspace_id
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import Check, Put
from lakebed_engine.tree.cursor import Cursor
from lakebed_engine.tree.layers import layer_tree, write_layer
from lakebed_engine.tree.rows import delta_table, prefix_end
from lakebed_engine.vocabulary.errors import (
    BackpressureError,
    InvalidRequestError,
    MissingFileError,
    NotFoundError,
    TooManyAttemptsError,
    WorkspaceClosedError,
)
from lakebed_engine.vocabulary.records import Entry, Layer

CAP = 32
"""Layers of a branch: a push beyond is refused until a compaction or a commit has made room."""

_ROWS = 10_000
"""Rows of a reset that are gathered at once."""


async def push(ctx: Context, repo: Repo, branch: str, delta: AsyncIterator[pa.Table]) -> Layer:
    """Publish a delta (tables of DELTA_SCHEMA, ascending) in one swap: a reader sees all of it or nothing.

    Raises BackpressureError when the branch has CAP layers, BranchNotFoundError, InvalidRequestError for no rows.
    """
    seen = await read_record(ctx, repo, branch)
    refuse_full(repo, branch, seen.record.layers)
    layer = await write_layer(repo.store, ctx.runtime, ctx.ids.new(), delta)
    if not layer.parts:
        raise InvalidRequestError("a delta without rows: nothing to push")

    async def attempt() -> Layer | None:
        return layer if await put_on_top(ctx, repo, await read_record(ctx, repo, branch), layer) else None

    return await retry_on_conflict(f"branch {branch!r} of {repo.name!r}", attempt)


def refuse_full(repo: Repo, branch: str, layers: Sequence[Layer]) -> None:
    """Raises BackpressureError when a branch with these layers has no room for another."""
    if len(layers) >= CAP:
        what = "branch" if workspace_id(branch) is None else "workspace"
        raise BackpressureError(
            f"{what} {branch!r} of {repo.name!r} has {len(layers)} layers, at most {CAP}: nothing was "
            "changed; try again when they are compacted, or commit"
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
    """Make `layer` the newest of the record as seen. False: it changed meanwhile.

    The token rotates, or rows that were acknowledged before would hide the layer. Without rows it is not kept as a
    layer; that it still has none is part of the swap. Further rows, checks and dropped layers go into the same batch.
    Raises BackpressureError.
    """
    record = seen.record
    used = await ctx.kv.get(staging(record.staging_token), STAGED_MARKER) is not None
    below = (Layer(record.staging_token), *record.layers) if used else record.layers
    refuse_full(repo, record.name, below)
    new = msgspec.structs.replace(record, gen=record.gen + 1, staging_token=ctx.ids.new(), layers=(layer, *below))
    guard = [] if used else [nothing_staged(record)]
    gone = [] if used else [Layer(record.staging_token)]
    return await swap(ctx, repo, seen, new, puts=puts, checks=[*guard, *checks], dropped=[*gone, *dropped])


async def push_rows(
    ctx: Context, repo_name: str, branch: str, rows: Sequence[tuple[str, Entry | None]], force: bool
) -> Layer:
    """As `push`, for rows (None: a tombstone) in any order, each path once."""
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=branch)
    paths = [path for path, _ in rows]
    validation.check_paths(paths)
    if not all(map(lt, paths, itertools.islice(paths, 1, None))):
        rows = sorted(rows, key=itemgetter(0))
        for (path, _), (following, _) in itertools.pairwise(rows):
            if path == following:
                raise InvalidRequestError(f"object {path!r} is twice in one push: nothing was changed")
    return await push(ctx, repo, branch, _tables(ctx, rows))


async def _tables(ctx: Context, rows: Sequence[tuple[str, Entry | None]]) -> AsyncIterator[pa.Table]:
    for start in range(0, len(rows), 50_000):
        yield await ctx.runtime.cpu(delta_table, rows[start : start + 50_000])


async def compact(ctx: Context, repo: Repo, branch: str, *, least: int = COMPACT_FROM) -> int:
    """Replace a contiguous run of layers by one of the same rows, tombstones kept. How many layers it took away.

    Gives up, changing nothing, when the run is no longer there: a commit or a reset has taken it.
    """
    seen = await read_record(ctx, repo, branch)
    run = choose_run(seen.record.layers, least)
    if not run:
        return 0
    try:
        out = await write_layer(repo.store, ctx.runtime, ctx.ids.new(), layers_delta(ctx, repo, run))
    except MissingFileError:
        if await stands(ctx, repo, seen):
            raise
        return 0
    replacement = (out,) if out.parts else ()

    async def attempt() -> int | None:
        seen = await read_record(ctx, repo, branch)
        layers = seen.record.layers
        at = next((i for i, layer in enumerate(layers) if layer.id == run[0].id), -1)
        if at < 0 or layers[at : at + len(run)] != run:
            return 0
        new = (*layers[:at], *replacement, *layers[at + len(run) :])
        record = msgspec.structs.replace(seen.record, gen=seen.record.gen + 1, layers=new)
        return len(run) - len(replacement) if await swap(ctx, repo, seen, record, dropped=run) else None

    taken = 0
    with suppress(TooManyAttemptsError):
        taken = await retry_on_conflict(f"branch {branch!r} of {repo.name!r}", attempt)
    if not taken:
        await repo.store.delete([info.file for info in layer_tree(out).ranges])
    return taken


async def maintain(ctx: Context) -> int:
    """Compact what `swap` noted. A branch that is gone, or was compacted by another process, costs a look."""
    taken = 0
    for name, branch in list(ctx.crowded):
        ctx.crowded.pop((name, branch), None)
        try:
            taken += await compact(ctx, await open_repo(ctx, name), branch)
        except (NotFoundError, WorkspaceClosedError):
            continue
    return taken


def choose_run(layers: tuple[Layer, ...], least: int) -> tuple[Layer, ...]:
    """The newest layers that are worth merging: each no larger than four times what is newer, so that rows are
    rewritten a number of times that grows with the logarithm of their count only.
    """
    if len(layers) < max(2, least):
        return ()
    taken, rows = 0, 0
    for layer in layers:
        size = sum(part.rows for part in layer.parts)
        if taken >= max(2, least // 2) and size > 4 * max(rows, 1000):
            break
        taken, rows = taken + 1, rows + size
    return layers[:taken]


async def reset_prefix(ctx: Context, repo_name: str, branch: str, prefix: str, force: bool) -> None:
    """Make every path that begins with `prefix` show what is committed; nothing happens when nothing is staged there.

    Raises BackpressureError when the branch has CAP layers, BranchNotFoundError.
    """
    validation.check_text("prefix", prefix)
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=branch)

    async def attempt() -> bool | None:
        before = await read_record(ctx, repo, branch)
        refuse_full(repo, branch, before.record.layers)
        seen = await seal(ctx, repo, before)
        if seen is None:
            return None
        try:
            return await _reset_sealed(ctx, repo, seen, prefix) or None
        except MissingFileError:
            if await stands(ctx, repo, seen):
                raise
            return None

    await retry_on_conflict(f"branch {branch!r} of {repo.name!r}", attempt)


async def _reset_sealed(ctx: Context, repo: Repo, seen: Seen, prefix: str) -> bool:
    """Put a delta that says what the head says on top of the sealed layers. False: the record changed meanwhile."""
    record = seen.record
    view = View(ctx, repo, list(map(source_of, record.layers)), await tree_of(ctx, repo, record.commit_id))
    staged = view.staged_cursor()
    await staged.seek(prefix)
    if staged.path is None or not staged.path.startswith(prefix):
        return await stands(ctx, repo, seen)
    refuse_full(repo, record.name, record.layers)
    layer = await write_layer(
        repo.store, ctx.runtime, ctx.ids.new(), _committed(ctx, staged, view.tree_cursor(), prefix)
    )
    if layer.parts:
        return await _put_under_token(ctx, repo, seen, layer)
    # counted although all equals the head: a running commit may have folded only older layers, which do not
    return await swap(ctx, repo, seen, after_reset(record))


async def _put_under_token(ctx: Context, repo: Repo, seen: Seen, layer: Layer) -> bool:
    """Make a reset's layer the newest but for the live token, which is sealed above it. False: the record changed.

    What was staged since the seal stays, as if it had come after the reset: so a batch of rows is reset as a whole or
    not at all, and writers cannot hold up a reset. The token rotates, or a reader who holds the record as it was would
    see rows that come later without the reset under them.
    """
    record = seen.record
    below = (layer, *record.layers)
    new = msgspec.structs.replace(after_reset(record), staging_token=ctx.ids.new(), layers=below)
    token = Layer(record.staging_token)
    if await ctx.kv.get(staging(token.id), STAGED_MARKER) is None:
        if await swap(ctx, repo, seen, new, checks=[nothing_staged(record)], dropped=[token]):
            return True
        new = msgspec.structs.replace(new, staging_token=ctx.ids.new())
    return await swap(ctx, repo, seen, msgspec.structs.replace(new, layers=(token, *below)))


async def _committed(ctx: Context, staged: Cursor, tree: Cursor, prefix: str) -> AsyncIterator[pa.Table]:
    """For each staged path from here on under `prefix` what the tree says about it, a tombstone where it says nothing.

    Not for those where that is what is staged: resetting once more pushes nothing.
    """
    rows: list[tuple[str, Entry | None]] = []
    end = prefix_end(prefix) if prefix else None
    while staged.path is not None and (end is None or staged.path < end):
        await tree.seek(staged.path)
        committed = tree.entry() if tree.path == staged.path else None
        if staged.entry() != committed:
            rows.append((staged.path, committed))
        if len(rows) >= _ROWS:
            yield await ctx.runtime.cpu(delta_table, rows)
            rows = []
        await staged.next()
    if rows:
        yield await ctx.runtime.cpu(delta_table, rows)
