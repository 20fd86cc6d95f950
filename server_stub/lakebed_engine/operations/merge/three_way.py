"""Joins source (S) and destination (D) of a merge: the delta to apply to the destination, and the conflicts.

It compares identities with the base (B), by path. S = D: keep. S = B: keep D. D = B: take S. Anything else is a
conflict, which a rule for its path or the strategy may resolve.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

import pyarrow as pa
from lakebed_format.globs import names_of

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.merge.delta_log_merge import DeltaLogs, explained
from lakebed_engine.operations.validation import check_amount, read_globs
from lakebed_engine.tree.diff import diff
from lakebed_engine.tree.three_way import Side, aligned
from lakebed_engine.tree.trees import Tree
from lakebed_engine.vocabulary.errors import Conflict, InvalidRequestError, MergeConflictError

STRATEGIES = {"": "", "dest-wins": "dest", "source-wins": "source"}
SIDES = ("source", "dest")


class Resolution:
    """Which of source and destination wins a conflict: by the first glob that matches its path, else by the strategy.

    Raises InvalidRequestError for an invalid glob, winner or strategy.
    """

    def __init__(self, strategy: str, rules: Sequence[tuple[str, str]]) -> None:
        if strategy not in STRATEGIES:
            raise InvalidRequestError(
                f"strategy {strategy[:40]!r}: must be empty (conflicts are refused), 'dest-wins' or 'source-wins'"
            )
        self._otherwise = STRATEGIES[strategy]
        globs = read_globs([glob for glob, _ in rules]).globs
        for glob in globs:
            if not glob.chooses:
                raise InvalidRequestError(f"glob {glob.text[:80]!r}: must select paths, so it cannot begin with '!'")
        self._rules = [(glob, _side(glob.text, side)) for glob, (_, side) in zip(globs, rules, strict=True)]

    def side(self, path: str) -> str:
        """`source`, `dest`, or empty when the conflict remains."""
        if not self._rules:
            return self._otherwise
        names = names_of(path)
        return next((side for glob, side in self._rules if glob.rank(names)), self._otherwise)


def _side(glob: str, side: str) -> str:
    if side not in SIDES:
        raise InvalidRequestError(f"resolution of {glob[:80]!r}: {side[:40]!r} must be 'source' or 'dest'")
    return side


@dataclass(frozen=True, slots=True)
class Sides:
    """The three trees of a merge: the changes from `base` to `theirs` (source) are applied to `ours` (destination)."""

    base: Tree
    theirs: Tree
    ours: Tree


class Join:
    """The delta to apply to the destination, found in one walk over the changes of source and destination."""

    def __init__(
        self,
        ctx: Context,
        repo: Repo,
        sides: Sides,
        resolution: Resolution,
        *,
        after: str = "",
        amount: int = 100,
    ) -> None:
        """`after` and `amount` select the page of conflicts in an error."""
        check_amount(amount)
        self._ctx = ctx
        self._repo = repo
        self.sides = sides
        self._resolution = resolution
        self._after = after
        self._amount = amount
        self._conflicts: list[Conflict] = []
        self._found = False
        self._more = False
        self._logs = DeltaLogs()
        self.changes = False
        """Whether the source has changed anything. Valid after `delta` or `source_changed` has ended."""

    @property
    def only_source_changed(self) -> bool:
        """The destination has the tree of the base: the tree of the source is the result."""
        return self.sides.base.id == self.sides.ours.id

    async def source_changed(self) -> bool:
        """Whether the source has changed anything since the base. It reads up to the first change."""
        # two trees with different ids can be equal: after a change was undone, a tree may have other range boundaries
        self.changes = await self._newest_change_differs() or await self._any_change()
        return self.changes

    async def _newest_change_differs(self) -> bool:
        """Whether the first path of the newest patch differs: two lookups, which nearly always save the diff."""
        sides = self.sides
        if not sides.theirs.patches:
            return False
        path = sides.theirs.patches[0].min_path
        trees, store = self._ctx.trees, self._repo.store
        before, after = await trees.find(store, sides.base, path), await trees.find(store, sides.theirs, path)
        return (before and before.identity) != (after and after.identity)

    async def _any_change(self) -> bool:
        sides = self.sides
        found = diff(self._ctx.trees, self._repo.store, self._ctx.runtime, sides.base, sides.theirs, detail="slim")
        async with aclosing(found) as changes:
            return await anext(changes, None) is not None

    async def delta(self) -> AsyncIterator[pa.Table]:
        """Tables of DELTA_SCHEMA. Raises MergeConflictError after the conflicts of the requested page are known."""
        ctx, store, sides = self._ctx, self._repo.store, self.sides
        theirs_changes = diff(ctx.trees, store, ctx.runtime, sides.base, sides.theirs, detail="delta")
        if self.only_source_changed:
            async for changes in theirs_changes:
                self.changes = True
                yield await ctx.runtime.cpu(changes.as_delta)
            return
        ours_changes = diff(ctx.trees, store, ctx.runtime, sides.base, sides.ours, detail="delta")
        async for left, right in aligned(ctx.runtime, theirs_changes, ours_changes):
            self.changes |= left is not None
            table = await ctx.runtime.cpu(self._join, left, right)
            if table is not None and table.num_rows and not self._found:
                yield table
            if self._more:
                break
        if not self._found:
            self._note_mixed(self._logs.mixed())
        if self._found:
            raise await self._error()

    def _join(self, theirs: Side | None, ours: Side | None) -> pa.Table | None:
        if theirs is None or ours is None:
            self._logs.look(theirs, ours, {})
            return None if theirs is None else theirs.rows
        kept: set[str] = set()
        open_ones: list[str] = []
        settled: dict[str, str] = {}
        for path, same in theirs.clashes(ours):
            side = "dest" if same else self._resolution.side(path)
            if side == "dest":
                kept.add(path)
            if not side:
                open_ones.append(path)
            elif not same:
                settled[path] = side
        self._note(open_ones, theirs, ours)
        self._logs.look(theirs, ours, settled)
        return theirs.without(kept)

    def _note_mixed(self, conflicts: Sequence[Conflict]) -> None:
        self._found = bool(conflicts)
        behind = [one for one in conflicts if one.path > self._after]
        self._conflicts, self._more = behind[: self._amount], len(behind) > self._amount

    def _note(self, paths: list[str], theirs: Side, ours: Side) -> None:
        for path in paths:
            self._found = True
            if path <= self._after:
                continue
            if len(self._conflicts) == self._amount:
                self._more = True
                return
            self._conflicts.append(Conflict(path, base=None, ours=ours.checksum(path), theirs=theirs.checksum(path)))

    async def _error(self) -> MergeConflictError:
        for index, one in enumerate(self._conflicts):
            entry = await self._ctx.trees.find(self._repo.store, self.sides.base, one.path)
            self._conflicts[index] = replace(one, base=None if entry is None else entry.checksum)
        paths = ", ".join(repr(one.path) for one in self._conflicts[:3])
        more = " and more" if self._more or len(self._conflicts) > 3 else ""
        hint = next((text for one in self._conflicts if (text := explained(one.path))), "")
        return MergeConflictError(
            f"conflict found: both sides changed {paths or 'paths before the page that was asked for'}{more}: "
            f"change one side; or, in a merge, choose the winning side, by a strategy or by rules for the paths{hint}",
            self._conflicts,
            self._more,
        )
