"""Small HTML for notebooks: capped and escaped. Pure; nothing here asks the server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape

from lakebed._render.columns import Columns

ROWS = 20
"""Rows that are shown of anything."""

FEW = 10
"""Rows of each part, where there are several."""

_CELL = 80
_ID = re.compile(r"[0-9a-f]{64}")
_HIDDEN = ("metarange_id", "operation_id", "generation", "physical_address")
"""Columns that say little to people; `to_pandas` has them."""


def plain(title: str, note: str = "") -> str:
    """One line, and a second one."""
    more = f"<div>{escape(note)}</div>" if note else ""
    return f"<div class='lakebed'><code>{escape(title)}</code>{more}</div>"


def facts(title: str, pairs: Iterable[tuple[str, object]], *parts: str) -> str:
    """A title, names with values, and further parts, which are HTML already."""
    body = "".join(
        f"<tr><th style='text-align:left'>{cell(name)}</th><td>{cell(value)}</td></tr>" for name, value in pairs
    )
    return f"<div class='lakebed'><strong>{escape(title)}</strong><table>{body}</table>{''.join(parts)}</div>"


def rows(title: str, items: Sequence[object], columns: Columns, *, more: bool) -> str:
    """A listing as a table. `more` says that there is more than these rows."""
    names = [name for name, _ in columns if name not in _HIDDEN]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>"
        + "".join(f"<td style='text-align:left'>{cell(getattr(item, name, None))}</td>" for name in names)
        + "</tr>"
        for item in items
    )
    foot = f"<div>the first {len(items)} rows; there are more</div>" if more else f"<div>{len(items)} rows</div>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class='lakebed'><strong>{escape(title)}</strong>{table}{foot}</div>"


def _short(text: str) -> str:
    """Ids of commits by their first characters."""
    return text[:12] if _ID.fullmatch(text) else text


def cell(value: object) -> str:
    """A value as text, short and escaped."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        text = f"{value:%Y-%m-%d %H:%M:%S}"
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key}={one}" for key, one in value.items())
    elif isinstance(value, tuple | list):
        text = ", ".join(_short(str(one)) for one in value)
    else:
        text = str(value)
    text = _short(text.split("\n", 1)[0])
    return escape(text if len(text) <= _CELL else text[: _CELL - 1] + "…")
