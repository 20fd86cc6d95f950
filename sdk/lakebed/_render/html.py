"""Small HTML for notebooks: capped and escaped. Pure; nothing here asks the server.

One `<style>` of each output has the design, with colours that fit light and dark pages. A page without styles, such as
a picture of a notebook in an email, still has plain tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape

from lakebed._render.columns import Columns

ROWS = 20
"""Rows that are shown of anything."""

FEW = 10
"""Rows of each part, where there are several."""

_CELL = 80
_ID = re.compile(r"[0-9a-f]{64}")
_HIDDEN = ("metarange_id", "operation_id", "generation", "physical_address", "is_prefix", "parents", "checksum")
"""Columns that say little to people; `to_pandas` has them."""

_HEADS = {
    "id": "name",
    "commit_id": "commit",
    "mtime": "modified",
    "storage_namespace": "storage",
    "default_branch": "default branch",
    "content_type": "type",
    "read_only": "read-only",
}
_SIZES = frozenset({"size", "bytes", "bytes_added", "bytes_removed"})
_CHANGES = {"added": "#2da44e", "removed": "#e5534b", "changed": "#bf8700", "conflict": "#8250df"}

_STYLE = (
    "<style>.lakebed{font-size:13px;line-height:1.45}"
    ".lakebed-title{font-weight:600;margin:2px 0 4px}"
    ".lakebed table{border-collapse:collapse;margin:0 0 4px;font-size:inherit}"
    ".lakebed th,.lakebed td{text-align:left!important;padding:3px 14px 3px 6px;vertical-align:top;"
    "border-bottom:1px solid rgba(128,128,128,.25);background:none}"
    ".lakebed thead th{border-bottom:1px solid rgba(128,128,128,.6);font-weight:600}"
    ".lakebed tbody th{font-weight:400;opacity:.7}"
    ".lakebed td.lakebed-number{text-align:right!important;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".lakebed td.lakebed-time{white-space:nowrap}"
    ".lakebed td.lakebed-text{min-width:16em}"
    ".lakebed-note{opacity:.7;font-size:12px;margin:0 0 8px}</style>"
)


def plain(title: str, note: str = "") -> str:
    """One line, and a second one."""
    more = f"<div>{escape(note)}</div>" if note else ""
    return f"<div class='lakebed'><code>{escape(title)}</code>{more}</div>"


def facts(title: str, pairs: Iterable[tuple[str, object]], *parts: str) -> str:
    """A title, names with values, and further parts, which are HTML already."""
    body = "".join(
        f"<tr><th>{escape(_HEADS.get(name, name))}</th>{_cell(name, value)}</tr>"
        for name, value in pairs
        if _is_said(value)
    )
    table = f"<table><tbody>{body}</tbody></table>" if body else ""
    return f"<div class='lakebed'>{_STYLE}{_title(title)}{table}{''.join(parts)}</div>"


def _title(title: str) -> str:
    return f"<div class='lakebed-title'>{escape(title)}</div>" if title else ""


def rows(title: str, items: Sequence[object], columns: Columns, *, more: bool, data: bool = False) -> str:
    """A listing as a table. `more` says that there is more than these rows. Columns without any value are left out.

    With `data` these are rows of a user's table: every column is shown, under its own name.
    """
    shown = [name for name, _ in columns if data or name not in _HIDDEN]
    said = [name for name in shown if data or any(_is_said(getattr(item, name, None)) for item in items)]
    names = said or shown[:1]
    heads = {} if data else dict(_HEADS)
    if items and not data and _ID.fullmatch(str(getattr(items[0], "id", ""))):
        heads["id"] = "commit"
    head = "".join(f"<th>{escape(heads.get(name, name))}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(_cell("" if data else name, getattr(item, name, None)) for name in names) + "</tr>"
        for item in items
    )
    count = f"the first {len(items)} rows; there are more" if more else counted(len(items), "row")
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if items else ""
    note = f"<div class='lakebed-note'>{count if items else 'none'}</div>"
    return f"<div class='lakebed'>{_STYLE}{_title(title)}{table}{note}</div>"


def counted(count: int, noun: str) -> str:
    """Example: `1 row`, `2 rows`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def size_text(size: float) -> str:
    """Bytes for people, in thousands. Example: 1536 is `1.5 kB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def _is_said(value: object) -> bool:
    """Whether a value says something: not None, False, or empty. Zero does."""
    return value is not None and value is not False and (not hasattr(value, "__len__") or bool(value))


def _short(text: str) -> str:
    """Ids of commits by their first characters."""
    return text[:12] if _ID.fullmatch(text) else text


def _cell(name: str, value: object) -> str:
    """A value in its cell: sizes and numbers at the right, ids as code, kinds of changes in colour."""
    if isinstance(value, bool):
        return f"<td>{'yes' if value else ''}</td>"
    if isinstance(value, int):
        said = size_text(value) if name in _SIZES else f"{value:,}"
        return f"<td class='lakebed-number' title='{value}'>{said}</td>"
    if isinstance(value, datetime):
        return f"<td class='lakebed-time'>{cell(value)}</td>"
    text = cell(value)
    if isinstance(value, str) and _ID.fullmatch(value):
        return f"<td title='{value}'><code>{text}</code></td>"
    if name == "message":
        return f"<td class='lakebed-text'>{text}</td>"
    if name in ("type", "change") and text in _CHANGES:
        return f"<td><span style='color:{_CHANGES[text]}'>{text}</span></td>"
    return f"<td>{text}</td>"


def cell(value: object) -> str:
    """A value as text, short and escaped."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        moment = value.astimezone(UTC) if value.tzinfo else value
        text = f"{moment:%Y-%m-%d %H:%M:%S}" + (" UTC" if value.tzinfo else "")
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key}={one}" for key, one in value.items())
    elif isinstance(value, tuple | list):
        text = ", ".join(_short(str(one)) for one in value)
    else:
        text = str(value)
    text = _short(text.split("\n", 1)[0])
    return escape(text if len(text) <= _CELL else text[: _CELL - 1] + "…")
