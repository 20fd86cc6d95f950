"""The results of a hook as a table of text, with the values that broke a contract."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lakebed.cli.output import shown

_FIRST: Final = ("file", "check", "column", "state", "bad", "rows")
_LAST: Final = ("message", "values")
_LEFT_OUT: Final = ("source",)
_WIDEST: Final = 60
_MOST: Final = 200
"""Rows that are printed. `--json` has all."""


def results_table(details: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines: a row for each result, whatever fields it has. Fields without a value in any row are left out."""
    names = _columns(details)
    if not names:
        return []
    rows = [names, *([_cell(name, one.get(name)) for name in names] for one in details[:_MOST])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(names))]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    if len(details) > _MOST:
        lines.append(f"... and {len(details) - _MOST} more")
    return lines


def _columns(details: Sequence[Mapping[str, Any]]) -> list[str]:
    found = dict.fromkeys(name for one in details for name, value in one.items() if value not in (None, "", [], {}))
    middle = [name for name in found if name not in _FIRST + _LAST + _LEFT_OUT]
    return [name for name in (*_FIRST, *middle, *_LAST) if name in found]


def _cell(name: str, value: object) -> str:
    if value is None:
        return ""
    if name == "values" and isinstance(value, list):
        text = ", ".join(map(_bad_value, value))
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = shown(text)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def _bad_value(one: Any) -> str:
    """Example: `row 12: -5`."""
    if not isinstance(one, Mapping):
        return str(one)
    row, value = one.get("row"), one.get("value")
    return str(value) if row is None else f"row {row}: {value}"
