"""Conflicts that block the commit of a workspace: rows staged on the branch, and changes of its head.

The errors contain the paths, up to the requested number, with their checksums in base, branch and workspace.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import AsyncIterator
from dataclasses import dataclass

from lakebed_engine.operations.branch.compare_and_swap import is_staged
from lakebed_engine.operations.branch.resolve import Resolved
from lakebed_engine.operations.branch.view import View, tree_of, view_of
from lakebed_engine.operations.context import Context, Repo, Seen
from lakebed_engine.operations.workspace.selection import Chosen
from lakebed_engine.tree.cursor import Cursor
from lakebed_engine.tree.diff import diff
from lakebed_engine.vocabulary.errors import ConcurrentCommitError, Conflict, DirtyOverlapError
from lakebed_engine.vocabulary.records import Entry


@dataclass(frozen=True, slots=True)
class Work:
    """The branch and the workspace of a commit.

    Nothing below the prefixes `claims` may have changed. `amount` is the largest number of paths in an error.
    """

    ctx: Context
    repo: Repo
    workspace: Seen
    branch: Seen
    chosen: Chosen
    claims: tuple[str, ...]
    amount: int


async def refuse_dirty(work: Work) -> None:
    """Raises DirtyOverlapError when a row is staged on the branch at a chosen path or below a claim.

    Such a row would hide the commit. Its own commit would later overwrite it, although the row is older.
    """
    if not await is_staged(work.ctx, work.branch.record):
        return
    view = await _branch_view(work)
    found = await _page(_staged(work, view), work.amount)
    if not found:
        return
    conflicts, more = await _described(work, found, view)
    raise DirtyOverlapError(
        f"branch {work.branch.record.name!r} of {work.repo.name!r} has uncommitted changes of paths that the "
        f"workspace changed too: {_shown(conflicts, more)}; commit or reset them, then commit the workspace again",
        conflicts,
        more,
    )


async def refuse_concurrent(work: Work, *, always: bool) -> None:
    """Raises ConcurrentCommitError when the head has changed, since the base, a path of the workspace or below a claim.

    All paths of the workspace count, also the paths that stay in it, because they lose their base. With `always`, any
    move of the head raises. Then the error may have no paths.
    """
    found = await _page(_changed(work), work.amount)
    if not found and not always:
        return
    conflicts, more = await _described(work, found, await view_of(work.ctx, work.repo, Resolved(_head(work))))
    where = f", at {_shown(conflicts, more)}" if conflicts else "; the paths are disjoint, policy 'rebase' would commit"
    raise ConcurrentCommitError(
        f"branch {work.branch.record.name!r} of {work.repo.name!r} has moved from {_base(work)[:16]} to "
        f"{_head(work)[:16]} since the workspace began{where}: nothing was committed",
        conflicts,
        more,
    )


def _base(work: Work) -> str:
    return work.workspace.record.commit_id


def _head(work: Work) -> str:
    return work.branch.record.commit_id


def _shown(conflicts: list[Conflict], more: bool) -> str:
    return ", ".join(repr(one.path) for one in conflicts[:3]) + (" and more" if more or len(conflicts) > 3 else "")


async def _branch_view(work: Work) -> View:
    return await view_of(work.ctx, work.repo, Resolved(_head(work), work.branch, True))


async def _page(paths: AsyncIterator[str], amount: int) -> list[str]:
    """The first paths, sorted, each once. Up to `amount` + 1, which shows that there are more."""
    found: set[str] = set()
    async for path in paths:
        found.add(path)
        if len(found) > amount:
            break
    return sorted(found)


async def _described(work: Work, paths: list[str], ours: View) -> tuple[list[Conflict], bool]:
    base = await view_of(work.ctx, work.repo, Resolved(_base(work)))
    theirs = await view_of(work.ctx, work.repo, Resolved(_base(work), work.workspace, True))
    conflicts = [
        Conflict(path, *[_checksum(await view.find(path)) for view in (base, ours, theirs)])
        for path in paths[: work.amount]
    ]
    return conflicts, len(paths) > work.amount


def _checksum(entry: Entry | None) -> str | None:
    return None if entry is None else entry.checksum


async def _staged(work: Work, view: View) -> AsyncIterator[str]:
    """Paths staged on the branch that block the commit."""
    cursor = view.staged_cursor()
    async for rows in work.chosen.rows():
        async for path in _met(cursor, rows.column("path").to_pylist()):
            yield path
    for claim in work.claims:
        await cursor.seek(claim)
        while cursor.path is not None and cursor.path.startswith(claim):
            yield cursor.path
            await cursor.next()


async def _met(cursor: Cursor, paths: list[str]) -> AsyncIterator[str]:
    """The paths at which the cursor has a row. `paths` are sorted. The cursor skips the rows between them."""
    at = 0
    while at < len(paths):
        await cursor.seek(paths[at])
        if cursor.path is None:
            return
        if cursor.path == paths[at]:
            yield paths[at]
            at += 1
        else:
            at = bisect_left(paths, cursor.path, at)


async def _changed(work: Work) -> AsyncIterator[str]:
    """Paths that the head changed since the base and that block the commit. Sorted, then those below claims."""
    ctx, store = work.ctx, work.repo.store
    base, head = await tree_of(ctx, work.repo, _base(work)), await tree_of(ctx, work.repo, _head(work))
    if base.id == head.id:
        return
    few = work.chosen.few(ctx.tuning.compared_paths)
    if few is not None:
        for path in few:
            old, new = await ctx.trees.find(store, base, path), await ctx.trees.find(store, head, path)
            if (old and old.identity) != (new and new.identity):
                yield path
    else:
        mine = _Ahead(work.chosen.everything())
        async for changes in diff(ctx.trees, store, ctx.runtime, base, head):
            rows = await ctx.runtime.cpu(changes.as_delta)
            for path in await mine.common(rows.column("path").to_pylist()):
                yield path
    for claim in work.claims:
        async for changes in diff(ctx.trees, store, ctx.runtime, base, head, prefix=claim):
            for path in (await ctx.runtime.cpu(changes.as_delta)).column("path").to_pylist():
                yield path


class _Ahead:
    """Compares the sorted paths of a stream of tables with other sorted paths, window by window."""

    def __init__(self, tables: AsyncIterator[object]) -> None:
        self._tables = tables
        self._paths: list[str] = []

    async def common(self, others: list[str]) -> list[str]:
        """The paths of `others` that are in the stream. They must be greater than those of the call before."""
        found: list[str] = []
        wanted = set(others)
        while True:
            end = bisect_left(self._paths, others[-1] + "\0")
            found += [path for path in self._paths[:end] if path in wanted]
            self._paths = self._paths[end:]
            if self._paths:
                return found
            rows = await anext(self._tables, None)
            if rows is None:
                return found
            self._paths = rows.column("path").to_pylist()  # type: ignore[attr-defined]
