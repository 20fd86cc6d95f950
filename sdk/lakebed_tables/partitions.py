"""Hive-style partitions: the paths of files hold the values of some columns, and the files do not.

`day=2026-01-02`, `name=a%2Fb`, and `day=__HIVE_DEFAULT_PARTITION__` for null. Text in a path has no type. So Lakebed
also stores the Arrow schema of the partition columns in the metadata of each file. For files of other writers a column
is of whole numbers when all its values are, else text.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from functools import reduce
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as pads

NULL = "__HIVE_DEFAULT_PARTITION__"
MARK = b"lakebed.partitions"
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\\[\]^{}]")

Values = tuple[tuple[str, str | None], ...]


def encoded(text: str) -> str:
    """Encode a name or a value for a path, by Hive's rules, so that other tools decode it."""
    return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", text)


def folder_of(names: Sequence[str], texts: Sequence[str | None]) -> str:
    """(["day"], ["2026-01-02"]) -> "day=2026-01-02/"."""
    parts = [
        f"{encoded(name)}={NULL if text is None else encoded(text)}/" for name, text in zip(names, texts, strict=True)
    ]
    return "".join(parts)


def values_of(place: str) -> Values:
    """`day=2026-01-02/part.parquet` -> (("day", "2026-01-02"),)."""
    found = []
    for part in place.split("/")[:-1]:
        name, equals, value = part.partition("=")
        if equals and name:
            found.append((unquote(name), None if value == NULL else unquote(value)))
    return tuple(found)


def marked(schema: pa.Schema, partition_by: Sequence[str]) -> pa.Schema:
    """Return the schema of the files: without the partition columns, and with their description in its metadata."""
    if not partition_by:
        return schema
    partitions = pa.schema([plain_field(schema.field(name)) for name in partition_by])
    metadata = {**(schema.metadata or {}), MARK: base64.b64encode(partitions.serialize().to_pybytes())}
    return pa.schema([field for field in schema if field.name not in partition_by], metadata)


def plain_field(field: pa.Field) -> pa.Field:
    """Return the field with the value type of a category, because a path holds the value."""
    return field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field


def layout(place: str, schema: pa.Schema) -> tuple[str, ...]:
    """Return the partition columns in the path of a file. A file without rows can represent all partitions. It is
    marked so.
    """
    return tuple(name for name, _ in values_of(place)) or tuple(_described(schema).names)


def _described(schema: pa.Schema) -> pa.Schema:
    mark = (schema.metadata or {}).get(MARK)
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(mark))) if mark else pa.schema([])


def schema_of(first: pa.Schema, values: Iterable[Values]) -> pa.Schema:
    """Return the partition columns of a table, from the metadata of its first file and from the paths."""
    known = _described(first)
    texts: dict[str, set[str]] = {field.name: set() for field in known}
    for found in values:
        for name, text in found:
            texts.setdefault(name, set()).update(() if text is None else (text,))
    fields = []
    for name, seen in texts.items():
        index = known.get_field_index(name)
        fields.append(known.field(index) if index >= 0 else pa.field(name, _guessed(seen)))
    return pa.schema(fields)


def _guessed(texts: set[str]) -> pa.DataType:
    """Whole numbers when every value is one, as written: `007` stays text."""
    try:
        whole = bool(texts) and all(str(int(text)) == text for text in texts)
    except ValueError:
        whole = False
    return pa.int64() if whole else pa.string()


def expression_of(found: Values, partitions: pa.Schema) -> pads.Expression | None:
    """Return an expression that is true for every row of a file. Raises ArrowInvalid when a text is not a value of its
    column.
    """
    terms = []
    for name, text in found:
        if text is None:
            terms.append(pads.field(name).is_null())
        else:
            value = pa.array([text]).cast(partitions.field(name).type)[0]
            terms.append(pads.field(name) == pads.scalar(value))
    return reduce(lambda left, right: left & right, terms) if terms else None
