"""`lakebed user`: the users of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakebed.cli import output
from lakebed.cli.app import App, Noun, Verb, confirm, pass_app, yes_option

if TYPE_CHECKING:
    from lakebed import User


@click.group(cls=Noun)
def user() -> None:
    """Create, list, change, disable and delete users."""


@user.command()
@click.argument("found_id", metavar="USER")
@click.option("--name", "friendly_name", default="", help="The display name.")
@click.option("--email", default="", help="The e-mail address, which commits show as the committer.")
@click.option("--service", is_flag=True, help="The user is a program, not a person.")
@click.option("--group", "groups", multiple=True, metavar="GROUP", help="Add the user to this group; may be repeated.")
@pass_app
def create(app: App, found_id: str, friendly_name: str, email: str, service: bool, groups: tuple[str, ...]) -> None:
    """Create a user. Without a group or a policy, the user has no rights.

    \b
    Example: lakebed user create ana --email ana@example.org --group Viewers
    """
    with app.lake() as lake:
        made = lake.users.create(found_id, friendly_name=friendly_name, email=email, service=service)
        for group in groups:
            lake.groups.add(group, found_id)
    line = f"User {output.shown(made.id)} is created; `lakebed key create --user` makes an access key for it."
    output.say(app, line, output.record(made))


@user.command("list")
@click.option("--prefix", default="", help="Only ids that begin with this.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def list_(app: App, prefix: str, limit: int | None) -> None:
    """List users.

    \b
    Example: lakebed user list
    """
    with app.lake() as lake:
        output.rows(app, lake.users.list(prefix, limit), line)


@user.command()
@click.argument("found_id", metavar="USER")
@pass_app
def show(app: App, found_id: str) -> None:
    """Show a user with its groups and its policies, including those of the groups.

    \b
    Example: lakebed user show ana
    """
    with app.lake() as lake:
        found = lake.users.get(found_id)
        groups = [group.id for group in lake.users.groups(found_id)]
        policies = [policy.id for policy in lake.users.policies(found_id, effective=True)]
    pairs = [*_pairs(found), ("groups", ", ".join(groups)), ("policies", ", ".join(policies))]
    text = output.table((key, output.shown(value)) for key, value in pairs)
    output.show(app, text, {**output.record(found), "groups": groups, "policies": policies})


@user.command()
@click.argument("found_id", metavar="USER")
@click.option("--name", "friendly_name", help="The display name; an empty one removes it.")
@click.option("--email", help="The e-mail address; an empty one removes it.")
@pass_app
def update(app: App, found_id: str, friendly_name: str | None, email: str | None) -> None:
    """Change the name or the address of a user.

    \b
    Example: lakebed user update ana --name "Ana Ruiz"
    """
    if friendly_name is None and email is None:
        raise click.UsageError("Nothing to change: pass --name or --email.")
    with app.lake() as lake:
        changed = lake.users.update(found_id, friendly_name=friendly_name, email=email)
    output.say(app, f"User {output.shown(changed.id)} is changed.", output.record(changed))


@user.command()
@click.argument("found_id", metavar="USER")
@pass_app
def disable(app: App, found_id: str) -> None:
    """Disable a user: within a second, every server refuses its requests. It keeps its keys, groups and policies.

    \b
    Example: lakebed user disable ana
    """
    with app.lake() as lake:
        changed = lake.users.update(found_id, disabled=True)
    output.say(app, f"User {output.shown(changed.id)} is disabled.", output.record(changed))


@user.command()
@click.argument("found_id", metavar="USER")
@pass_app
def enable(app: App, found_id: str) -> None:
    """Enable a disabled user again.

    \b
    Example: lakebed user enable ana
    """
    with app.lake() as lake:
        changed = lake.users.update(found_id, disabled=False)
    output.say(app, f"User {output.shown(changed.id)} is enabled.", output.record(changed))


@user.command()
@click.argument("found_id", metavar="USER")
@yes_option
@pass_app
def delete(app: App, found_id: str, yes: bool) -> None:
    """Delete a user with its access keys.

    \b
    Example: lakebed user delete ana --yes
    """
    confirm(f"Delete user {output.shown(found_id)} with its access keys?", yes=yes)
    with app.lake() as lake:
        lake.users.drop(found_id)
    output.say(app, f"User {output.shown(found_id)} is deleted.", {"deleted": found_id})


@click.command(cls=Verb)
@pass_app
def whoami(app: App) -> None:
    """Show the user that the credentials belong to.

    \b
    Example: lakebed whoami
    """
    with app.lake() as lake:
        found = lake.user()
    text = output.table((key, output.shown(value)) for key, value in _pairs(found))
    output.show(app, text, output.record(found))


def line(found: User) -> str:
    """A user as a line of a list."""
    state = "disabled" if found.disabled else "service" if found.service else ""
    return output.shown("  ".join(part for part in (found.id, found.friendly_name, found.email, state) if part))


def _pairs(found: User) -> list[tuple[str, str]]:
    return [
        ("user", found.id),
        ("name", found.friendly_name),
        ("email", found.email),
        ("kind", "service" if found.service else ""),
        ("state", "disabled" if found.disabled else ""),
        ("created", output.when(found.created)),
    ]
