"""`lakebed fs head`: the first rows of a table, in columns."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click

from lakebed import Location, TablePage
from lakebed.cli import output
from lakebed.cli.app import App, Verb, pass_app
from lakebed.cli.targets import OBJECT

_WIDEST = 40
_WIDE = 10_000
"""Characters of a line where the output is not a terminal."""

_RIGHT = ("integer", "number", "decimal")


@click.command(cls=Verb)
@click.argument("target", type=OBJECT, metavar="REPO/REF/PATH")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(0, 200),
    metavar="N",
    default=10,
    show_default=True,
    help="Show at most N rows.",
)
@click.option("--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Skip N rows.")
@click.option("--columns", metavar="A,B", help="Show only these columns.")
@click.option("--order", metavar="COLUMN", default="", help="Sort by this column.")
@click.option("--descending", is_flag=True, help="Sort from the largest value to the smallest.")
@click.option(
    "--format", type=click.Choice(["parquet", "csv", "json", "arrow"]), help="Format [from the file extension]."
)
@click.option("--statistics", is_flag=True, help="Also show nulls, distinct values, minimum and maximum.")
@pass_app
def head(
    app: App,
    target: Location,
    limit: int,
    offset: int,
    columns: str | None,
    order: str,
    descending: bool,
    format: Any,
    statistics: bool,
) -> None:
    """Show the first rows of a table: a Parquet, CSV, JSON lines or Arrow file, or a folder of them, which ends in `/`.

    \b
    Example: lakebed fs head sales/main/orders/ --columns id,amount
    """
    with app.lake() as lake:
        page = (
            lake.repository(target.repository)
            .ref(target.ref)
            .table_page(
                target.path,
                offset=offset,
                limit=limit,
                columns=columns.split(",") if columns else (),
                order=order,
                descending=descending,
                format=format,
                statistics=statistics,
            )
        )
    if app.as_json:
        output.show(app, "", dataclasses.asdict(page))
    else:
        _show_page(app, page, statistics=statistics)


def _show_page(app: App, page: TablePage, *, statistics: bool) -> None:
    right = {column.name for column in page.schema if column.kind in _RIGHT}
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDE
    text, hidden = columns_text(page.columns, page.rows, right, width)
    click.echo(text)
    if statistics:
        click.echo("\n" + _statistics(page, width))
    total = "many" if page.total_rows is None else f"{page.total_rows:,}"
    more = f"; {hidden} more columns: choose with --columns" if hidden else ""
    output.note(app, f"{len(page.rows)} of {total} rows, {output.count_text(len(page.schema), 'column')}{more}")


def columns_text(names: Sequence[str], rows: Sequence[Sequence[Any]], right: set[str], width: int) -> tuple[str, int]:
    """Rows in columns, and the number of columns that had no room. `right`: columns whose cells end at the right."""
    shown: list[list[str]] = []
    used = 0
    for index, name in enumerate(names):
        cells = [_cell(name), *(_cell(row[index]) for row in rows)]
        longest = max(map(len, cells))
        used += longest + 2
        if shown and used > width + 2:
            break
        shown.append([cell.rjust(longest) if name in right else cell.ljust(longest) for cell in cells])
    lines = ("  ".join(cells).rstrip() for cells in zip(*shown, strict=True))
    return "\n".join(lines), len(names) - len(shown)


def _cell(value: Any) -> str:
    text = output.shown("" if value is None else str(value))
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _statistics(page: TablePage, width: int) -> str:
    names = ("column", "nulls", "distinct", "minimum", "maximum")
    rows = [[getattr(one, name) for name in names] for one in page.statistics]
    return columns_text(names, rows, {"nulls", "distinct"}, width)[0]
