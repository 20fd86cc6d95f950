"""Rows of tables, from JSON to our values. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakebed._gateway.convert import number, text
from lakebed._model.table_pages import ColumnStatistics, CutText, HistogramBin, TableColumn, TablePage

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
