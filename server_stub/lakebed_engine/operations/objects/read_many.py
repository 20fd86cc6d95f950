"""Finds many objects of one state of a ref, so that their data can be read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.branch.view import View, steady, tree_of
from lakebed_engine.operations.context import Context, open_repo
from lakebed_engine.operations.objects.read import first_of, list_page, not_found, readable
from lakebed_engine.vocabulary.errors import EngineError, InvalidPathError, InvalidRequestError, ObjectNotFoundError
from lakebed_engine.vocabulary.records import Entry, Page
from lakebed_engine.vocabulary.requests import FoundObject

MAX_OBJECTS: Final = 10_000
"""Objects of one batch."""

_GROUP = 500
"""Number of paths that are looked up before other requests get a turn."""

_PAGE = 1000


async def find_many(ctx: Context, repo_name: str, ref: str, paths: Sequence[str]) -> Sequence[FoundObject]:
    """The objects at these paths, in their order, from one view. A path without an object has its own error."""
    if len(paths) > MAX_OBJECTS:
        raise InvalidRequestError(f"{len(paths)} paths: at most {MAX_OBJECTS} in one request")
    refused: dict[str, EngineError] = {}
    for path in paths:
        try:
            validation.check_path(path)
        except InvalidPathError as error:
            refused[path] = error
    valid = sorted(set(paths) - refused.keys())  # neighbours are in one block of the tree
    repo = await open_repo(ctx, repo_name)

    async def look_up(view: View) -> dict[str, Entry | None]:
        entries: dict[str, Entry | None] = {}
        for start in range(0, len(valid), _GROUP):
            if start:
                await ctx.runtime.sleep(0)
            entries |= await view.find_many(valid[start : start + _GROUP])
        return entries

    entries = await steady(ctx, repo, ref, look_up)

    def found(path: str) -> FoundObject:
        if path in refused:
            return FoundObject(path, refused[path])
        entry = entries[path]
        return FoundObject(path, not_found(repo_name, ref, path) if entry is None else readable(ctx, repo, entry))

    return [found(path) for path in paths]


async def find_below(
    ctx: Context, repo_name: str, ref: str, *, prefix: str, after: str = "", amount: int = MAX_OBJECTS
) -> Page[FoundObject]:
    """The first `amount` objects with a prefix, after the path `after`, from one view."""
    validation.check_texts(prefix=prefix, after=after)
    repo = await open_repo(ctx, repo_name)
    start = first_of(prefix, after, "")
    if start is None:
        return Page([], has_more=False)
    page = await steady(ctx, repo, ref, lambda view: list_page(view, start, prefix, amount, ""))
    found = [FoundObject(row.path, readable(ctx, repo, row.entry)) for row in page.items if row.entry is not None]
    return Page(found, has_more=page.has_more)


async def find_committed(ctx: Context, repo_name: str, ref: str, prefix: str) -> AsyncIterator[FoundObject]:
    """The objects with a prefix in the commit of a ref, in the order of their paths.

    A branch means its last commit. Raises InvalidRefError for a ref of uncommitted changes, and ObjectNotFoundError
    when no object has the prefix.
    """
    validation.check_texts(prefix=prefix)
    repo = await open_repo(ctx, repo_name)
    commit = await resolve_commit(ctx, repo, ref, candidates=True)
    view = View(ctx, repo, (), await tree_of(ctx, repo, commit.id))
    first = await list_page(view, prefix, prefix, _PAGE, "")
    if not first.items:
        raise ObjectNotFoundError(f"no object of {ref!r} in repository {repo_name!r} has the prefix {prefix!r}")

    async def objects() -> AsyncIterator[FoundObject]:
        page = first
        while True:
            for row in page.items:
                if row.entry is not None:
                    yield FoundObject(row.path, readable(ctx, repo, row.entry))
            if not page.has_more:
                return
            page = await list_page(view, page.items[-1].path + "\0", prefix, _PAGE, "")

    return objects()
