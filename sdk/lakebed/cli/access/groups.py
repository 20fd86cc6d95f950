"""`lakebed group`: groups of users."""

from __future__ import annotations

import click

from lakebed.cli import output
from lakebed.cli.access.users import line
from lakebed.cli.app import App, Noun, confirm, pass_app, yes_option


@click.group(cls=Noun)
def group() -> None:
    """Create, list and delete groups, and change their members."""


@group.command()
@click.argument("found_id", metavar="GROUP")
@click.option("--description", default="", help="What the group is for.")
@pass_app
def create(app: App, found_id: str, description: str) -> None:
    """Create a group without members and policies.

    \b
    Example: lakebed group create analysts-eu
    """
    with app.lake() as lake:
        made = lake.groups.create(found_id, description)
    output.say(app, f"Group {output.shown(made.id)} is created.", output.record(made))


@group.command("list")
@click.option("--prefix", default="", help="Only ids that begin with this.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def list_(app: App, prefix: str, limit: int | None) -> None:
    """List groups.

    \b
    Example: lakebed group list
    """
    with app.lake() as lake:
        found = lake.groups.list(prefix, limit)
        output.rows(app, found, lambda row: output.shown(f"{row.id}  {row.description}".rstrip()))


@group.command()
@click.argument("found_id", metavar="GROUP")
@pass_app
def show(app: App, found_id: str) -> None:
    """Show a group and its policies.

    \b
    Example: lakebed group show Viewers
    """
    with app.lake() as lake:
        found = lake.groups.get(found_id)
        policies = [policy.id for policy in lake.groups.policies(found_id)]
    pairs = [
        ("group", found.id),
        ("description", found.description),
        ("policies", ", ".join(policies)),
        ("created", output.when(found.created)),
    ]
    text = output.table((key, output.shown(value)) for key, value in pairs)
    output.show(app, text, {**output.record(found), "policies": policies})


@group.command()
@click.argument("found_id", metavar="GROUP")
@pass_app
def members(app: App, found_id: str) -> None:
    """List the members of a group.

    \b
    Example: lakebed group members Viewers
    """
    with app.lake() as lake:
        output.rows(app, lake.groups.members(found_id), line)


@group.command()
@click.argument("found_id", metavar="GROUP")
@click.argument("user")
@pass_app
def add(app: App, found_id: str, user: str) -> None:
    """Add a user to a group.

    \b
    Example: lakebed group add Viewers ana
    """
    with app.lake() as lake:
        lake.groups.add(found_id, user)
    names = {"group": found_id, "added": user}
    output.say(app, f"User {output.shown(user)} is in group {output.shown(found_id)}.", names)


@group.command()
@click.argument("found_id", metavar="GROUP")
@click.argument("user")
@pass_app
def remove(app: App, found_id: str, user: str) -> None:
    """Remove a user from a group.

    \b
    Example: lakebed group remove Viewers ana
    """
    with app.lake() as lake:
        lake.groups.remove(found_id, user)
    names = {"group": found_id, "removed": user}
    output.say(app, f"User {output.shown(user)} is no longer in group {output.shown(found_id)}.", names)


@group.command()
@click.argument("found_id", metavar="GROUP")
@yes_option
@pass_app
def delete(app: App, found_id: str, yes: bool) -> None:
    """Delete a group. Its members stay, without the rights of the group.

    \b
    Example: lakebed group delete analysts-eu --yes
    """
    confirm(f"Delete group {output.shown(found_id)}?", yes=yes)
    with app.lake() as lake:
        lake.groups.drop(found_id)
    output.say(app, f"Group {output.shown(found_id)} is deleted.", {"deleted": found_id})
