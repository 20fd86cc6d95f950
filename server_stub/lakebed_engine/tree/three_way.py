"""Aligns the two sides of a merge in order of path."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakebed_engine.tree.diff import Changes
from lakebed_engine.tree.rows import identities, lower_bound, path_at, upper_bound
from lakebed_engine.vocabulary.ports import Runtime


@dataclass(frozen=True, slots=True)
class Side:
    """The changes of one side since the base, in a window, as delta rows."""

    rows: pa.Table

    def checksum(self, path: str) -> str | None:
        """This side's checksum of a changed path. None if it deleted the path."""
        at = lower_bound(self.rows, path)
        return None if self.rows.column("deleted")[at].as_py() else str(self.rows.column("checksum")[at].as_py())

    def clashes(self, other: Side) -> list[tuple[str, bool]]:
        """Paths that both sides changed, in order, and whether both made the same change."""
        at = pc.index_in(self.rows.column("path"), value_set=other.rows.column("path"))
        # not pc.indices_nonzero: until Arrow 26 it crashes on an array without chunks
        mine = np.flatnonzero(pc.is_valid(at).to_numpy())
        if len(mine) == 0:
            return []
        one, two = self.rows.take(mine), other.rows.take(at.drop_null())
        gone = one.column("deleted").to_numpy(), two.column("deleted").to_numpy()
        equal = (identities(one) == identities(two)).all(axis=1)
        same = (gone[0] & gone[1]) | (~gone[0] & ~gone[1] & equal)
        return list(zip(one.column("path").to_pylist(), same.tolist(), strict=True))

    def without(self, paths: Collection[str]) -> pa.Table:
        """The delta rows without some paths."""
        if not paths:
            return self.rows
        known = pc.is_in(self.rows.column("path"), value_set=pa.array(sorted(paths), pa.string()))
        return self.rows.filter(pc.invert(known))

    def split(self, cut: str) -> tuple[Side, Side | None]:
        """The rows up to and including `cut`, and the rest."""
        count = upper_bound(self.rows, cut)
        rest = Side(self.rows.slice(count)) if count < self.rows.num_rows else None
        return Side(self.rows.slice(0, count)), rest


async def aligned(
    runtime: Runtime, one: AsyncIterator[Changes], other: AsyncIterator[Changes]
) -> AsyncIterator[tuple[Side | None, Side | None]]:
    """Windows of both sides over the same paths, in order. None for a side without further changes."""
    left = await _next(runtime, one)
    right = await _next(runtime, other)
    while left is not None or right is not None:
        tails = [path_at(side.rows, -1) for side in (left, right) if side is not None]
        cut = min(tails)
        yield _until(left, cut), _until(right, cut)
        left = await _advance(runtime, left, cut, one)
        right = await _advance(runtime, right, cut, other)


def _until(side: Side | None, cut: str) -> Side | None:
    return None if side is None else side.split(cut)[0]


async def _advance(runtime: Runtime, side: Side | None, cut: str, stream: AsyncIterator[Changes]) -> Side | None:
    if side is None:
        return None
    return side.split(cut)[1] or await _next(runtime, stream)


async def _next(runtime: Runtime, stream: AsyncIterator[Changes]) -> Side | None:
    async for changes in stream:
        return Side(await runtime.cpu(changes.as_delta))
    return None
