"""Values of Arrow as cells: JSON values that a browser shows without loss, cut where they are long."""

from __future__ import annotations

import json
import math
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

LONGEST: Final = 1000
"""Characters of a cell."""

_CHARACTERS: Final = 4_000_000
"""Characters of all cells of a page, about. With many cells, each is cut earlier."""

_SHORTEST: Final = 50
_LARGEST_SAFE: Final = 2**53 - 1


def longest(cells: int) -> int:
    """The most characters of each cell on a page with `cells` cells."""
    return max(_SHORTEST, min(LONGEST, _CHARACTERS // max(cells, 1)))


def kind_of(kind: pa.DataType) -> str:
    """The kind of a column, as `TableColumn.kind` in openapi.yaml."""
    kind = _stored(kind)
    types = pa.types
    for name, tests in (
        ("null", (types.is_null,)),
        ("boolean", (types.is_boolean,)),
        ("integer", (types.is_integer,)),
        ("number", (types.is_floating,)),
        ("decimal", (types.is_decimal,)),
        ("text", (types.is_string, types.is_large_string, types.is_string_view)),
        ("time", (types.is_temporal,)),
        ("binary", (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)),
    ):
        if any(test(kind) for test in tests):
            return name
    return "nested"


def cells_of(column: pa.ChunkedArray | pa.Array, longest: int = LONGEST) -> list[Any]:
    """The cells of a column. A cell is None, a bool, a number, a text, or a dict with `cut` and `length`."""
    column = plain(column)
    kind = kind_of(column.type)
    if kind == "text":
        return _texts(column, longest)
    if kind == "binary":
        return _binaries(column, longest)
    if kind == "time":
        return _times(column)
    return [_cell(one, kind, longest) for one in column.to_pylist()]


def plain(column: pa.ChunkedArray | pa.Array) -> Any:
    """The column without dictionaries, runs and extension types."""
    if isinstance(column, pa.ChunkedArray):
        chunks = [plain(chunk) for chunk in column.chunks]
        return pa.chunked_array(chunks, type=_stored(column.type)) if chunks else pa.nulls(0, _stored(column.type))
    while True:
        if isinstance(column.type, pa.BaseExtensionType):
            column = column.storage
        elif pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        elif pa.types.is_run_end_encoded(column.type):
            column = pc.run_end_decode(column)
        else:
            return column


def _stored(kind: pa.DataType) -> pa.DataType:
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            return kind


def _cell(value: Any, kind: str, longest: int) -> Any:
    if value is None or kind in ("boolean", "null"):
        return value
    if kind == "integer":
        return value if abs(value) <= _LARGEST_SAFE else str(value)
    if kind == "number":
        return value if math.isfinite(value) else _not_finite(value)
    if kind == "decimal":
        return str(value)
    return _cut(json.dumps(_plain_value(value), ensure_ascii=False), longest)


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _cut(text: str, longest: int) -> Any:
    return text if len(text) <= longest else {"cut": text[:longest], "length": len(text)}


def _texts(column: Any, longest: int) -> list[Any]:
    """Texts. They are cut as bytes before any is decoded, because files may have invalid and very long ones."""
    lengths = pc.binary_length(column.cast(pa.large_binary())).to_pylist()
    beginnings = pc.binary_slice(column.cast(pa.large_binary()), 0, 4 * (longest + 1)).to_pylist()
    cells: list[Any] = []
    for index, (data, length) in enumerate(zip(beginnings, lengths, strict=True)):
        if data is None:
            cells.append(None)
            continue
        text = data.decode("utf-8", "replace")
        if len(text) > longest or len(data) < length:
            whole = len(column[index].cast(pa.large_binary()).as_py().decode("utf-8", "replace"))
            cells.append({"cut": text[:longest], "length": whole})
        else:
            cells.append(text)
    return cells


def _binaries(column: Any, longest: int) -> list[Any]:
    shown = longest // 2
    column = column.cast(pa.binary(-1) if pa.types.is_fixed_size_binary(column.type) else pa.large_binary())
    lengths = pc.binary_length(column).to_pylist()
    beginnings = pc.binary_slice(column, 0, shown).to_pylist()
    return [
        None if data is None else data.hex() if length <= shown else {"cut": data.hex(), "length": length}
        for data, length in zip(beginnings, lengths, strict=True)
    ]


def _times(column: Any) -> list[Any]:
    """Times as texts. Times with a zone are in UTC."""
    kind = column.type
    if pa.types.is_duration(kind):
        return [None if one is None else f"{one} {kind.unit}" for one in column.cast(pa.int64()).to_pylist()]
    if pa.types.is_interval(kind):
        return [None if one is None else str(tuple(one)) for one in column.to_pylist()]
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = column.cast(pa.timestamp(kind.unit, "UTC"))
    return [None if one is None else _moment(one) for one in column.cast(pa.string()).to_pylist()]


def _moment(text: str) -> str:
    """`2026-01-02 03:04:05.600000Z` -> `2026-01-02T03:04:05.6Z`."""
    bare = text.removesuffix("Z")
    if "." in bare:
        bare = bare.rstrip("0").rstrip(".")
    return bare.replace(" ", "T", 1) + text[len(text.removesuffix("Z")) :]


def _plain_value(value: Any) -> Any:
    """A nested value as JSON."""
    if isinstance(value, float):
        return value if math.isfinite(value) else _not_finite(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, dict):
        return {str(key): _plain_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(one) for one in value]
    return value.hex() if isinstance(value, bytes) else str(value)
