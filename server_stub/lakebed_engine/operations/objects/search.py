"""Search by name: a listing of the paths that contain a text. It reads a bounded number of paths."""

from __future__ import annotations

from typing import Final

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.view import View, steady
from lakebed_engine.operations.context import Context, open_repo
from lakebed_engine.operations.objects.read import first_of
from lakebed_engine.operations.validation import PAGE_BYTES, metadata_size
from lakebed_engine.tree.rows import prefix_end
from lakebed_engine.vocabulary.errors import InvalidRequestError
from lakebed_engine.vocabulary.records import Listed, SearchPage

MAX_SCANNED: Final = 50_000
"""Paths that one request reads."""


async def search(
    ctx: Context,
    repo_name: str,
    ref: str,
    *,
    query: str,
    prefix: str = "",
    after: str = "",
    amount: int = 100,
    most_scanned: int = MAX_SCANNED,
) -> SearchPage:
    """A page of the objects whose path contains `query` after `prefix`. The search ignores case.

    It reads at most `most_scanned` paths.
    """
    validation.check_amount(amount)
    validation.check_texts(q=query, prefix=prefix, after=after)
    if not query:
        raise InvalidRequestError("q: expected the text to search for")
    repo = await open_repo(ctx, repo_name)
    start = first_of(prefix, after, "")
    if start is None:
        return SearchPage([], "", 0)
    return await steady(
        ctx, repo, ref, lambda view: _search(view, start, prefix, query.casefold(), amount, most_scanned)
    )


async def _search(view: View, start: str, prefix: str, query: str, amount: int, most_scanned: int) -> SearchPage:
    items: list[Listed] = []
    scanned = size = 0
    end = prefix_end(prefix)
    cursor = view.cursor()
    await cursor.seek(start)
    while cursor.path is not None and (end is None or cursor.path < end):
        rows, first, stop = cursor.run(end)
        stop = min(stop, first + most_scanned - scanned)
        for index in range(first, stop):
            scanned += 1
            path = rows.path(index)
            if query in path[len(prefix) :].casefold():
                found = list(rows.listed(index, index + 1))
                items += found
                size += sum(metadata_size(one.entry.metadata) for one in found if one.entry is not None)
                if len(items) == amount or size > PAGE_BYTES:
                    return SearchPage(items, path, scanned)
        if scanned == most_scanned:
            return SearchPage(items, rows.path(stop - 1), scanned, bound_reached=True)
        await cursor.skip(stop - first)
        await view.ctx.runtime.sleep(0)
    return SearchPage(items, "", scanned)
