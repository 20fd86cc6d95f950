"""Schemas of the files of a table: how they differ, as errors name it. `lakebed_tables.schemas` compares them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from lakebed_tables import schemas

from lakebed.errors import SchemaDifference


def stored(schema: pa.Schema) -> pa.Schema:
    """Return the schema as Parquet returns it. For example, Parquet has no timestamps in seconds."""
    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink)
    return pq.read_schema(pa.BufferReader(sink.getvalue()))


def differences(path: str, expected: pa.Schema, found: pa.Schema) -> list[SchemaDifference]:
    """Return how `found`, the schema at `path`, differs from `expected`."""
    return [SchemaDifference(path, *one) for one in schemas.differences(expected, found)]


def most_common(found: Sequence[pa.Schema]) -> pa.Schema:
    """Return the schema that most files have. When several are as frequent, the first of them."""
    first: dict[frozenset[tuple[str, str]], pa.Schema] = {}
    counts: Counter[frozenset[tuple[str, str]]] = Counter()
    for schema in found:
        key = frozenset((field.name, str(schemas.plain_type(field.type))) for field in schema)
        first.setdefault(key, schema)
        counts[key] += 1
    return first[counts.most_common(1)[0][0]]


def united(found: Sequence[tuple[str, pa.Schema]]) -> tuple[pa.Schema, list[SchemaDifference]]:
    """Return all columns of all files (path and schema), and the types that contradict each other."""
    schema, clashes = schemas.united([one for _, one in found])
    return schema, [SchemaDifference(found[index][0], *clash) for index, clash in clashes]
