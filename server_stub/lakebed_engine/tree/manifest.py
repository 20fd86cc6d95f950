"""The parts of a tree: ranges in order, and patches over them. Pure values."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import pyarrow as pa
from lakebed_format import DELTA_SCHEMA, METARANGE_SCHEMA, PATCH_SCHEMA, RANGE_SCHEMA
from lakebed_format.keys import layer_file, metarange_file, range_file
from lakebed_format.schemas import LEVELED_SCHEMA
from lakebed_format.tree.digest import metarange_id
from lakebed_format.tree.split import MAX_BYTES, MIN_BYTES

Kind = Literal["range", "layer", "patch"]

SCHEMAS: dict[Kind, pa.Schema] = {"range": RANGE_SCHEMA, "layer": DELTA_SCHEMA, "patch": PATCH_SCHEMA}


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits for cutting trees into files. The byte limits determine ids, so only tests change them.

    A small change becomes a patch over the ranges instead of rewriting some. `patch_rows`: the maximum number of rows
    of all patches of a tree. `small`: up to this number of rows, the next commit writes a patch again. `patches`: the
    maximum number of patches. `share`: for each row of a patch, this number of rows of the ranges must be between the
    patch's first and last path; with fewer, rewriting the ranges costs no more (docs/decisions/0011). Patches that are
    full and cover more than `at_once` ranges are folded in portions, one row in `portion` or more at a time. `piece` is
    the number of rows of a delta that are merged into one range in memory. A delta of up to `looked_up` rows is
    compared with the tree path by path.
    """

    min_bytes: int = MIN_BYTES
    max_bytes: int = MAX_BYTES
    patch_rows: int = 32_768
    small: int = 64
    patches: int = 6
    share: int = 8
    portion: int = 16
    at_once: int = 64
    piece: int = 50_000
    looked_up: int = 64


LIMITS = Limits()

SMALL = 512
"""Up to this number of rows, the event loop itself processes a table. Larger tables go to another thread."""

MAX_FILES_WITH_INLINE_PATCH = 128
"""Up to this number of files of a tree, its metarange contains a small patch: it then lists the files as JSON, which is
larger.
"""


class RangeInfo(NamedTuple):
    """One row of a metarange, or one part of a layer: the number of `rows`, and their raw bytes."""

    id: str
    min_path: str
    max_path: str
    rows: int
    size_bytes: int
    kind: Kind = "range"
    inline_in: str = ""
    """For a patch inside the file of a metarange: the id of its tree."""

    @property
    def file(self) -> str:
        """Its key in the object store."""
        if self.inline_in:
            return metarange_file(self.inline_in)
        return layer_file(self.id) if self.kind == "layer" else range_file(self.id)


@dataclass(frozen=True, slots=True)
class Tree:
    """All entries of one commit, as ranges in order and patches over them, newest first; or the rows of one layer.

    The empty tree has the id ``""``. A tree has patches only when it has ranges.
    """

    id: str
    ranges: tuple[RangeInfo, ...]
    max_paths: list[str] = field(compare=False)
    patches: tuple[RangeInfo, ...] = ()

    def seek(self, path: str) -> int:
        """The index of the first range that may contain `path` or a greater one."""
        return bisect_left(self.max_paths, path)

    @property
    def files(self) -> tuple[RangeInfo, ...]:
        """All files that its metarange names."""
        return self.ranges + self.patches


EMPTY_TREE = Tree("", (), [])


def single(info: RangeInfo) -> Tree:
    """One file as a tree."""
    return Tree(f"{info.kind}/{info.id}", (info,), [info.max_path])


_PLAIN_ROW = pa.struct(list(METARANGE_SCHEMA))
_LEVELED_ROW = pa.struct(list(LEVELED_SCHEMA))


def metarange_rows(ranges: tuple[RangeInfo, ...], patches: tuple[RangeInfo, ...]) -> pa.Table:
    """The rows of the metarange of these ranges, and of these patches, newest first."""
    rows = [info[:5] for info in (*ranges, *reversed(patches))]
    if not patches:
        return _table(rows, _PLAIN_ROW)
    levels = [0] * len(ranges) + list(range(1, len(patches) + 1))
    leveled = [(*row, level) for row, level in zip(rows, levels, strict=True)]
    return _table(leveled, _LEVELED_ROW)


def tree_with_inline_patch(
    ranges: tuple[RangeInfo, ...], older: tuple[RangeInfo, ...], newest: RangeInfo
) -> tuple[Tree, pa.Table]:
    """The tree of these ranges and patches, and the rows of its metarange, whose file contains the newest patch."""
    rows = metarange_rows(ranges, (newest, *older))
    tree_id = metarange_id(rows, carries=True)
    patches = (newest._replace(inline_in=tree_id), *older)
    return Tree(tree_id, ranges, [info.max_path for info in ranges], patches), rows


def _table(rows: Sequence[tuple[object, ...]], row: pa.StructType) -> pa.Table:
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array(rows, row))])


def tree_from(tree_id: str, rows: pa.Table, *, carries: bool = False) -> Tree:
    """The tree of a metarange's rows. The newest patch may be inside the metarange's file."""
    infos = infos_of(rows)
    if carries:
        infos[-1] = infos[-1]._replace(inline_in=tree_id)
    ranges = tuple(info for info in infos if info.kind == "range")
    patches = tuple(info for info in reversed(infos) if info.kind == "patch")
    return Tree(tree_id, ranges, [info.max_path for info in ranges], patches)


def infos_of(rows: pa.Table) -> list[RangeInfo]:
    """The rows of a metarange: first the ranges, then the patches, oldest first."""
    columns = [rows.column(name).to_pylist() for name in METARANGE_SCHEMA.names]
    levels = rows.column("level").to_pylist() if "level" in rows.column_names else [0] * rows.num_rows
    kinds: list[Kind] = ["patch" if level else "range" for level in levels]
    return [RangeInfo(*values) for values in zip(*columns, kinds, strict=True)]
