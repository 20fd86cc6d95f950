"""`lakebed policy`: policies, and the users and groups that have them."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

import click

from lakebed.cli import output
from lakebed.cli.app import App, Noun, confirm, pass_app, yes_option

if TYPE_CHECKING:
    from lakebed import Policy

file_option = click.option(
    "--file",
    "document",
    type=click.File("rb"),
    metavar="FILE",
    help='JSON such as {"statement": [...]}; - reads standard input.',
)
group_option = click.option("--group", "to_group", is_flag=True, help="The name is that of a group.")


@click.group(cls=Noun)
def policy() -> None:
    """Create, show, change, attach and delete policies: which actions are allowed."""


@policy.command()
@click.argument("found_id", metavar="POLICY")
@file_option
@pass_app
def create(app: App, found_id: str, document: IO[bytes] | None) -> None:
    """Create a policy from a file.

    \b
    Example: lakebed policy create dev-branches --file policy.json
    """
    if document is None:
        raise click.UsageError("Pass the statements: --file FILE, or --file - for standard input.")
    statements = _statements(document.read())
    with app.lake() as lake:
        made = lake.policies.create(found_id, statements)
    output.say(app, f"Policy {output.shown(made.id)} is created.", _record(made))


@policy.command("list")
@click.option("--prefix", default="", help="Only ids that begin with this.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def list_(app: App, prefix: str, limit: int | None) -> None:
    """List policies.

    \b
    Example: lakebed policy list
    """
    with app.lake() as lake:
        output.rows(app, lake.policies.list(prefix, limit), lambda row: output.shown(row.id), _record)


@policy.command()
@click.argument("found_id", metavar="POLICY")
@pass_app
def show(app: App, found_id: str) -> None:
    """Print the statements of a policy as JSON, in the form that `create` and `edit` read.

    \b
    Example: lakebed policy show FSReadAll
    """
    with app.lake() as lake:
        found = lake.policies.get(found_id)
    output.show(app, _document(found), _record(found))


@policy.command()
@click.argument("found_id", metavar="POLICY")
@file_option
@pass_app
def edit(app: App, found_id: str, document: IO[bytes] | None) -> None:
    """Replace the statements of a policy: from a file, or in your editor ($EDITOR).

    \b
    Example: lakebed policy edit dev-branches --file policy.json
    """
    with app.lake() as lake:
        edited = _edited(lake.policies.get(found_id)) if document is None else document.read()
        if edited is None:
            output.say(app, "Nothing was changed.", {"changed": None})
            return
        changed = lake.policies.update(found_id, _statements(edited))
    output.say(app, f"Policy {output.shown(changed.id)} is changed.", _record(changed))


@policy.command()
@click.argument("found_id", metavar="POLICY")
@click.argument("name")
@group_option
@pass_app
def attach(app: App, found_id: str, name: str, to_group: bool) -> None:
    """Attach a policy to a user, or with --group to a group.

    \b
    Example: lakebed policy attach FSReadAll ana
    """
    with app.lake() as lake:
        (lake.groups if to_group else lake.users).attach(name, found_id)
    line = f"{_holder(name, to_group)} has policy {output.shown(found_id)}."
    output.say(app, line, {"policy": found_id, "attached_to": name})


@policy.command()
@click.argument("found_id", metavar="POLICY")
@click.argument("name")
@group_option
@pass_app
def detach(app: App, found_id: str, name: str, to_group: bool) -> None:
    """Detach a policy from a user, or with --group from a group.

    \b
    Example: lakebed policy detach FSReadAll ana
    """
    with app.lake() as lake:
        (lake.groups if to_group else lake.users).detach(name, found_id)
    line = f"{_holder(name, to_group)} no longer has policy {output.shown(found_id)}."
    output.say(app, line, {"policy": found_id, "detached_from": name})


@policy.command()
@click.argument("found_id", metavar="POLICY")
@yes_option
@pass_app
def delete(app: App, found_id: str, yes: bool) -> None:
    """Delete a policy. Every user and group that has it loses these rights.

    \b
    Example: lakebed policy delete dev-branches --yes
    """
    confirm(f"Delete policy {output.shown(found_id)}?", yes=yes)
    with app.lake() as lake:
        lake.policies.drop(found_id)
    output.say(app, f"Policy {output.shown(found_id)} is deleted.", {"deleted": found_id})


def _edited(found: Policy) -> str | None:
    """The document after the user has edited it; None if it was not saved."""
    return click.edit(_document(found) + "\n", extension=".json")


def _holder(name: str, is_group: bool) -> str:
    return f"{'Group' if is_group else 'User'} {output.shown(name)}"


def _statements(text: str | bytes) -> list[Any]:
    """The statements of a document, or of a bare list of statements. The server checks them."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"The policy is not JSON: {error}.") from None
    found = document.get("statement") if isinstance(document, dict) else document
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise click.UsageError('The policy has no list of statements: write {"statement": [{"effect": "allow", ...}]}.')
    return found


def _record(found: Policy) -> dict[str, Any]:
    return {**output.record(found), "statement": [dict(one) for one in found.statements]}


def _document(found: Policy) -> str:
    return output.dumps({"statement": [dict(one) for one in found.statements]})
