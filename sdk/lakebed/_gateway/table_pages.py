"""Converts rows of tables from JSON to values of the SDK. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakebed._gateway.convert import number, text
from lakebed._model.table_pages import (
    ColumnStatistics,
    CutText,
    HistogramBin,
    TableColumn,
    TableDiffPage,
    TableDiffRow,
    TablePage,
)

Body = Mapping[str, Any]


def page(body: Body) -> TablePage:
    """A page of a table."""
    return TablePage(
        path=text(body["path"]),
        format=text(body["format"]),
        files=number(body["files"]),
        size=number(body["size_bytes"]),
        schema=columns(body["schema"]),
        columns=tuple(map(text, body["columns"])),
        rows=tuple(cells(row) for row in body["rows"]),
        offset=number(body["offset"]),
        has_more=bool(body["has_more"]),
        complete=bool(body["complete"]),
        total_rows=body.get("total_rows"),
        encoding=body.get("encoding"),
        skipped_rows=number(body.get("skipped_rows"), 0),
        statistics=tuple(_statistics(one) for one in body.get("statistics") or ()),
    )


def diff_page(body: Body) -> TableDiffPage:
    """A page of rows that differ."""
    return TableDiffPage(
        path=text(body["path"]),
        format=text(body["format"]),
        key=tuple(map(text, body["key"])),
        schema=columns(body["schema"]),
        schema_changes=tuple(
            (text(one["column"]), one.get("before"), one.get("after")) for one in body["schema_changes"]
        ),
        columns=tuple(map(text, body["columns"])),
        added=number(body["added"]),
        removed=number(body["removed"]),
        changed=number(body["changed"]),
        rows=tuple(_diff_row(one) for one in body["rows"]),
        offset=number(body["offset"]),
        has_more=bool(body["has_more"]),
    )


def _diff_row(body: Body) -> TableDiffRow:
    before, after = (None if body.get(side) is None else cells(body[side]) for side in ("before", "after"))
    return TableDiffRow(text(body["change"]), before, after, tuple(body.get("columns") or ()))


def columns(rows: list[Body]) -> tuple[TableColumn, ...]:
    """The columns of a table."""
    return tuple(TableColumn(text(row["name"]), text(row["type"]), text(row["kind"])) for row in rows)


def cells(row: list[Any]) -> tuple[Any, ...]:
    """The cells of a row."""
    return tuple(map(_cell, row))


def _cell(value: Any) -> Any:
    return CutText(text(value["cut"]), number(value["length"])) if isinstance(value, dict) else value


def _statistics(body: Body) -> ColumnStatistics:
    return ColumnStatistics(
        column=text(body["column"]),
        source=text(body["source"]),
        nulls=body.get("nulls"),
        distinct=body.get("distinct"),
        minimum=_cell(body.get("minimum")),
        maximum=_cell(body.get("maximum")),
        histogram=tuple(
            HistogramBin(_cell(one["low"]), _cell(one["high"]), number(one["count"]))
            for one in body.get("histogram") or ()
        ),
        frequent=tuple((_cell(one["value"]), number(one["count"])) for one in body.get("frequent") or ()),
    )
