"""Compare and unite schemas. Pure.

Two types are the same when their values are. `string`, `large_string` and a dictionary of strings differ only in memory
layout, and Parquet does not distinguish them. Every other difference is reported, also `int32` and `int64`. Nothing
here widens a type. The order of columns, nullability and metadata do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa


class ColumnDifference(NamedTuple):
    """A column that has another type, or that one schema does not have (None). Types are Arrow's names."""

    column: str
    before: str | None
    after: str | None


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type without its layout: `large_list<dictionary<string>>` -> `list<string>`."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(plain_type(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, plain_type(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    return kind


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema with plain types, without metadata."""
    return pa.schema([(field.name, plain_type(field.type)) for field in schema])


def differences(before: pa.Schema, after: pa.Schema) -> list[ColumnDifference]:
    """Return the columns that differ: the columns of `before` in its order, then the others."""
    there = {field.name: field.type for field in after}
    wanted = {field.name: field.type for field in before}
    result = []
    for name, kind in wanted.items():
        if name not in there:
            result.append(ColumnDifference(name, str(kind), None))
        elif plain_type(kind) != plain_type(there[name]):
            result.append(ColumnDifference(name, str(kind), str(there[name])))
    result += [ColumnDifference(name, None, str(kind)) for name, kind in there.items() if name not in wanted]
    return result


def united(schemas: Sequence[pa.Schema]) -> tuple[pa.Schema, list[tuple[int, ColumnDifference]]]:
    """Return all columns of all schemas, in the order of appearance, and the types that contradict each other.

    Each contradiction has the index of its schema. A column that is only null in some schemas takes its type from the
    others.
    """
    fields: dict[str, pa.Field] = {}
    clashes: list[tuple[int, ColumnDifference]] = []
    for index, schema in enumerate(schemas):
        for field in schema:
            known = fields.get(field.name)
            if known is None or pa.types.is_null(known.type):
                fields[field.name] = field.with_nullable(True)
            elif plain_type(known.type) != plain_type(field.type):
                if not pa.types.is_null(field.type):
                    clashes.append((index, ColumnDifference(field.name, str(known.type), str(field.type))))
            elif known.type != field.type:
                fields[field.name] = field.with_type(plain_type(field.type)).with_nullable(True)
    return pa.schema(list(fields.values()), schemas[0].metadata), clashes
