"""Rows of tables that the server has read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lakebed._render import html


@dataclass(frozen=True, slots=True)
class CutText:
    """The beginning of a long cell. `length` is that of the whole cell: characters, or bytes of a binary one."""

    text: str
    length: int

    def __str__(self) -> str:
        return f"{self.text}..."


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its name, its type as Arrow names it, and the kind of its values (`integer`, `text`, `time`, ...)."""

    name: str
    type: str
    kind: str


@dataclass(frozen=True, slots=True)
class HistogramBin:
    """The number of values from `low` to below `high`. The last bin contains `high`."""

    low: Any
    high: Any
    count: int


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """What is known of the values of a column. Fields that are not known are None or empty.

    `source`: `rows` when all rows were read, `footers` when the files give these values. `frequent`: the most frequent
    values with their numbers.
    """

    column: str
    source: str
    nulls: int | None = None
    distinct: int | None = None
    minimum: Any = None
    maximum: Any = None
    histogram: tuple[HistogramBin, ...] = ()
    frequent: tuple[tuple[Any, int], ...] = ()


@dataclass(frozen=True, slots=True)
class TableDiffRow:
    """A row that was added (`before` is None), removed (`after` is None) or changed, with the columns that differ."""

    change: str
    before: tuple[Any, ...] | None
    after: tuple[Any, ...] | None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableDiffPage:
    """Some of the rows of a table that differ between two states. The cells are as in a TablePage.

    `added`, `removed` and `changed` are the numbers of rows. `columns` are those of `before` and `after` in each row.
    `schema_changes`: the columns that differ, each with its old and its new type.
    """

    path: str
    format: str
    key: tuple[str, ...]
    schema: tuple[TableColumn, ...]
    schema_changes: tuple[tuple[str, str | None, str | None], ...]
    columns: tuple[str, ...]
    added: int
    removed: int
    changed: int
    rows: tuple[TableDiffRow, ...]
    offset: int
    has_more: bool

    def __repr__(self) -> str:
        counts = f"{self.added:,} added, {self.removed:,} removed, {self.changed:,} changed"
        return f"<TableDiffPage {self.path}: {counts}>"


@dataclass(frozen=True, slots=True)
class TablePage:
    """Some rows of a table, as cells that are fit to be shown. `read_table` returns the values themselves.

    A cell is None, a bool, a number, a text or a CutText. Whole numbers beyond 2^53, decimals, times and NaN are texts,
    binary cells are hexadecimal, and nested cells are JSON. `schema` has all columns, `columns` those of `rows`.
    `complete` is False when the server read only the beginning of a large file: then `total_rows` is None.
    """

    path: str
    format: str
    files: int
    size: int
    schema: tuple[TableColumn, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    offset: int
    has_more: bool
    complete: bool
    total_rows: int | None = None
    encoding: str | None = None
    skipped_rows: int = 0
    statistics: tuple[ColumnStatistics, ...] = ()

    def __repr__(self) -> str:
        total = "?" if self.total_rows is None else f"{self.total_rows:,}"
        return f"<TablePage {self.path}: {len(self.rows)} of {total} rows, {len(self.schema)} columns>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.cell(name)}</th>" for name in self.columns)
        body = "".join(f"<tr>{''.join(f'<td>{html.cell(one)}</td>' for one in row)}</tr>" for row in self.rows)
        return html.facts(repr(self), [], f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
