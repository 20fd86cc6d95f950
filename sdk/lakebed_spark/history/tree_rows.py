"""Rows of a piece of a tree as entries: with patches applied, and in the columns that Lakebed shows everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from lakebed_spark.history.storage import Store, without
from lakebed_spark.history.tree import Piece

_STORED: Final = {
    "path": ("path",),
    "size": ("size_bytes",),
    "checksum": ("checksum", "parts"),
    "mtime": ("mtime",),
    "content_type": ("content_type",),
    "metadata": ("metadata",),
    "physical_address": ("physical_address",),
    "identity": ("identity",),
}
"""Which columns of the files each shown one is made of."""


def entries(store: Store, piece: Piece, names: Sequence[str]) -> Iterator[pa.Table]:
    """Every entry of a piece, in tables of about a range each, with these columns."""
    stored = [column for name in names for column in _STORED[name]]
    over = store.over(piece, stored)
    for part in piece.tree.ranges:
        rows = store.rows(part, stored if over is None else ["path", *_but_path(stored)], piece.span)
        yield shown(rows if over is None else without(rows, over), names, store.namespace)
    if over is not None:
        yield shown(over.filter(pc.invert(over["deleted"])), names, store.namespace)


def shown(rows: pa.Table, names: Sequence[str], namespace: str) -> pa.Table:
    """Rows of a file as entries: addresses in full, checksums with their part counts, times as times."""
    return pa.table({name: _column(rows, name, namespace) for name in names})


def _column(rows: pa.Table, name: str, namespace: str) -> pa.ChunkedArray:
    column = rows[_STORED[name][0]]
    if name == "checksum":
        parts = rows["parts"]
        if pc.max(parts).as_py():
            many = pc.binary_join_element_wise(column, parts.cast(pa.string()), "-")
            return pc.if_else(pc.greater(parts, 0), many, column)
    if name == "mtime":
        return column.cast(pa.timestamp("s", tz="UTC"))
    if name == "physical_address":
        relative = pc.invert(pc.match_substring(column, "://"))
        if pc.any(relative).as_py():
            return pc.if_else(relative, pc.binary_join_element_wise(namespace, column, "/"), column)
    return column


def _but_path(columns: Sequence[str]) -> list[str]:
    return [column for column in columns if column != "path"]
