"""`lakebed diff` and `merge-base`: what differs, and since when."""

from __future__ import annotations

from collections import Counter

import click

from lakebed import Change, Location
from lakebed.cli import output
from lakebed.cli.app import App, Verb, pass_app
from lakebed.cli.targets import REF, same_repository

_SIGNS = {"added": "+", "removed": "-", "changed": "~", "conflict": "!", "prefix_changed": "~"}


@click.command(cls=Verb)
@click.argument("left", type=REF, metavar="REPO/REF")
@click.argument("right", required=False, metavar="[REF]")
@click.option("--two-dot", is_flag=True, help="Compare the two refs directly, not from their common ancestor.")
@click.option("--prefix", default="", help="Only paths that begin with this.")
@click.option("--folders", is_flag=True, help="Show only the top folders that contain changes.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def diff(
    app: App, left: Location, right: str | None, two_dot: bool, prefix: str, folders: bool, limit: int | None
) -> None:
    """Show what a merge of the second ref into the first would change, or what is uncommitted on a branch.

    `+` added, `-` removed, `~` changed, `!` changed on both sides.

    \b
    Example: lakebed diff sales/main dev        what dev has that main has not
             lakebed diff sales/main            what is uncommitted on main
    """
    delimiter = "/" if folders else ""
    counts: Counter[str] = Counter()

    def line(change: Change) -> str:
        counts[change.type] += 1
        return change_line(change)

    with app.lake() as lake:
        repository = lake.repository(left.repository)
        if right is None:
            found = repository.branch(left.ref).uncommitted(prefix, delimiter, limit)
        else:
            other = same_repository(left, right)
            found = repository.ref(left.ref).diff(
                other, two_dot=two_dot, prefix=prefix, delimiter=delimiter, limit=limit
            )
        output.rows(app, found, line)
    if not app.as_json:
        parts = [f"{count:,} {kind.replace('_', ' ')}" for kind, count in sorted(counts.items())]
        output.note(app, ", ".join(parts) or "no differences")


def change_line(change: Change) -> str:
    """One difference in a list."""
    return f"{_SIGNS.get(change.type, '?')} {output.shown(change.path)}"


@click.command("merge-base", cls=Verb)
@click.argument("left", type=REF, metavar="REPO/REF")
@click.argument("right", metavar="REF")
@pass_app
def merge_base(app: App, left: Location, right: str) -> None:
    """Show the nearest common ancestor of two refs: the base of a merge.

    \b
    Example: lakebed merge-base sales/main dev
    """
    with app.lake() as lake:
        found = lake.repository(left.repository).ref(left.ref).merge_base(same_repository(left, right))
    output.show(app, found, {"commit_id": found})
