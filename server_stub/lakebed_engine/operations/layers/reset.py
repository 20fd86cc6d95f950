"""Resets a prefix: puts a layer with the committed entries over the staged ones."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pyarrow as pa

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.compare_and_swap import after_reset, nothing_staged, seal, swap
from lakebed_engine.operations.branch.view import View, is_unchanged, source_of, tree_of
from lakebed_engine.operations.context import Context, Repo, Seen, open_repo, read_record
from lakebed_engine.operations.keys import STAGED_MARKER, staging
from lakebed_engine.operations.layers.push import refuse_full
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.tree.cursor import Cursor
from lakebed_engine.tree.layers import write_layer
from lakebed_engine.tree.rows import delta_table, prefix_end
from lakebed_engine.vocabulary.errors import (
    MissingFileError,
)
from lakebed_engine.vocabulary.records import Entry, Layer


async def reset_prefix(ctx: Context, repo_name: str, branch: str, prefix: str, *, force: bool = False) -> None:
    """Make every path that begins with `prefix` show what is committed. Does nothing when nothing is staged there.

    Raises BranchNotFoundError, and BackpressureError when the branch already has the largest number of layers.
    """
    validation.check_text("prefix", prefix)
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=branch)

    async def attempt() -> bool | None:
        before = await read_record(ctx, repo, branch)
        refuse_full(ctx, repo, branch, before.record.layers)
        seen = await seal(ctx, repo, before)
        if seen is None:
            return None
        try:
            return await _reset_sealed(ctx, repo, seen, prefix) or None
        except MissingFileError:
            if await is_unchanged(ctx, repo, seen):
                raise
            return None

    await retry_on_conflict(f"branch {branch!r} of {repo.name!r}", attempt)


async def _reset_sealed(ctx: Context, repo: Repo, seen: Seen, prefix: str) -> bool:
    """Put a layer with the entries of the head over the sealed layers. False when the record has changed."""
    record = seen.record
    view = View(ctx, repo, list(map(source_of, record.layers)), await tree_of(ctx, repo, record.commit_id))
    staged = view.staged_cursor()
    await staged.seek(prefix)
    if staged.path is None or not staged.path.startswith(prefix):
        return await is_unchanged(ctx, repo, seen)
    refuse_full(ctx, repo, record.name, record.layers)
    rows = _committed(ctx, staged, view.tree_cursor(), prefix)
    layer = await write_layer(repo.store, ctx.runtime, ctx.ids.new(), rows, ctx.tuning.layer_bytes)
    if layer.parts:
        return await _put_under_token(ctx, repo, seen, layer)
    # count the reset although nothing differs: a running commit may have folded only older layers, which do differ
    return await swap(ctx, repo, seen, after_reset(record))


async def _put_under_token(ctx: Context, repo: Repo, seen: Seen, layer: Layer) -> bool:
    """Put the layer of a reset directly below the live token, which is sealed above it. False: the record changed.

    Rows that were staged since the seal stay, as if they had come after the reset. So a batch of rows is reset as a
    whole or not at all, and writers cannot delay a reset. The token must change: otherwise a reader of the old record
    would see later rows without the reset below them.
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
    """For each staged path from here on with `prefix`: the committed entry, or a tombstone if there is none.

    Skips paths where the same is staged, so a repeated reset pushes nothing.
    """
    rows: list[tuple[str, Entry | None]] = []
    end = prefix_end(prefix) if prefix else None
    while staged.path is not None and (end is None or staged.path < end):
        await tree.seek(staged.path)
        committed = tree.entry() if tree.path == staged.path else None
        if staged.entry() != committed:
            rows.append((staged.path, committed))
        if len(rows) >= ctx.tuning.reset_rows:
            yield await ctx.runtime.cpu(delta_table, rows)
            rows = []
        await staged.next()
    if rows:
        yield await ctx.runtime.cpu(delta_table, rows)
