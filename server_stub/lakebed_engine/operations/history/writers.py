"""Finds the commit that wrote each file of a listing: the newest one in which the file got its current content.

One walk over the log finds the commits of all files of a page. The walk is bounded, so a file may have no commit in the
result.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

from lakebed_engine.operations.branch.resolve import resolve
from lakebed_engine.operations.branch.view import tree_of
from lakebed_engine.operations.context import Context, Repo, load_commit, open_repo
from lakebed_engine.operations.history.changed_paths import changed_paths_of
from lakebed_engine.operations.history.log import Steps
from lakebed_engine.operations.objects.read import list_objects
from lakebed_engine.tree.changed_paths import PathQuery
from lakebed_engine.tree.trees import Tree
from lakebed_engine.vocabulary.records import Commit, Entry, Page, Written
from lakebed_engine.vocabulary.requests import LogRequest

BUDGET: Final = 0.2
"""Seconds after which a request reads no more commits."""


async def list_writers(
    ctx: Context,
    repo_name: str,
    ref: str,
    *,
    prefix: str = "",
    after: str = "",
    amount: int = 100,
    budget: float = BUDGET,
) -> Page[Written]:
    """A page of a ref's objects in byte order, with their commits.

    Raises RefNotFoundError, InvalidRefError, InvalidRequestError.
    """
    end = ctx.clock.monotonic() + budget
    page = await list_objects(ctx, repo_name, ref, prefix=prefix, after=after, amount=amount)
    entries = {row.path: row.entry for row in page.items if row.entry is not None}
    repo = await open_repo(ctx, repo_name)
    head = await load_commit(ctx, repo, (await resolve(ctx, repo, ref)).commit_id)
    tree = await tree_of(ctx, repo, head.id)
    committed = {path: entry for path, entry in entries.items() if await _has(ctx, repo, tree, path, entry)}
    found = await _commits(ctx, repo, head, committed, end)
    items = [Written(path, entry, path not in committed, found.get(path)) for path, entry in entries.items()]
    return Page(items, page.has_more)


async def _commits(ctx: Context, repo: Repo, head: Commit, wanted: dict[str, Entry], end: float) -> dict[str, Commit]:
    """The commits of those paths that were found in time."""
    left, found = dict(wanted), {}
    async with aclosing(_candidates(ctx, repo, head, list(wanted))) as candidates:
        async for commit_id in candidates:
            commit = await load_commit(ctx, repo, commit_id)
            for path in await _written(ctx, repo, commit, left):
                found[path] = commit
                del left[path]
            if not left or ctx.clock.monotonic() >= end:
                break
    return found


async def _candidates(ctx: Context, repo: Repo, head: Commit, paths: Sequence[str]) -> AsyncGenerator[str]:
    if paths:
        async for step in Steps(ctx, repo, head, LogRequest(objects=paths)).all():
            for index in step.candidates:
                yield step.ids[index]


async def _written(ctx: Context, repo: Repo, commit: Commit, left: dict[str, Entry]) -> list[str]:
    """The paths that got their current content in a commit. Only a commit with one parent can write."""
    if len(commit.parents) != 1:
        return []
    changed = await changed_paths_of(ctx, repo, commit)
    paths = [path for path in left if PathQuery((path,), ()).may_match(changed)]
    if not paths:
        return []
    old, new = await tree_of(ctx, repo, commit.parents[0]), await tree_of(ctx, repo, commit.id)
    fresh = [path for path in paths if await _has(ctx, repo, new, path, left[path])]
    return [path for path in fresh if not await _has(ctx, repo, old, path, left[path])]


async def _has(ctx: Context, repo: Repo, tree: Tree, path: str, entry: Entry) -> bool:
    there = await ctx.trees.find(repo.store, tree, path)
    return there is not None and there.identity == entry.identity
