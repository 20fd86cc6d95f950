"""`lakebed history`: the reads, writes and refusals of a repository or of the server, with their users."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from lakebed import Location, RightsChange
from lakebed.cli import output
from lakebed.cli.app import App, Verb, pass_app
from lakebed.cli.targets import REPOSITORY

if TYPE_CHECKING:
    _Type = click.ParamType[datetime]
else:
    _Type = click.ParamType  # takes no parameter at run time in older releases of click

_AGO = re.compile(r"(\d{1,6})([smhdw])", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class Moment(_Type):
    """A time, or how long ago: `2026-01-31`, `2026-01-31T12:00:00`, `7d`, `12h`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the moment. A time without a zone is local time."""
        if isinstance(value, datetime):
            return value
        if found := _AGO.fullmatch(value):
            return datetime.now(UTC) - timedelta(seconds=int(found[1]) * _SECONDS[found[2]])
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a time: write 2026-01-31T12:00:00, or 7d for a week ago", param, ctx)


@click.command(cls=Verb)
@click.argument("target", type=REPOSITORY, metavar="[REPO]", required=False)
@click.option("--rights", is_flag=True, help="Without REPO: only changes of users, groups and policies.")
@click.option("--path", default="", metavar="PREFIX", help="Only paths that begin with this.")
@click.option("--user", default="", help="Only this user.")
@click.option("--operation", default="", metavar="NAME", help="Only this operation, such as getObject.")
@click.option("--refused", is_flag=True, help="Only refusals.")
@click.option("--since", type=Moment(), metavar="TIME", help="Only since this time: a date, or 7d, 12h ago [7d].")
@click.option("--until", type=Moment(), metavar="TIME", help="Only before this time [now].")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Show the last N [all].")
@pass_app
def history(
    app: App,
    target: Location | None,
    rights: bool,
    path: str,
    user: str,
    operation: str,
    refused: bool,
    since: datetime | None,
    until: datetime | None,
    limit: int | None,
) -> None:
    """Show the reads, writes and refusals of a repository, with their users, oldest first. Needs `audit:ReadEvents`.

    Without REPO, show the requests that concern no repository: sign-ins, users, groups, policies and keys.

    \b
    Example:
      lakebed history sales --path orders/ --user ana --since 7d
      lakebed history --refused --since 12h
      lakebed history --rights
    """
    if rights and target is not None:
        raise click.UsageError("--rights is about the server: leave REPO out.")
    with app.lake() as lake:
        if rights:
            output.rows(app, lake.rights_changes(), _change_line)
            return
        table = (lake if target is None else lake.repository(target.repository)).access_history(
            since=since, until=until, user=user, path=path, operation=operation, refused=refused
        )
    if limit is not None:
        table = table.slice(max(0, table.num_rows - limit))
    output.rows(app, table.to_pylist(), _line, lambda row: {**row, "time": row["time"].isoformat()})


def _change_line(change: RightsChange) -> str:
    moment = change.time.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return f"{moment}  {change.by}  {change.what}"


def _line(row: dict[str, Any]) -> str:
    moment = row["time"].astimezone().strftime("%Y-%m-%d %H:%M:%S")
    where = "/".join(part for part in (row["ref"], row["path"]) if part)
    user = row["user"] or "-"
    return f"{moment}  {row['status']}  {user}  {row['operation']}  {output.shown(where)}  {row['source_ip']}"
