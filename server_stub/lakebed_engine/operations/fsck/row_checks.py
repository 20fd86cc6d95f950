"""The rules for the rows of a metarange, a range or a layer. Pure functions. A complaint is a short text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from lakebed_format import decode_tree, identity, metarange_id, patch_id, range_id, row_sizes
from lakebed_format.decoding import FormatError
from lakebed_format.tree.reading import decode_layer, decode_rows

from lakebed_engine.operations.fsck.scratch_db import ObjectRow
from lakebed_engine.tree.manifest import infos_of

Info = tuple[str, str, str, int, int]
"""A row of a metarange: id, first path, last path, rows, bytes."""

Said = tuple[str, str, int, int]
"""The same without the id, as stated in the file that names it."""


class Looked(NamedTuple):
    """The result of a check of a file of rows."""

    complaints: list[str]
    rows: int = 0
    objects: Sequence[ObjectRow] = ()
    readable: bool = True


class LookedTree(NamedTuple):
    """The result of a check of a metarange file: its rows, and the patch inside it (the last row's), if any."""

    complaints: list[str]
    infos: list[Info]
    inline_patch: Looked | None = None
    readable: bool = True

    @property
    def files(self) -> list[Info]:
        """The rows that name separate files."""
        return self.infos if self.inline_patch is None else self.infos[:-1]


def look_at_metarange(data: bytes, found_id: str, objects: bool = False) -> LookedTree:
    """Check a metarange file. With `objects`, also list the objects that the patch in it names."""
    try:
        rows, inline_patch = decode_tree(data, found_id)
    except FormatError as error:
        return LookedTree([str(error)], [], readable=False)
    found = infos_of(rows)
    infos: list[Info] = [info[:5] for info in found]
    right = metarange_id(rows, carries=inline_patch is not None)
    complaints = [] if right == found_id else ["its rows do not hash to its id"]
    levels = rows.column("level").to_pylist() if "level" in rows.column_names else []
    if levels != [0] * levels.count(0) + list(range(1, len(levels) - levels.count(0) + 1)):
        complaints.append("its patches are not numbered in order after its ranges")
    ranges = [info[:5] for info in found if info.kind == "range"]
    for one, following in pairwise(ranges):
        if one[2] >= following[1]:
            complaints.append(f"its ranges {one[0][:12]} and {following[0][:12]} overlap or are out of order")
    complaints += [
        f"says of range {one[0][:12]} that it is empty or ends before it begins" for one in infos if _odd(one)
    ]
    if inline_patch is None:
        return LookedTree(complaints, infos)
    looked = _look(inline_patch, infos[-1][0], [infos[-1][1:]], objects)
    complaints += [f"the patch in it: {one}" for one in looked.complaints]
    return LookedTree(complaints, infos, looked)


def _odd(info: Info) -> bool:
    return info[1] > info[2] or info[3] < 1 or info[4] < 1


def look_at_range(data: bytes, found_id: str, said: Sequence[Said], objects: bool) -> Looked:
    """Check a range or patch against the metaranges that name it. With `objects`, also list its objects."""
    try:
        rows = decode_rows(data, found_id)
    except FormatError as error:
        return Looked([str(error)], readable=False)
    return _look(rows, found_id, said, objects)


def _look(rows: pa.Table, found_id: str, said: Sequence[Said], objects: bool) -> Looked:
    patch = "deleted" in rows.column_names
    complaints = [] if (patch_id if patch else range_id)(rows) == found_id else ["its rows do not hash to its id"]
    complaints += _complaints(rows, said, "the metarange")
    live = rows.filter(pc.invert(rows.column("deleted"))) if patch else rows
    return Looked(complaints, rows.num_rows, objects_of(live) if objects else ())


def look_at_part(data: bytes, found_id: str, said: Said, objects: bool) -> Looked:
    """Check one part of a file layer, as `look_at_range` does."""
    try:
        rows = decode_layer(data, found_id)
    except FormatError as error:
        return Looked([str(error)], readable=False)
    live = rows.filter(pc.invert(rows.column("deleted")))
    return Looked(_complaints(rows, [said], "the branch record"), rows.num_rows, objects_of(live) if objects else ())


def _complaints(rows: pa.Table, said: Sequence[Said], who: str) -> list[str]:
    if rows.num_rows == 0:
        return ["has no rows"]
    paths = rows.column("path")
    complaints = []
    if not pc.all(pc.less(paths[:-1], paths[1:]), min_count=0).as_py():
        complaints.append("its rows are not in order of path, each path once")
    size = int(row_sizes(rows).sum())
    have = {"min_path": paths[0].as_py(), "max_path": paths[-1].as_py(), "count": rows.num_rows, "size_bytes": size}
    for one in said:
        for (name, found), stated in zip(have.items(), one, strict=True):
            if found != stated:
                complaints.append(f"{name} is {found!r}, {who} says {stated!r}")
    wrong = _wrong_identity(rows)
    if wrong is not None:
        complaints.append(f"the identity of {wrong!r} does not match its entry")
    return complaints


def _wrong_identity(rows: pa.Table) -> str | None:
    live = rows.filter(pc.invert(rows.column("deleted"))) if "deleted" in rows.column_names else rows
    names = ("path", "size_bytes", "checksum", "content_type", "metadata", "identity")
    columns = [live.column(name).to_pylist() for name in names]
    for path, size, checksum, content_type, metadata, stated in zip(*columns, strict=True):
        if size < 0 or identity(size, checksum, content_type, dict(metadata)) != stated:
            return str(path)
    return None


def objects_of(rows: pa.Table) -> list[ObjectRow]:
    """The objects that entries name, as the entries describe them."""
    columns = [
        rows.column(name).to_pylist() for name in ("physical_address", "size_bytes", "checksum", "parts", "path")
    ]
    return [ObjectRow(*values) for values in zip(*columns, strict=True)]


def named_in(data: bytes, found_id: str, addresses: set[str]) -> list[str]:
    """The addresses that a range or patch file names. Empty when the file cannot be read."""
    try:
        return _named(decode_rows(data, found_id), addresses)
    except FormatError:
        return []


def named_in_tree(data: bytes, found_id: str, addresses: set[str]) -> tuple[str, list[str]]:
    """The patch in a metarange file, and the addresses that it names. Both empty when the file has no patch."""
    try:
        rows, inline_patch = decode_tree(data, found_id)
    except FormatError:
        return "", []
    if inline_patch is None:
        return "", []
    return str(rows.column("range_id")[-1].as_py()), _named(inline_patch, addresses)


def _named(rows: pa.Table, addresses: set[str]) -> list[str]:
    return [address for address in rows.column("physical_address").to_pylist() if address in addresses]
