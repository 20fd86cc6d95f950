"""`lakebed session`: the open login sessions of a user."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakebed.cli import output
from lakebed.cli.app import App, Noun, pass_app

if TYPE_CHECKING:
    from lakebed import LoginSession

_user_option = click.option("--user", "of_user", metavar="USER", help="The user [you].")


@click.group(cls=Noun)
def session() -> None:
    """List and end login sessions."""


@session.command("list")
@_user_option
@pass_app
def list_(app: App, of_user: str | None) -> None:
    """List the open sessions of a user: when each one started, and from which address.

    \b
    Example: lakebed session list
    """
    with app.lake() as lake:
        output.rows(app, lake.users.sessions(of_user or lake.user().id), _line)


@session.command()
@click.argument("found_id", metavar="SESSION")
@_user_option
@pass_app
def end(app: App, found_id: str, of_user: str | None) -> None:
    """End a session. `lakebed key end-tokens` ends all of yours.

    \b
    Example: lakebed session end 0f8b6a1c-5d1e-4c53-9e1b-3f1d1c9f6a55
    """
    with app.lake() as lake:
        lake.users.end_session(of_user or lake.user().id, found_id)
    output.say(app, f"Session {output.shown(found_id)} has ended.", {"ended": found_id})


def _line(row: LoginSession) -> str:
    dates = f"{output.when(row.created)}  {output.when(row.expires)}"
    return f"{row.id}  {dates}  {row.source}  {output.shown(row.address)}  {output.shown(row.user_agent)}"
