"""The files of the tree of a commit, divided among tasks. Pure. It knows only spans and the file formats.

A tree is ranges, which do not overlap, and patches over them (`docs/formats.md`). A task gets some neighbouring ranges
and the rows of the patches in the same stretch, so exactly one task returns each path.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import attrs
import pyarrow as pa

from lakebed_spark.history.key_ranges import Span


@attrs.frozen
class Part:
    """One file of a tree: a range (level 0), or a patch over all files of lower levels.

    `inline_in` is the metarange whose own file contains the newest patch, if it does.
    """

    id: str
    first: str
    last: str
    rows: int
    level: int = 0
    inline_in: str = attrs.field(default="", eq=False)


@attrs.frozen
class Tree:
    """All files of a tree: ranges in order of path, patches in order of level."""

    ranges: tuple[Part, ...] = ()
    patches: tuple[Part, ...] = ()

    @classmethod
    def of(cls, metarange: pa.Table, inline_in: str = "") -> Tree:
        """Return the files that a metarange lists. `inline_in` is its id if its own file has the newest patch."""
        parts = [
            Part(row["range_id"], row["min_path"], row["max_path"], row["count"], row.get("level", 0))
            for row in metarange.to_pylist()
        ]
        if inline_in:
            parts[-1] = attrs.evolve(parts[-1], inline_in=inline_in)
        return cls(
            tuple(part for part in parts if part.level == 0),
            tuple(sorted((part for part in parts if part.level), key=lambda part: part.level)),
        )

    def within(self, span: Span) -> Tree:
        """Return the tree without the files that have nothing in a span."""
        return Tree(
            tuple(part for part in self.ranges if span.meets(part.first, part.last)),
            tuple(part for part in self.patches if span.meets(part.first, part.last)),
        )


@attrs.frozen
class Piece:
    """What one task reads: the paths of a span, from these files."""

    span: Span
    tree: Tree


def divided(tree: Tree, span: Span, count: int) -> list[Piece]:
    """Divide a tree into at most `count` pieces with similar numbers of rows. None when the span is empty."""
    if span.empty:
        return []
    found = tree.within(span)
    starts = [group[0].first for group in _groups(found.ranges, count)]
    bounds = [span.low, *starts[1:], span.high]
    spans = [Span(low or "", high) for low, high in pairwise(bounds)]
    pieces = [Piece(one, found.within(one)) for one in spans]
    return [piece for piece in pieces if piece.tree.ranges or piece.tree.patches]


def _groups(ranges: Sequence[Part], count: int) -> list[list[Part]]:
    """Group neighbours, as evenly as whole ranges allow."""
    total = sum(part.rows for part in ranges)
    groups: list[list[Part]] = []
    done = 0
    for part in ranges:
        if not groups or (len(groups) < count and done >= total * len(groups) / count):
            groups.append([])
        groups[-1].append(part)
        done += part.rows
    return groups
