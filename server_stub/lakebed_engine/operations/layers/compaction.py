"""Merge a run of layers of a branch into one (`PROTOCOL.md` 3, COMPACT)."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from lakebed_engine.operations.branch.compare_and_swap import swap
from lakebed_engine.operations.branch.view import is_unchanged, layers_delta
from lakebed_engine.operations.context import Context, Repo, open_repo, read_record
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.tree.layers import layer_tree, write_layer
from lakebed_engine.vocabulary.errors import (
    MissingFileError,
    NotFoundError,
    TooManyAttemptsError,
    WorkspaceClosedError,
)
from lakebed_engine.vocabulary.records import Layer


async def compact(ctx: Context, repo: Repo, branch: str, *, least: int | None = None) -> int:
    """Replace a contiguous run of layers by one with the same rows and tombstones. Returns how many layers it removed.

    Does nothing when a commit or a reset has taken the run.
    """
    least = ctx.tuning.compact_from if least is None else least
    seen = await read_record(ctx, repo, branch)
    run = choose_run(seen.record.layers, least)
    if not run:
        return 0
    try:
        rows = layers_delta(ctx, repo, run)
        out = await write_layer(repo.store, ctx.runtime, ctx.ids.new(), rows, ctx.tuning.layer_bytes)
    except MissingFileError:
        if await is_unchanged(ctx, repo, seen):
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
    """Compact the branches that `swap` recorded. Skips a branch that is gone or was compacted by another process."""
    taken = 0
    for name, branch in list(ctx.crowded):
        ctx.crowded.pop((name, branch), None)
        try:
            taken += await compact(ctx, await open_repo(ctx, name), branch)
        except (NotFoundError, WorkspaceClosedError):
            continue
    return taken


async def compact_branch(ctx: Context, repo_name: str, branch: str, *, least: int | None = None) -> int:
    """Merge a run of layers of a branch when it has at least `least`. Returns how many layers it removed.

    The default of `least` is the engine's `Tuning.compact_from`.
    """
    return await compact(ctx, await open_repo(ctx, repo_name), branch, least=least)


def choose_run(layers: tuple[Layer, ...], least: int) -> tuple[Layer, ...]:
    """The newest layers that are worth merging: each at most four times as large as all newer ones together.

    So the number of times that a row is rewritten grows only with the logarithm of the number of rows.
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
