"""The content of a ref: staged rows over layers over a tree (`PROTOCOL.md` 1, view).

A view is made from one record. The cleaner keeps the layers of an old record for a grace period. A reader that takes
longer than half of it checks that the record is still current, and otherwise reads again (`steady`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from lakebed_engine.operations.branch.resolve import Resolved, resolve
from lakebed_engine.operations.context import Context, Repo, Seen, load_commit, read_record
from lakebed_engine.operations.keys import staging
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.tree.cursor import Cursor, MergedCursor, StagedCursor, TreeCursor, tree_cursor
from lakebed_engine.tree.layers import layer_delta, layer_tree, overlaid, token_delta
from lakebed_engine.tree.rows import decode_row
from lakebed_engine.tree.trees import EMPTY_TREE, Tree
from lakebed_engine.vocabulary.errors import (
    BranchNotFoundError,
    MissingFileError,
    PredicateFailed,
    WorkspaceClosedError,
    WorkspaceNotFoundError,
)
from lakebed_engine.vocabulary.records import Branch, Entry, Layer

T = TypeVar("T")

Source = str | Tree
"""The place of staged rows: a KV partition, or a file layer."""


@dataclass(frozen=True, slots=True)
class View:
    """Staged rows, newest first, over a tree."""

    ctx: Context
    repo: Repo
    sources: Sequence[Source]
    tree: Tree

    async def find(self, path: str) -> Entry | None:
        """The entry at exactly this path."""
        known, entry = await self.lookup(path)
        return entry if known else await self.ctx.trees.find(self.repo.store, self.tree, path)

    async def lookup(self, path: str) -> tuple[bool, Entry | None]:
        """Whether a row is staged at exactly this path, and its entry (the newest row). None for a tombstone."""
        key = path.encode()
        for source in self.sources:
            if isinstance(source, str):
                row = await self.ctx.kv.get(source, key)
                if row is not None:
                    return True, decode_row(row.value)
            else:
                known, entry = await self.ctx.trees.lookup(self.repo.store, source, path)
                if known:
                    return True, entry
        return False, None

    async def find_many(self, paths: Sequence[str]) -> dict[str, Entry | None]:
        """The entry at each of these paths."""
        found = await self.staged_many(paths)
        for path in paths:
            if path not in found:
                found[path] = await self.ctx.trees.find(self.repo.store, self.tree, path)
        return found

    async def staged_many(self, paths: Sequence[str]) -> dict[str, Entry | None]:
        """The newest staged row at each of these paths that has one. None for a tombstone.

        The rows of one source are read at one moment. While the record is unchanged, only the newest source of a branch
        changes. So if the record is unchanged afterwards, all rows are from one moment.
        """
        found: dict[str, Entry | None] = {}
        for source in self.sources:
            left = [path for path in paths if path not in found]
            if isinstance(source, str):
                rows = await self.ctx.kv.get_many(source, [path.encode() for path in left])
                staged = zip(left, rows, strict=True)
                found.update((path, decode_row(row.value)) for path, row in staged if row is not None)
                continue
            for path in left:
                known, entry = await self.ctx.trees.lookup(self.repo.store, source, path)
                if known:
                    found[path] = entry
        return found

    def cursor(self) -> Cursor:
        """Iterates over all rows, with tombstones."""
        if not self.sources:
            return self.tree_cursor()
        return MergedCursor([*map(self._staged, self.sources), self.tree_cursor()])

    def staged_cursor(self) -> Cursor:
        """Iterates over the staged rows only."""
        return MergedCursor([*map(self._staged, self.sources)])

    def tree_cursor(self) -> Cursor:
        """Iterates over the committed rows only."""
        return tree_cursor(self.ctx.trees, self.repo.store, self.tree)

    def _staged(self, source: Source) -> Cursor:
        if isinstance(source, str):
            return StagedCursor(self.ctx.kv, source, self.ctx.tuning.staged_page)
        return TreeCursor(self.ctx.trees, self.repo.store, source)


async def tree_of(ctx: Context, repo: Repo, commit_id: str) -> Tree:
    """Load the tree of a commit."""
    commit = await load_commit(ctx, repo, commit_id)
    return await ctx.trees.load(repo.store, commit.metarange_id) if commit.metarange_id else EMPTY_TREE


def sources_of(record: Branch) -> list[Source]:
    """The sources of a branch's staged rows, newest first."""
    return [staging(record.staging_token), *map(source_of, record.layers)]


def source_of(layer: Layer) -> Source:
    """The source of one layer's rows."""
    return staging(layer.id) if layer.kind == "kv" else layer_tree(layer)


def layers_delta(ctx: Context, repo: Repo, layers: Sequence[Layer]) -> AsyncIterator[pa.Table]:
    """Sealed layers (newest first) as one delta, with tombstones."""
    return overlaid(
        ctx.runtime,
        [
            token_delta(ctx.kv, ctx.runtime, source, ctx.tuning.sealed_page)
            if isinstance(source, str)
            else layer_delta(ctx.trees, repo.store, source)
            for source in map(source_of, layers)
        ],
    )


async def view_of(ctx: Context, repo: Repo, found: Resolved) -> View:
    """The view of a resolved ref: for a branch its staged state, unless the ref has `@`, otherwise the commit."""
    tree = await tree_of(ctx, repo, found.commit_id)
    staged = found.branch is not None and found.staged is not False
    return View(ctx, repo, sources_of(found.branch.record) if staged and found.branch else (), tree)


async def steady(ctx: Context, repo: Repo, ref: str, read: Callable[[View], Awaitable[T]]) -> T:
    """The result of `read` on the view of a ref. All layers of the record existed until the end of the read.

    Raises TooManyAttemptsError when the branch changed during each of many slow attempts.
    """

    async def attempt() -> tuple[T] | None:
        started = ctx.clock.monotonic()
        try:
            return (await read_once(ctx, repo, await resolve(ctx, repo, ref), started, read),)
        except PredicateFailed:
            return None

    return (await retry_on_conflict(f"ref {ref!r} of {repo.name!r}", attempt))[0]


async def read_once(
    ctx: Context, repo: Repo, found: Resolved, started: float, read: Callable[[View], Awaitable[T]]
) -> T:
    """The result of `read` on the view of a record that was read at `started` (monotonic seconds) or later.

    Raises PredicateFailed when the record has changed and the cleaner may have removed its layers: read it again.
    """
    view = await view_of(ctx, repo, found)
    try:
        result = await read(view)
    except MissingFileError:
        if found.branch is None or await is_unchanged(ctx, repo, found.branch):
            raise
        raise PredicateFailed("a cleanup removed layers during the read") from None
    in_time = ctx.clock.monotonic() - started < ctx.patience
    if in_time or not view.sources or found.branch is None or await is_unchanged(ctx, repo, found.branch):
        return result
    raise PredicateFailed("the record changed during a slow read, and a cleanup may have removed its layers")


async def is_unchanged(ctx: Context, repo: Repo, seen: Seen) -> bool:
    """Whether a branch record is unchanged. If it is, all layers that it names existed until now."""
    try:
        now = await read_record(ctx, repo, seen.record.name)
    except (BranchNotFoundError, WorkspaceNotFoundError, WorkspaceClosedError):
        return False
    return now.version == seen.version
