"""Differences as pages: uncommitted, two-dot and three-dot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Literal

import pyarrow as pa

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.resolve import Resolved, resolve
from lakebed_engine.operations.branch.view import View, steady, tree_of, view_of
from lakebed_engine.operations.context import Context, Repo, load_commit, open_repo, read_record
from lakebed_engine.operations.history.merge_base import require_base
from lakebed_engine.operations.objects.read import first_of, group_of, uncommitted
from lakebed_engine.tree.block import Block
from lakebed_engine.tree.cursor import Cursor
from lakebed_engine.tree.diff import Changes, diff
from lakebed_engine.tree.rows import prefix_end
from lakebed_engine.tree.trees import KEY_COLUMNS, Tree
from lakebed_engine.vocabulary.errors import InvalidRefError
from lakebed_engine.vocabulary.records import DiffEntry, Entry, Page

Stream = Callable[[str], AsyncIterator[DiffEntry]]
"""Returns the differences from a path on, in order of path."""


async def _page(stream: Stream, prefix: str, after: str, amount: int, delimiter: str) -> Page[DiffEntry]:
    validation.check_amount(amount)
    validation.check_texts(prefix=prefix, after=after, delimiter=delimiter)
    items: list[DiffEntry] = []
    start = first_of(prefix, after, delimiter)
    while start is not None:
        begin, start = start, None
        rows = stream(begin)
        async for row in rows:
            if not row.path.startswith(prefix):
                break
            if len(items) == amount:
                return Page(items, has_more=True)
            group = group_of(row.path, prefix, delimiter)
            if group is None:
                items.append(row)
                continue
            items.append(DiffEntry("prefix_changed", group, None, None))
            start = prefix_end(group)
            break
        await rows.aclose()  # type: ignore[attr-defined]
    return Page(items, has_more=False)


async def diff_branch(
    ctx: Context,
    repo_name: str,
    branch: str,
    *,
    after: str = "",
    amount: int = 100,
    prefix: str = "",
    delimiter: str = "",
) -> Page[DiffEntry]:
    """Uncommitted changes against the branch's head."""
    repo = await open_repo(ctx, repo_name)
    await read_record(ctx, repo, branch)

    async def page(view: View) -> Page[DiffEntry]:
        return await _page(lambda start: uncommitted(view, start), prefix, after, amount, delimiter)

    return await steady(ctx, repo, f"{branch}$", page)


async def diff_refs(
    ctx: Context,
    repo_name: str,
    left: str,
    right: str,
    *,
    mode: Literal["two_dot", "three_dot"] = "three_dot",
    after: str = "",
    amount: int = 100,
    prefix: str = "",
    delimiter: str = "",
    details: bool = True,
) -> Page[DiffEntry]:
    """two_dot: the changes from left to right. three_dot: the changes of right since the merge base, seen from left.

    Without `details` the entries may have only size and identity, which is several times faster.
    """
    repo = await open_repo(ctx, repo_name)
    one = await resolve(ctx, repo, left)
    other = await resolve(ctx, repo, right)
    if one.staged or (other.staged and mode == "three_dot"):
        raise InvalidRefError("'$' (uncommitted changes) is only allowed on the right side of a two-dot diff")
    tree = await tree_of(ctx, repo, one.commit_id)
    if other.staged:
        view = await view_of(ctx, repo, other)
        left_view = await view_of(ctx, repo, Resolved(one.commit_id))
        stream = _cursors(left_view.cursor, view.cursor)
    elif mode == "two_dot":
        stream = _two_dot(ctx, repo, tree, await tree_of(ctx, repo, other.commit_id), prefix, details)
    else:
        stream = await _three_dot(ctx, repo, one.commit_id, other.commit_id, prefix, details)
    return await _page(stream, prefix, after, amount, delimiter)


def _two_dot(ctx: Context, repo: Repo, left: Tree, right: Tree, prefix: str, details: bool) -> Stream:
    async def rows(start: str) -> AsyncIterator[DiffEntry]:
        found = diff(
            ctx.trees, repo.store, ctx.runtime, left, right, start=start, prefix=prefix,
            detail="full" if details else "slim",
        )  # fmt: skip
        async for changes in found:
            for row in entries(changes) if details else slim_entries(changes):
                yield row

    return rows


async def _three_dot(ctx: Context, repo: Repo, left_id: str, right_id: str, prefix: str, details: bool) -> Stream:
    left, right = await load_commit(ctx, repo, left_id), await load_commit(ctx, repo, right_id)
    base = await require_base(ctx, repo, left, right)
    base_tree, right_tree = await tree_of(ctx, repo, base.id), await tree_of(ctx, repo, right_id)
    left_tree = await tree_of(ctx, repo, left_id)

    async def rows(start: str) -> AsyncIterator[DiffEntry]:
        async for row in _two_dot(ctx, repo, base_tree, right_tree, prefix, details)(start):
            if left_tree.id == base_tree.id:
                yield row
                continue
            here = await ctx.trees.find(repo.store, left_tree, row.path)
            if _same(here, row.right):
                continue
            yield row if _same(here, row.left) else DiffEntry("conflict", row.path, here, row.right)

    return rows


def _same(one: Entry | None, other: Entry | None) -> bool:
    return (one and one.identity) == (other and other.identity)


def entries(changes: Changes) -> Iterator[DiffEntry]:
    """A window of changes as rows. Created one by one, because a page may need only a few rows of a range."""
    left, right = Block(changes.left), Block(changes.right)
    for at_left, at_right in zip(changes.at_left.tolist(), changes.at_right.tolist(), strict=True):
        old: Any = left.entry(at_left) if at_left >= 0 else None
        new: Any = right.entry(at_right) if at_right >= 0 else None
        path = right.path(at_right) if at_right >= 0 else left.path(at_left)
        yield DiffEntry("changed" if old and new else "added" if new else "removed", path, old, new)


def slim_entries(changes: Changes) -> Iterator[DiffEntry]:
    """A window of changes as rows whose entries have only size and identity."""
    for first in range(0, len(changes), _SLIM):
        part = slice(first, first + _SLIM)
        sides = [_slim(changes.left, changes.at_left[part]), _slim(changes.right, changes.at_right[part])]
        for old, new in zip(*sides, strict=True):
            path = (new or old)[0]
            yield DiffEntry(
                "changed" if old and new else "added" if new else "removed", path, old and old[1], new and new[1]
            )


_SLIM = 1000
"""Rows that are created at the same time: the maximum of a page."""


def _slim(rows: Any, at: Any) -> list[Any]:
    """Path and entry of each change in one of the two trees. None where it has no entry."""
    known = rows.take(pa.array(at[at >= 0]))
    columns = [known.column(name).to_pylist() for name in KEY_COLUMNS]
    made = iter([(path, Entry("", "", 0, size, 0, "", {}, word)) for path, size, word in zip(*columns, strict=True)])
    return [next(made) if index >= 0 else None for index in at.tolist()]


def _cursors(make_left: Callable[[], Cursor], make_right: Callable[[], Cursor]) -> Stream:
    """Compare row by row, for a right ref with uncommitted changes."""

    async def rows(start: str) -> AsyncIterator[DiffEntry]:
        left, right = make_left(), make_right()
        await left.seek(start)
        await right.seek(start)
        while left.path is not None or right.path is not None:
            path = min(one.path for one in (left, right) if one.path is not None)
            old = left.entry() if left.path == path else None
            new = right.entry() if right.path == path else None
            if not _same(old, new):
                yield DiffEntry("changed" if old and new else "added" if new else "removed", path, old, new)
            for one in (left, right):
                if one.path == path:
                    await one.next()

    return rows
