"""A commit graph as an SVG picture. Pure. Each commit is a row, newest first, and each line of work is a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil

from lakebed.model import Commit

_ROW, _COLUMN, _LEFT, _RADIUS = 24, 18, 16, 5
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")
_TITLE = 72
_CHARACTER = 7.3


def draw(ordered: Sequence[Commit], names: Mapping[str, Sequence[str]]) -> str:
    """Draw commits that are in order: children before parents."""
    columns, links = _laid_out(ordered)
    rows = {commit.id: row for row, commit in enumerate(ordered)}
    height = _ROW * len(ordered) + 8
    right = _LEFT + _COLUMN * (max((column for column, _ in links.values()), default=0) + 1)
    right = max(right, _LEFT + _COLUMN * (max(columns.values(), default=0) + 1))
    lines, dots, texts = [], [], []
    widest = 0
    for (child, parent), (column, colour) in links.items():
        lines.append(
            _line(rows[child], columns[child], rows.get(parent), columns.get(parent, column), column, colour, height)
        )
    for row, commit in enumerate(ordered):
        x, y = _x(columns[commit.id]), _y(row)
        dots.append(f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="{_colour(columns[commit.id])}"/>')
        text, length = _label(commit, names.get(commit.id, ()))
        texts.append(f'<text x="{right + 4}" y="{y + 4}">{text}</text>')
        widest = max(widest, length)
    width = right + 12 + ceil(_CHARACTER * widest)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="monospace" font-size="12" fill="currentColor"><title>commit graph</title>'
        f"{''.join(lines)}{''.join(dots)}{''.join(texts)}</svg>"
    )


def _laid_out(ordered: Sequence[Commit]) -> tuple[dict[str, int], dict[tuple[str, str], tuple[int, str]]]:
    """The column of each commit, and of the line from each commit to each of its parents, with its colour."""
    columns: dict[str, int] = {}
    links: dict[tuple[str, str], tuple[int, str]] = {}
    waiting: list[str | None] = []  # for each column, the commit that its line leads to
    for commit in ordered:
        column = waiting.index(commit.id) if commit.id in waiting else _free(waiting)
        columns[commit.id] = column
        waiting = [None if target == commit.id else target for target in waiting]
        for number, parent in enumerate(dict.fromkeys(commit.parents)):
            if parent in waiting:
                way = waiting.index(parent)
            else:
                way = column if number == 0 else _free(waiting)
                waiting[way] = parent
            links[commit.id, parent] = (way, _colour(way))
    return columns, links


def _free(waiting: list[str | None]) -> int:
    if None in waiting:
        return waiting.index(None)
    waiting.append(None)
    return len(waiting) - 1


def _line(row: int, column: int, parent_row: int | None, parent_column: int, way: int, colour: str, height: int) -> str:
    """Draw from a commit into the column of its line, down, and to the parent or out of the picture."""
    x, y, between = _x(column), _y(row), _x(way)
    last = parent_row is None
    end_x, end_y = (between, height) if parent_row is None else (_x(parent_column), _y(parent_row))
    path = f"M{x} {y}C{x} {y + _ROW // 2} {between} {y + _ROW // 2} {between} {min(y + _ROW, end_y)}"
    if not last and end_y - _ROW > y + _ROW:
        path += f"V{end_y - _ROW}"
    if end_y > y + _ROW:
        path += f"C{between} {end_y - _ROW // 2} {end_x} {end_y - _ROW // 2} {end_x} {end_y}"
    dashes = ' stroke-dasharray="3 3"' if last else ""
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'


def _label(commit: Commit, names: Sequence[str]) -> tuple[str, int]:
    """Return the text next to a commit, escaped, and its number of characters."""
    title = commit.message.split("\n", 1)[0]
    title = title if len(title) <= _TITLE else title[: _TITLE - 1] + "…"
    refs = f"({', '.join(names)}) " if names else ""
    refs = refs if len(refs) <= _TITLE else refs[: _TITLE - 3] + "…) "
    id_ = f'<tspan fill="#888">{escape(commit.short_id)}</tspan>'
    strong = f'<tspan font-weight="bold">{escape(_printable(refs))}</tspan>' if refs else ""
    return f"{id_} {strong}{escape(_printable(title))}", len(commit.short_id) + 1 + len(refs) + len(title)


def _printable(text: str) -> str:
    """Remove the characters that XML cannot contain."""
    return "".join(one if one.isprintable() else "�" for one in text)


def _x(column: int) -> int:
    return _LEFT + _COLUMN * column


def _y(row: int) -> int:
    return _ROW * row + _ROW // 2 + 4


def _colour(column: int) -> str:
    return _COLOURS[column % len(_COLOURS)]
