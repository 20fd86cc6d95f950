"""`lakebed key`: access keys. A secret is shown once, when its key is made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from lakebed.cli import output
from lakebed.cli.app import App, Duration, Noun, confirm, pass_app, yes_option

if TYPE_CHECKING:
    from lakebed import AccessKey


user_option = click.option("--user", default="", metavar="USER", help="The keys of another user.")


@click.group(cls=Noun)
def key() -> None:
    """Create, list and delete access keys: your own, or with --user those of another user."""


@key.command()
@user_option
@click.option("--name", default="", help="What the key is for.")
@click.option("--read", default="", metavar="REPO", help="The key may only read this repository.")
@click.option("--expires", type=Duration(), metavar="TIME", help="The key expires after this time: 12h, 30d.")
@pass_app
def create(app: App, user: str, name: str, read: str, expires: int | None) -> None:
    """Create another access key. The command shows its secret once.

    \b
    Example:
      lakebed key create
      lakebed key create --read sales --name report --expires 30d
    """
    with app.lake() as lake:
        made = lake.keys.create(user, name=name, read=read, expires_in=expires)
    text = output.table([("access key id", made.id), ("secret access key", made.secret)])
    if made.expires is not None:
        output.note(app, f"It works until {output.when(made.expires)}.")
    as_settings = {"access_key_id": made.id, "secret_access_key": made.secret}  # the names of the settings
    output.show(app, text, {**output.record(made), "secret": made.secret, **as_settings})


@key.command("list")
@user_option
@pass_app
def list_(app: App, user: str) -> None:
    """List access keys.

    \b
    Example: lakebed key list
    """
    with app.lake() as lake:
        output.rows(app, lake.keys.list(user), _line)


@key.command()
@click.argument("found_id", metavar="ID")
@user_option
@pass_app
def show(app: App, found_id: str, user: str) -> None:
    """Show the creation time of an access key.

    \b
    Example: lakebed key show LKBD…
    """
    with app.lake() as lake:
        found = lake.keys.get(found_id, user)
    output.show(app, _line(found), output.record(found))


@key.command()
@click.argument("found_id", metavar="ID")
@user_option
@yes_option
@pass_app
def delete(app: App, found_id: str, user: str, yes: bool) -> None:
    """Delete an access key and end its tokens. You cannot delete the key that the command uses, or your last key.

    \b
    Example: lakebed key delete LKBD… --yes
    """
    confirm(f"Remove access key {output.shown(found_id)}?", yes=yes)
    with app.lake() as lake:
        lake.keys.drop(found_id, user)
    output.say(app, f"Access key {output.shown(found_id)} no longer works.", {"deleted": found_id})


@key.command()
@pass_app
def token(app: App) -> None:
    """Print a temporary token for your access key, for `Authorization: Bearer`. Keep it secret.

    \b
    Example: lakebed key token
    """
    with app.lake() as lake:
        given = lake.session_token()
    output.note(app, f"It works until {output.when(given.expires)}.")
    output.show(app, given.token, {"token": given.token, **output.record(given)})


@key.command()
@click.option("--duration", type=Duration(), metavar="TIME", help="The key expires after this time: 15m, 12h [1h].")
@click.option("--read", default="", metavar="REPO", help="The key may only read this repository.")
@pass_app
def temporary(app: App, duration: int | None, read: str) -> None:
    """Print a temporary access key for S3 clients, as JSON that the setting `credential_process` of AWS tools reads.

    \b
    Example: lakebed key temporary --duration 12h
    """
    with app.lake() as lake:
        made = lake.keys.temporary(duration, read=read)
    given = {
        "Version": 1,
        "AccessKeyId": made.id,
        "SecretAccessKey": made.secret,
        "SessionToken": made.session_token,
        "Expiration": made.expires.isoformat(),
    }
    output.show(app, json.dumps(given, indent=2), given)


@key.command("end-tokens")
@yes_option
@pass_app
def end_tokens(app: App, yes: bool) -> None:
    """End all tokens of your access keys. The keys stay.

    \b
    Example: lakebed key end-tokens --yes
    """
    confirm("End all your tokens, those of other tools too?", yes=yes)
    with app.lake() as lake:
        lake.end_session_tokens()
    output.say(app, "Your tokens no longer work.", {"ended": True})


def _line(row: AccessKey) -> str:
    facts = [row.id, output.when(row.created)]
    if row.name:
        facts.append(output.shown(row.name))
    if row.expires is not None:
        facts.append(f"ends {output.when(row.expires)}")
    if row.last_used is not None:
        facts.append(f"used {output.when(row.last_used)}")
    if row.policy is not None:
        facts.append("with a policy")
    return "  ".join(facts)
