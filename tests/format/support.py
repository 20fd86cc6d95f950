"""Rows for the format tests, made without the engine."""

from __future__ import annotations

import hashlib
from typing import Any

import pyarrow as pa
from lakebed_format import DELTA_SCHEMA, METARANGE_SCHEMA, PATCH_SCHEMA, RANGE_SCHEMA, identity

Row = dict[str, Any]


def entry(path: str, number: int = 0, **values: Any) -> Row:
    """One row of a range."""
    row: Row = {
        "path": path,
        "physical_address": f"data/2026010100/{number:032x}",
        "checksum": hashlib.md5(str(number).encode()).hexdigest(),
        "parts": number % 3,
        "size_bytes": number * 1000,
        "mtime": 1_700_000_000 + number,
        "content_type": "text/plain",
        "metadata": [(f"k{i}", f"v{number}") for i in range(number % 3)],
        **values,
    }
    row["identity"] = identity(row["size_bytes"], row["checksum"], row["content_type"], dict(row["metadata"]))
    return row


def table(rows: list[Row]) -> pa.Table:
    """Rows of RANGE_SCHEMA."""
    return pa.Table.from_pylist(rows, schema=RANGE_SCHEMA)


def sample(count: int = 40) -> list[Row]:
    """Rows with odd texts in them, sorted."""
    odd = ["a//b", "/x", "..", "é/\U0001f600", "\U0010ffff", "\0", "z" * 300]
    rows = [entry(f"p/{number:05}", number) for number in range(count - len(odd))]
    rows += [entry(path, number, content_type="") for number, path in enumerate(odd)]
    return sorted(rows, key=lambda row: row["path"].encode())


def metarange_table(rows: list[Row]) -> pa.Table:
    """Rows of METARANGE_SCHEMA."""
    return pa.Table.from_pylist(rows, schema=METARANGE_SCHEMA)


def tombstone(path: str) -> Row:
    """One row of a layer: the path is not there."""
    row: Row = dict.fromkeys(("physical_address", "checksum", "content_type"), "")
    numbers = dict.fromkeys(("parts", "size_bytes", "mtime"), 0)
    return {"path": path, **row, **numbers, "metadata": [], "identity": bytes(32), "deleted": True}


def layer_table(rows: list[Row]) -> pa.Table:
    """Rows of DELTA_SCHEMA."""
    return pa.Table.from_pylist(rows, schema=DELTA_SCHEMA)


def layer_sample(count: int) -> list[Row]:
    """As `sample`, every third a tombstone."""
    rows = enumerate(sample(count))
    return [tombstone(row["path"]) if n % 3 == 1 else {**row, "deleted": False} for n, row in rows]


def patch_table(rows: list[Row]) -> pa.Table:
    """Rows of PATCH_SCHEMA: every other row replaces an entry of the ranges."""
    more = [
        {**row, "before": bytes([n]) * 32 if n % 2 else b"", "before_bytes": n % 2 * n} for n, row in enumerate(rows)
    ]
    return pa.Table.from_pylist(more, schema=PATCH_SCHEMA)
