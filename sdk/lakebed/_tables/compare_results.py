"""The result of a comparison of two states of a table. The tables are Arrow's. Imports no large library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakebed._render import html

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A column that was added (`before` is None), removed (`after` is None) or has another type. Arrow's type names."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"+{self.name}"
        return f"-{self.name}" if self.after is None else f"{self.name} {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True, eq=False)
class TableDiff:
    """Rows that differ between two states of a table, by key, and columns that differ.

    `added` and `removed` hold whole rows. `changed` has the key, `columns` (the names of the columns that differ in the
    row), and for each column that differs in any row `<name>_before` and `<name>_after`. The comparison covers the
    columns that both states have with one type. `schema` lists the others.
    """

    path: str
    key: tuple[str, ...]
    added: pa.Table
    removed: pa.Table
    changed: pa.Table
    schema: tuple[ColumnChange, ...]
    _pairs: pa.Table

    def __bool__(self) -> bool:
        return bool(self.schema or self.added.num_rows or self.removed.num_rows or self.changed.num_rows)

    def __repr__(self) -> str:
        columns = f"; columns: {', '.join(map(str, self.schema))}" if self.schema else ""
        return f"<TableDiff {self.path}: {self._counts()}{columns}>"

    def _counts(self) -> str:
        return f"{self.added.num_rows} added, {self.removed.num_rows} removed, {self.changed.num_rows} changed"

    def to_arrow(self) -> pa.Table:
        """Return all rows as one table: `change` (added, removed, changed), the key, each other column before and
        after.
        """
        return _as_one(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return the same as a DataFrame."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def _repr_html_(self) -> str:
        parts = []
        for name in ("changed", "added", "removed"):
            table = getattr(self, name)
            if table.num_rows:
                rows = [_Row(row) for row in table.slice(0, html.ROWS).to_pylist()]
                columns = tuple((column, "string") for column in table.column_names)
                title = f"{html.counted(table.num_rows, 'row')} {name}"
                parts.append(html.rows(title, rows, columns, more=table.num_rows > html.ROWS, data=True))
        facts = [("columns", ", ".join(map(str, self.schema)))] if self.schema else []
        return html.facts(f"{self.path}: {self._counts()}", facts, *parts)


class _Row:
    """A row of a table for the HTML renderer."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)


def _as_one(diff: TableDiff) -> pa.Table:
    """All rows of a comparison as one table."""
    import pyarrow as pa

    key = list(diff.key)
    names = dict.fromkeys(
        name for table in (diff.removed, diff.added) for name in table.column_names if name not in key
    )
    parts = []
    for change, table, before, after in (
        ("added", diff.added, None, ""),
        ("removed", diff.removed, "", None),
        ("changed", diff._pairs, "_before", "_after"),
    ):
        columns: dict[str, Any] = {"change": pa.array([change] * table.num_rows, pa.string())}
        columns |= {name: table.column(name) for name in key}
        for name in names:
            for side, suffix, home in (("before", before, diff.removed), ("after", after, diff.added)):
                there = None if suffix is None else f"{name}{suffix}"
                if there is not None and there in table.column_names:
                    columns[f"{name}_{side}"] = table.column(there)
                elif name in home.column_names:
                    columns[f"{name}_{side}"] = pa.nulls(table.num_rows, home.schema.field(name).type)
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)
