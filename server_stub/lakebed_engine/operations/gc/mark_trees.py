"""Reads which files commits name: ranges and patches, and with `data` the objects of their rows.

A sweep reads each file once. Files are named by their content, so the second check reads only new files.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from lakebed_format import decode_range, decode_tree
from lakebed_format.decoding import FormatError
from lakebed_format.keys import RANGES, metarange_file
from lakebed_format.tree.reading import decode_patch

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.gc.mark_refs import name_objects, refuse
from lakebed_engine.operations.gc.scratch_db import ScratchDb
from lakebed_engine.vocabulary.errors import BlobNotFound, CorruptDataError

Keep = Callable[[], Awaitable[None]]


async def read_trees(ctx: Context, repo: Repo, scratch: ScratchDb, keep: Keep, *, data: bool) -> None:
    """Record what the trees of all commits name. Awaits `keep` before each page. Raises CorruptDataError."""
    for page in scratch.unread("metarange"):
        await keep()
        await ctx.runtime.gather([partial(_read_metarange, ctx, repo, scratch, one, data) for one, _ in page])
        scratch.was_read(key for key, _ in page)
    for page in scratch.unread("range"):
        await keep()
        await ctx.runtime.gather([partial(_read_range, ctx, repo, scratch, one, level) for one, level in page])
        scratch.was_read(key for key, _ in page)


async def _read_metarange(ctx: Context, repo: Repo, scratch: ScratchDb, tree_id: str, data: bool) -> None:
    key = metarange_file(tree_id)
    try:
        rows, inline_patch = await ctx.runtime.cpu(decode_tree, await repo.store.get(key), tree_id)
    except (BlobNotFound, CorruptDataError, FormatError) as error:
        raise refuse(repo, f"{key} cannot be read ({error})") from None
    ids = rows.column("range_id").to_pylist()
    levels = rows.column("level").to_pylist() if "level" in rows.column_names else [0] * len(ids)
    if inline_patch is not None:  # the last patch is inside this file
        ids.pop()
        if data:
            name_objects(repo, scratch, inline_patch.column("physical_address").to_pylist())
    scratch.name(f"{RANGES}{one}.parquet" for one in ids)  # ranges and patches have the same folder
    if data:
        for one, level in zip(ids, levels, strict=False):
            scratch.to_read([one], "range", level)


async def _read_range(ctx: Context, repo: Repo, scratch: ScratchDb, range_id: str, level: int) -> None:
    key = f"{RANGES}{range_id}.parquet"
    try:
        addresses = await ctx.runtime.cpu(_addresses, await repo.store.get(key), range_id, level)
    except (BlobNotFound, CorruptDataError, FormatError) as error:
        raise refuse(repo, f"{key} cannot be read ({error})") from None
    name_objects(repo, scratch, addresses)


def _addresses(data: bytes, range_id: str, level: int) -> list[str]:
    rows = decode_patch(data, range_id) if level else decode_range(data, range_id, ["physical_address"])
    found: list[str] = rows.column("physical_address").to_pylist()
    return found
