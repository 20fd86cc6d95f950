"""`lakebed profile`: the servers of ~/.lakebed.yaml. `lakebed login --profile NAME` adds one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from lakebed.cli import output
from lakebed.cli.app import App, Noun, confirm, pass_app, yes_option


@click.group(cls=Noun)
def profile() -> None:
    """List, choose and remove the profiles of ~/.lakebed.yaml. `lakebed login --profile NAME` adds one."""


@profile.command("list")
@pass_app
def list_(app: App) -> None:
    """List the profiles: server and kind of credentials, without secrets. A star marks the profile in use.

    \b
    Example: lakebed profile list
    """
    from lakebed._settings import profiles, sign_in_file, sources

    path = sources.own_file(os.environ)
    tree = sources.read_tree(path) if path.is_file() else {}
    used = os.environ.get("LAKEBED_PROFILE", "").strip() or sign_in_file.used_profile(path)
    rows = [_row(sources.profile_source(tree, name, path), name, used) for name in profiles.names(tree, path)]
    if app.as_json:
        output.show(app, "", {"profiles": rows, "file": str(path)})
        return
    for row in rows:
        click.echo(
            f"{'*' if row['used'] else ' '} {row['profile']:<20}  {output.shown(row['endpoint']) or '-'}  "
            f"{output.shown(row['credentials'])}"
        )
    if not rows:
        output.note(app, f"No profiles in {path}. `lakebed login ENDPOINT --profile NAME` adds one.")


@profile.command()
@click.argument("name", metavar="NAME")
@pass_app
def use(app: App, name: str) -> None:
    """Use this profile when none is named. `default` means the values outside of all profiles.

    \b
    Example: lakebed profile use prod
    """
    from lakebed._settings import sign_in_file

    path = _file()
    sign_in_file.use(path, name)
    output.say(app, f"Commands use the profile {name}.", {"profile": name, "file": str(path)})
    if os.environ.get("LAKEBED_PROFILE", "").strip() not in ("", name):
        output.note(app, f"LAKEBED_PROFILE is set to {os.environ['LAKEBED_PROFILE']!r}, which has precedence.")


@profile.command()
@click.argument("name", metavar="NAME")
@yes_option
@pass_app
def remove(app: App, name: str, yes: bool) -> None:
    """Remove a profile with its credentials from the file. Its access key stays valid on the server.

    \b
    Example: lakebed profile remove old --yes
    """
    from lakebed._settings import profiles, sign_in_file, sources

    path = _file()
    profiles.section(sources.read_tree(path) if path.is_file() else {}, name, path)
    confirm(f"Remove profile {name} from {path}?", yes=yes)
    sign_in_file.remove_profile(path, name)
    output.say(app, f"Profile {name} is removed.", {"removed": name, "file": str(path)})


def _file() -> Path:
    from lakebed._settings import sources

    return sources.own_file(os.environ)


def _row(source: Any, name: str, used: str) -> dict[str, Any]:
    values = source.values
    if values.get("token"):
        credentials = "sign-in"
    elif values.get("access_key_id"):
        credentials = f"access key {values['access_key_id']}"
    else:
        credentials = "no credentials"
    return {
        "profile": name,
        "endpoint": values.get("endpoint", ""),
        "credentials": credentials,
        "used": name == used,
    }
