"""A table as parts that are loaded one by one: a row group, a batch, or a whole text file. And its cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import pyarrow as pa
from lakebed_tables import partitions, schemas

Load = Callable[[Sequence[str], int | None], pa.Table]
"""Loads columns. With a number, only the rows up to it are needed."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of the file with this number. `rows`: how many. `size`: bytes to read for some columns."""

    number: int
    rows: int
    load: Load
    size: Callable[[Sequence[str]], int]


@dataclass(frozen=True, slots=True)
class Parts:
    """All parts in order, with the schema of each file by its number.

    `complete`: whether the parts have all rows. `encoding`, `skipped_rows`: of text files.
    """

    parts: Sequence[Part]
    file_schemas: Sequence[pa.Schema]
    complete: bool = True
    encoding: str = ""
    skipped_rows: int = 0

    def schema(self) -> pa.Schema:
        """All columns of all files. Columns whose types differ have the type that comes first."""
        return schemas.united(self.file_schemas or [pa.schema([])])[0]


def with_partitions(parts: Parts, places: Sequence[str]) -> Parts:
    """The parts with the columns that are in the paths of their files."""
    values = [partitions.values_of(place) for place in places]
    if not any(values):
        return parts
    described = partitions.schema_of(parts.file_schemas[0], values)
    found = [
        [field for field in described if field.name in dict(value) and schema.get_field_index(field.name) < 0]
        for value, schema in zip(values, parts.file_schemas, strict=True)
    ]

    def loading(part: Part) -> Load:
        constants, value = {field.name: field for field in found[part.number]}, dict(values[part.number])

        def load(columns: Sequence[str], upto: int | None) -> pa.Table:
            table = part.load([name for name in columns if name not in constants], upto)
            for name in columns:
                if name in constants:
                    scalar = pa.array([value[name]], pa.string()).cast(constants[name].type)[0]
                    table = table.append_column(constants[name], pa.repeat(scalar, table.num_rows))
            return table

        return load

    return Parts(
        [Part(part.number, part.rows, loading(part), part.size) for part in parts.parts],
        [pa.schema([*schema, *fields]) for schema, fields in zip(parts.file_schemas, found, strict=True)],
        parts.complete,
        parts.encoding,
        parts.skipped_rows,
    )


T = TypeVar("T")

KEPT_BYTES: Final = 192 << 20


class Kept:
    """The last values by their keys, `most_bytes` in total."""

    def __init__(self, most_bytes: int = KEPT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0

    def has(self, key: Hashable) -> bool:
        """Whether the value of a key is here."""
        return key in self._values

    def get(self, key: Hashable, make: Callable[[], T], size_of: Callable[[T], int]) -> T:
        """The value of a key, made if it is not here. `size_of` returns its size in bytes."""
        if key in self._values:
            self._values.move_to_end(key)
            found: T = self._values[key][0]
            return found
        made = make()
        size = size_of(made)
        if size <= self._most_bytes:
            self._values[key] = (made, size)
            self._bytes += size
        while self._bytes > self._most_bytes:
            self._bytes -= self._values.popitem(last=False)[1][1]
        return made
