"""`lakebed events`: the changes of a repository, also as they come."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from lakebed import Event, Location
from lakebed.cli import output
from lakebed.cli.app import App, Verb, pass_app
from lakebed.cli.targets import REPOSITORY


@click.command(cls=Verb)
@click.argument("target", type=REPOSITORY, metavar="[REPO]", required=False)
@click.option("-f", "--follow", is_flag=True, help="Also show new events as they occur, until Ctrl-C.")
@click.option("--branch", default="", metavar="NAME", help="Only events of this branch.")
@click.option("--type", "type_", default="", metavar="TYPE", help="Only this type, or all of a group: branch.")
@click.option("--after", type=click.IntRange(min=0), metavar="N", help="Only after this logical timestamp.")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Show the first N [all].")
@pass_app
def events(
    app: App, target: Location | None, follow: bool, branch: str, type_: str, after: int | None, limit: int | None
) -> None:
    """Show the changes of a repository, oldest first. Needs `audit:ReadEvents`, or `fs:ReadBranch` with --branch.

    Without REPO, the changes of all repositories, and of users, groups, policies and keys.

    \b
    Example:
      lakebed events sales --branch main --type branch.merged
      lakebed events sales --follow
      lakebed events --type auth
    """
    if target is None and (follow or branch):
        raise click.UsageError("--follow and --branch need a REPO.")
    with app.lake() as lake:
        found: Iterable[Event]
        if target is None:
            found = lake.events(after=after, type=type_, limit=limit)
        else:
            found = lake.repository(target.repository).events(
                after=after, branch=branch, type=type_, limit=limit, follow=follow
            )
        shown = output.Rows(app, _line if target else _server_line)
        for event in found:
            shown.add(event)
            if follow:
                sys.stdout.flush()
        shown.end()


def _line(event: Event) -> str:
    moment = event.time.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    what = event.branch or str(event.data.get("tag", event.data.get("what", "")))
    return f"{moment}  {event.user or '-'}  {event.type}  {output.shown(what)}  {event.commit_id[:16]}".rstrip()


def _server_line(event: Event) -> str:
    """The line of an event among those of other repositories."""
    moment, rest = _line(event).split("  ", 1)
    return f"{moment}  {event.repository or '-'}  {rest}"
