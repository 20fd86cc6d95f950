"""Contracts as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lakebed_hooks.contracts.column_types import ColumnType


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the schema. `type`: None is any type."""

    name: str
    type: ColumnType | None


@dataclass(frozen=True, slots=True)
class NotNull:
    """A column without nulls. A NaN is not a null."""

    column: str


@dataclass(frozen=True, slots=True)
class NotNan:
    """A column of floating-point numbers without NaN."""

    column: str


@dataclass(frozen=True, slots=True)
class Range:
    """The minimum and maximum value of a column. None: no bound. Nulls and NaN do not count as values."""

    column: str
    low: Any
    high: Any


@dataclass(frozen=True, slots=True)
class Accepted:
    """The values that a column may have. Nulls and NaN do not count as values."""

    column: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Unique:
    """Columns whose combination of values must be unique. Rows with a null or NaN in one of them do not count."""

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of all files: minimum, maximum, and largest change as a share of the rows of the destination."""

    least: int | None = None
    most: int | None = None
    max_change: float | None = None


@dataclass(frozen=True, slots=True)
class ForbidColumns:
    """Patterns of names that no column may have, at any depth. Case does not matter."""

    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MaxFiles:
    """The maximum number of files of the path."""

    most: int


@dataclass(frozen=True, slots=True)
class FileSize:
    """The minimum and maximum bytes of a file. `name`: the key in the action file."""

    name: str
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Formats:
    """The formats that files may have, by the end of their name."""

    names: tuple[str, ...]


Check = NotNull | NotNan | Range | Accepted | Unique | Rows | ForbidColumns | MaxFiles | FileSize | Formats


@dataclass(frozen=True, slots=True)
class Contract:
    """The requirements for the files of a path. `additional`: whether columns outside the schema may exist."""

    path: str
    only_changed: bool = True
    schema: tuple[Column, ...] = ()
    additional: bool = True
    checks: tuple[Check, ...] = ()
