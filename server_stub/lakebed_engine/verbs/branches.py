"""Branches, what is staged on them as a whole, and tags. Part of the one door to the engine."""

from __future__ import annotations

from collections.abc import Sequence

from lakebed_engine.operations.branch import branches
from lakebed_engine.operations.branch.compare_and_swap import COMPACT_FROM
from lakebed_engine.operations.commit import hard_reset as commit_hard_reset
from lakebed_engine.operations.context import open_repo, read_branch
from lakebed_engine.operations.layers import compaction, push, reset
from lakebed_engine.verbs.base import Verbs
from lakebed_engine.vocabulary.records import (
    Branch,
    Entry,
    Layer,
    Page,
    Tag,
)


class BranchVerbs(Verbs):
    """Branches, what is staged on them as a whole, and tags."""

    async def create_branch(
        self, repo: str, name: str, source: str, *, hidden: bool = False, force: bool = False
    ) -> Branch:
        """A branch at the commit of `source`. Raises BranchExistsError, NameTakenError, RefNotFoundError."""
        new = await branches.create_branch(self._ctx, repo, name, source, hidden, force)
        await self._refs_changed(repo)
        return new

    async def get_branch(self, repo: str, name: str) -> Branch:
        """Raises BranchNotFoundError."""
        return (await read_branch(self._ctx, await open_repo(self._ctx, repo), name)).record

    async def delete_branch(self, repo: str, name: str, *, force: bool = False) -> None:
        """Delete a branch and what is staged on it. Raises DefaultBranchError."""
        await branches.delete_branch(self._ctx, repo, name, force)
        await self._refs_changed(repo)

    async def list_branches(
        self, repo: str, *, prefix: str = "", after: str = "", amount: int = 100, show_hidden: bool = False
    ) -> Page[Branch]:
        """A page in order of name."""
        return await branches.list_branches(self._ctx, repo, prefix, after, amount, show_hidden)

    async def reset_branch(self, repo: str, name: str, *, force: bool = False) -> None:
        """Drop everything staged."""
        await branches.reset_branch(self._ctx, repo, name, force)

    async def hard_reset(self, repo: str, name: str, ref: str, *, force: bool = False) -> Branch:
        """Point a clean branch at another commit. Raises DirtyBranchError, RefNotFoundError."""
        moved = await commit_hard_reset.hard_reset(self._ctx, repo, name, ref, force)
        await self._refs_changed(repo)
        return moved

    async def reset_object(self, repo: str, name: str, path: str, *, force: bool = False) -> None:
        """Drop what is staged at one path."""
        await branches.reset_object(self._ctx, repo, name, path, force)

    async def reset_prefix(self, repo: str, name: str, prefix: str, *, force: bool = False) -> None:
        """Drop what is staged at every path that begins with `prefix`."""
        await reset.reset_prefix(self._ctx, repo, name, prefix, force)

    async def push(
        self, repo: str, branch: str, rows: Sequence[tuple[str, Entry | None]], *, force: bool = False
    ) -> Layer:
        """Publish rows (None: a tombstone) as one layer, in one swap. Raises BackpressureError."""
        return await push.push_rows(self._ctx, repo, branch, rows, force)

    async def compact(self, repo: str, branch: str, *, least: int = COMPACT_FROM) -> int:
        """Merge a run of layers when there are `least`. How many it took away."""
        return await compaction.compact(self._ctx, await open_repo(self._ctx, repo), branch, least=least)

    async def create_tag(self, repo: str, name: str, ref: str, *, force: bool = False) -> Tag:
        """A tag on the commit of `ref`. Raises TagExistsError, NameTakenError, RefNotFoundError."""
        new = await branches.create_tag(self._ctx, repo, name, ref, force)
        await self._refs_changed(repo)
        return new

    async def get_tag(self, repo: str, name: str) -> Tag:
        """Raises TagNotFoundError."""
        return await branches.get_tag(self._ctx, repo, name)

    async def delete_tag(self, repo: str, name: str, *, force: bool = False) -> None:
        """Raises TagNotFoundError."""
        await branches.delete_tag(self._ctx, repo, name, force)
        await self._refs_changed(repo)

    async def list_tags(self, repo: str, *, prefix: str = "", after: str = "", amount: int = 100) -> Page[Tag]:
        """A page in order of name."""
        return await branches.list_tags(self._ctx, repo, prefix, after, amount)
