"""Compare and unite schemas. Pure.

Two types are the same when their values are. `string`, `large_string` and a dictionary of strings differ only in memory
layout, and Parquet does not distinguish them. Every other difference is reported, also `int32` and `int64`. Nothing
here widens a type. The order of columns, nullability and metadata do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import SchemaDifference


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


def stored(schema: pa.Schema) -> pa.Schema:
    """Return the schema as Parquet returns it. For example, Parquet has no timestamps in seconds."""
    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink)
    return pq.read_schema(pa.BufferReader(sink.getvalue()))


def differences(path: str, expected: pa.Schema, found: pa.Schema) -> list[SchemaDifference]:
    """Return how `found`, the schema at `path`, differs from `expected`."""
    there = {field.name: field.type for field in found}
    wanted = {field.name: field.type for field in expected}
    result = []
    for name, kind in wanted.items():
        if name not in there:
            result.append(SchemaDifference(path, name, str(kind), None))
        elif plain_type(kind) != plain_type(there[name]):
            result.append(SchemaDifference(path, name, str(kind), str(there[name])))
    result += [SchemaDifference(path, name, None, str(kind)) for name, kind in there.items() if name not in wanted]
    return result


def most_common(found: Sequence[pa.Schema]) -> pa.Schema:
    """Return the schema that most files have. When several are as frequent, the first of them."""
    first: dict[frozenset[tuple[str, str]], pa.Schema] = {}
    counts: Counter[frozenset[tuple[str, str]]] = Counter()
    for schema in found:
        key = frozenset((field.name, str(plain_type(field.type))) for field in schema)
        first.setdefault(key, schema)
        counts[key] += 1
    return first[counts.most_common(1)[0][0]]


def united(schemas: Sequence[tuple[str, pa.Schema]]) -> tuple[pa.Schema, list[SchemaDifference]]:
    """Return all columns of all schemas, in the order of appearance, and the types that contradict each other.

    A column that is only null in some files takes its type from the others.
    """
    fields: dict[str, pa.Field] = {}
    clashes: list[SchemaDifference] = []
    for path, schema in schemas:
        for field in schema:
            known = fields.get(field.name)
            if known is None or pa.types.is_null(known.type):
                fields[field.name] = field.with_nullable(True)
            elif plain_type(known.type) != plain_type(field.type):
                if not pa.types.is_null(field.type):
                    clashes.append(SchemaDifference(path, field.name, str(known.type), str(field.type)))
            elif known.type != field.type:
                fields[field.name] = field.with_type(plain_type(field.type)).with_nullable(True)
    return pa.schema(list(fields.values()), schemas[0][1].metadata), clashes
