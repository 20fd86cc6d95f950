"""`lakebed diff` and `merge-base`: what differs, and since when."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import click

from lakebed import Change, Diff, Location, TableDiff
from lakebed.cli import output
from lakebed.cli.app import App, Verb, pass_app
from lakebed.cli.here import HereLocation, here
from lakebed.cli.targets import REF, complete_ref, same_repository
from lakebed.cli.terminal import paged, signed

if TYPE_CHECKING:
    from lakebed._bulk.working_directory import LocalChange

_SIGNS = {"added": "+", "removed": "-", "changed": "~", "conflict": "!", "prefix_changed": "~"}


@click.command(cls=Verb)
@click.argument("left", type=REF, metavar="[REPO/REF]", required=False)
@click.argument("right", required=False, metavar="[REF]", shell_complete=complete_ref)
@click.argument("table", required=False, metavar="[TABLE]")
@click.option("--key", metavar="A,B", help="Compare the rows of TABLE. These columns identify a row.")
@click.option("--two-dot", is_flag=True, help="Compare the two refs directly, not from their common ancestor.")
@click.option("--prefix", default="", help="Only paths that begin with this.")
@click.option("--folders", is_flag=True, help="Show only the top folders that contain changes.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def diff(
    app: App,
    left: Location | None,
    right: str | None,
    table: str | None,
    key: str | None,
    two_dot: bool,
    prefix: str,
    folders: bool,
    limit: int | None,
) -> None:
    """Show what a merge of the second ref into the first would change, or what is uncommitted on a branch.

    `+` added, `-` removed, `~` changed, `!` changed on both sides.

    \b
    Example: lakebed diff sales/main dev        what dev has that main does not have
             lakebed diff sales/main            what is uncommitted on main
             lakebed diff sales/main dev orders/ --key id        the rows of a table that differ
             lakebed diff                        what has changed in a directory of `lakebed local clone`
    """
    if left is None:
        _diff_here(app)
        return
    if isinstance(left, HereLocation) and right is None:
        left, right = REF.or_here(None), left.ref  # `lakebed diff dev` in a directory of main
    if (table is None) != (key is None):
        raise click.UsageError("the rows of a table need a second REF, TABLE and --key.")
    delimiter = "/" if folders else ""
    with app.lake() as lake:
        repository = lake.repository(left.repository)
        if right is None:
            found = repository.branch(left.ref).uncommitted(prefix, delimiter, limit)
        else:
            other = same_repository(left, right)
            found = repository.ref(left.ref).diff(
                other, two_dot=two_dot, prefix=prefix, delimiter=delimiter, limit=limit
            )
            if table is not None and key is not None:
                _show_rows(app, found, table, key.split(","), limit)
                return
        _show_changes(app, found)


def _show_changes(app: App, found: Iterable[Change]) -> None:
    """Print the objects that differ, and their number by kind."""
    counts: Counter[str] = Counter()

    def line(change: Change) -> str:
        counts[change.type] += 1
        return change_line(change)

    with paged(app):
        output.rows(app, found, line)
    if not app.as_json:
        parts = [f"{count:,} {kind.replace('_', ' ')}" for kind, count in sorted(counts.items())]
        output.note(app, ", ".join(parts) or "no differences")


def _diff_here(app: App) -> None:
    """Print what has changed in the working directory. Asks no server."""
    found = here()
    if found is None:
        raise click.UsageError(
            "Missing argument 'REPO/REF': it can be left out in a directory of `lakebed local clone` only."
        )
    from lakebed._bulk.working_directory import opened

    with opened(found.top) as checkout:
        if not output.rows(app, checkout.changes(), change_line) and not app.as_json:
            output.note(app, "no differences")


def change_line(change: Change | LocalChange) -> str:
    """One difference in a list."""
    return signed(f"{_SIGNS.get(change.type, '?')} {output.shown(change.path)}")


def _show_rows(app: App, found: Diff, table: str, key: list[str], limit: int | None) -> None:
    """Print the rows of a table that differ."""
    compared = found.table(table, key=key)
    if app.as_json:
        columns = [{"name": one.name, "before": one.before, "after": one.after} for one in compared.schema]
        parts = {name: list(map(_plain, getattr(compared, name).slice(0, limit).to_pylist())) for name in _PARTS}
        output.show(app, "", {"path": table, "key": key, "schema": columns, **parts})
        return
    changed = (f"column {output.shown(str(column))}" for column in compared.schema)
    with paged(app):
        for line in chain(changed, (signed(output.shown(line)) for line in islice(_row_lines(compared), limit))):
            sys.stdout.write(line + "\n")
    counts = [f"{getattr(compared, name).num_rows:,} {name}" for name in _PARTS if getattr(compared, name).num_rows]
    output.note(app, ", ".join(counts) or "no differences")


_PARTS = ("changed", "added", "removed")


def _row_lines(compared: TableDiff) -> Iterator[str]:
    for row in compared.changed.to_pylist():
        key = {name: row[name] for name in compared.key}
        pairs = ((name, row[f"{name}_before"], row[f"{name}_after"]) for name in row["columns"])
        yield f"~ {_values(key)}: " + ", ".join(f"{name} {before} -> {after}" for name, before, after in pairs)
    for sign, rows in (("+", compared.added), ("-", compared.removed)):
        for row in rows.to_pylist():
            yield f"{sign} {_values(row)}"


def _values(row: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in row.items())


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as JSON values."""
    kept = (str, int, float, bool, list)
    return {name: value if value is None or isinstance(value, kept) else str(value) for name, value in row.items()}


@click.command("merge-base", cls=Verb)
@click.argument("left", type=REF, metavar="REPO/REF")
@click.argument("right", metavar="REF", shell_complete=complete_ref)
@pass_app
def merge_base(app: App, left: Location, right: str) -> None:
    """Show the nearest common ancestor of two refs: the base of a merge.

    \b
    Example: lakebed merge-base sales/main dev
    """
    with app.lake() as lake:
        found = lake.repository(left.repository).ref(left.ref).merge_base(same_repository(left, right))
    output.show(app, found, {"commit_id": found})
