"""The differences between two trees, from their files. Files that both have are not opened.

Two trees differ in ranges that only one of them has, and at the paths of patches that only one of them has. From a
range that both have, it reads only the rows at such paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from lakebed_spark.history.key_ranges import Span
from lakebed_spark.history.storage import Store, without
from lakebed_spark.history.tree import Part, Piece, Tree, divided
from lakebed_spark.history.tree_rows import shown

SPAN_ROWS: Final = 100_000
"""About this number of rows of a side are compared together. It limits the memory of a task."""

_STORED: Final = ("path", "size_bytes", "checksum", "parts", "physical_address", "identity")
_SHOWN: Final = ("path", "size", "checksum", "physical_address", "identity")
_SIDES: Final = ("size", "checksum", "physical_address")


@attrs.frozen
class Pair:
    """Two trees, and which ranges and patches they share."""

    left: Tree
    right: Tree
    shared: frozenset[str]
    patched: frozenset[str]

    @classmethod
    def of(cls, left: Tree, right: Tree) -> Pair:
        """Compare their lists of files."""
        shared = frozenset(part.id for part in left.ranges) & frozenset(part.id for part in right.ranges)
        sides = [[part.id for part in tree.patches] for tree in (left, right)]
        both = frozenset(sides[0]) & frozenset(sides[1])
        same_order = [[found for found in side if found in both] for side in sides]
        return cls(left, right, shared, both if same_order[0] == same_order[1] else frozenset())

    @property
    def same(self) -> bool:
        """Whether there is nothing to compare."""
        return self.left == self.right

    def own(self) -> list[Part]:
        """Ranges that one of them has alone, in order of path."""
        found = [part for part in chain(self.left.ranges, self.right.ranges) if part.id not in self.shared]
        return sorted(found, key=lambda part: part.first)

    def within(self, span: Span) -> Pair:
        """Without the files that have nothing in a span."""
        return Pair(self.left.within(span), self.right.within(span), self.shared, self.patched)


def spans_of(pairs: Sequence[Pair], span: Span) -> list[Span]:
    """A span in stretches that fit into memory one at a time. None where no file differs in it."""
    if span.empty or all(pair.within(span).same for pair in pairs):
        return []
    own = sorted((part for pair in pairs for part in pair.within(span).own()), key=lambda part: part.first)
    count = 1 + sum(part.rows for part in own) // SPAN_ROWS
    return [piece.span for piece in divided(Tree(tuple(own)), span, count)] or [span]


def differences(store: Store, pair: Pair, span: Span) -> pa.Table:
    """Paths in a span that differ: `type` (added, removed, changed), `path`, and what each side has (null: nothing)."""
    near = pair.within(span)
    paths = _patched(store, near, span)
    sides = [_rows(store, tree, near, paths, span) for tree in (near.left, near.right)]
    return _compared(store, *sides)


def _patched(store: Store, pair: Pair, span: Span) -> pa.ChunkedArray:
    """Paths of patches that one tree has alone."""
    chunks: list[pa.Array] = []
    for patch in chain(pair.left.patches, pair.right.patches):
        if patch.id not in pair.patched:
            chunks += store.rows(patch, ["path"], span)["path"].chunks
    return pa.chunked_array(chunks, pa.string())


def _rows(store: Store, tree: Tree, pair: Pair, paths: pa.ChunkedArray, span: Span) -> pa.Table:
    """What a tree has in a span, but for what both surely have."""
    over = store.over(Piece(span, tree), _STORED)
    found = []
    for part in tree.ranges:
        if part.id in pair.shared:
            here = paths.filter(pc.and_(pc.greater_equal(paths, part.first), pc.less_equal(paths, part.last)))
            if not len(here):
                continue
            rows = store.rows(part, _STORED, span)
            rows = rows.filter(pc.is_in(rows["path"], value_set=here))
        else:
            rows = store.rows(part, _STORED, span)
        found.append(rows if over is None else without(rows, over))
    if over is not None:
        found.append(over.filter(pc.invert(over["deleted"])).drop_columns(["deleted"]))
    return pa.concat_tables(found) if found else _NOTHING


_NOTHING: Final = pa.table(
    {
        "path": pa.array([], pa.string()),
        "size_bytes": pa.array([], pa.int64()),
        "checksum": pa.array([], pa.string()),
        "parts": pa.array([], pa.int32()),
        "physical_address": pa.array([], pa.string()),
        "identity": pa.array([], pa.binary(32)),
    }
)


def _compared(store: Store, left: pa.Table, right: pa.Table) -> pa.Table:
    at = pc.index_in(left["path"], value_set=right["path"])
    both = pc.is_valid(at)
    before, after = left.filter(both), right.take(at.drop_null())
    differ = pc.not_equal(before["identity"], after["identity"])
    tables = [
        _typed(store, "removed", left.filter(pc.invert(both)), None),
        _typed(store, "added", None, without(right, left)),
        _typed(store, "changed", before.filter(differ), after.filter(differ)),
    ]
    return pa.concat_tables(tables)


def _typed(store: Store, kind: str, left: pa.Table | None, right: pa.Table | None) -> pa.Table:
    one = left if left is not None else right
    assert one is not None
    found = {"type": pa.array([kind] * one.num_rows, pa.string()), "path": one["path"]}
    for name, rows in (("left", left), ("right", right)):
        seen = None if rows is None else shown(rows, _SHOWN, store.namespace)
        for column, arrow in zip(_SIDES, (pa.int64(), pa.string(), pa.string()), strict=True):
            found[f"{name}_{column}"] = pa.nulls(one.num_rows, arrow) if seen is None else seen[column]
        identity = pa.nulls(one.num_rows, pa.binary(32)) if seen is None else seen["identity"]
        found[f"{name}_identity"] = identity
    return pa.table(found)


def merged(theirs: pa.Table, ours: pa.Table) -> pa.Table:
    """What a merge would bring: `theirs` and `ours` are the differences of both sides from their base, in one span.

    Paths that both changed to the same are left out; others that both changed are conflicts, and show our side.
    """
    at = pc.index_in(theirs["path"], value_set=ours["path"])
    both = pc.is_valid(at)
    free = theirs.filter(pc.invert(both))
    mine, yours = theirs.filter(both), ours.take(at.drop_null())
    absent = pc.and_(pc.is_null(mine["right_identity"]), pc.is_null(yours["right_identity"]))
    equal = pc.fill_null(pc.equal(mine["right_identity"], yours["right_identity"]), False)
    clash = pc.invert(pc.or_(absent, equal))
    mine, yours = mine.filter(clash), yours.filter(clash)
    for column in (*_SIDES, "identity"):
        index = mine.column_names.index(f"left_{column}")
        mine = mine.set_column(index, f"left_{column}", yours[f"right_{column}"])
    conflicts = mine.set_column(0, "type", pa.array(["conflict"] * mine.num_rows, pa.string()))
    return pa.concat_tables([free, conflicts])
