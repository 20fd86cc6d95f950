"""What a ref shows: staged rows over layers over a tree (`PROTOCOL.md` 1, view).

Above `refs` and `swap`. A view is made from one record; a reader that finds dropped rows reads the record again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakebed_engine.operations.context import Context, Repo, load_commit, staging
from lakebed_engine.operations.refs import Resolved
from lakebed_engine.operations.swap import tokens_of
from lakebed_engine.tree.cursor import Cursor, MergedCursor, StagedCursor, TreeCursor, decode_row
from lakebed_engine.tree.trees import EMPTY_TREE, Tree
from lakebed_engine.vocabulary.records import Branch, Entry


@dataclass(frozen=True, slots=True)
class View:
    """Staging partitions, newest first, over a tree."""

    ctx: Context
    repo: Repo
    partitions: Sequence[str]
    tree: Tree

    async def find(self, path: str) -> Entry | None:
        """The entry at exactly this path."""
        key = path.encode()
        for partition in self.partitions:
            row = await self.ctx.kv.get(partition, key)
            if row is not None:
                return decode_row(row.value)
        return await self.ctx.trees.find(self.repo.store, self.tree, path)

    def cursor(self) -> Cursor:
        """Over all rows, tombstones included."""
        tree = TreeCursor(self.ctx.trees, self.repo.store, self.tree)
        if not self.partitions:
            return tree
        return MergedCursor([*(StagedCursor(self.ctx.kv, one) for one in self.partitions), tree])

    def staged_cursor(self) -> Cursor:
        """Over the staged rows only."""
        return MergedCursor([StagedCursor(self.ctx.kv, one) for one in self.partitions])

    def tree_cursor(self) -> TreeCursor:
        """Over the committed rows only."""
        return TreeCursor(self.ctx.trees, self.repo.store, self.tree)


async def tree_of(ctx: Context, repo: Repo, commit_id: str) -> Tree:
    """The tree of a commit."""
    commit = await load_commit(ctx, repo, commit_id)
    return await ctx.trees.load(repo.store, commit.metarange_id) if commit.metarange_id else EMPTY_TREE


def partitions_of(record: Branch) -> list[str]:
    """The staging partitions of a branch, newest first."""
    return [staging(token) for token in tokens_of(record)]


async def view_of(ctx: Context, repo: Repo, found: Resolved) -> View:
    """A branch shows its staged state, unless `@` asks for the committed one; everything else a commit."""
    tree = await tree_of(ctx, repo, found.commit_id)
    staged = found.branch is not None and found.staged is not False
    return View(ctx, repo, partitions_of(found.branch.record) if staged and found.branch else (), tree)
