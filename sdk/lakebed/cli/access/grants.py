"""`lakebed grant`, `revoke` and `can`: rights on one repository, and the reason for a decision."""

from __future__ import annotations

from typing import Final, NamedTuple

import click

from lakebed import Lake, Location
from lakebed.cli import output
from lakebed.cli.app import App, Verb, pass_app
from lakebed.cli.exits import ExitCode
from lakebed.cli.targets import HISTORY, REPOSITORY
from lakebed.errors import PermissionDeniedError

LEVELS: Final = ("reader", "writer", "admin")
group_option = click.option("--group", "to_group", is_flag=True, help="The name is that of a group.")


class _Question(NamedTuple):
    """An action, and the parts of a target that its resource has: repository, branch or object."""

    action: str
    kind: str


_VERBS: Final = {
    "read": _Question("fs:ReadObject", "object"),
    "write": _Question("fs:WriteObject", "object"),
    "delete": _Question("fs:DeleteObject", "object"),
    "list": _Question("fs:ListObjects", "repository"),
    "log": _Question("fs:ReadBranch", "branch"),
    "commit": _Question("fs:CreateCommit", "branch"),
    "merge": _Question("fs:CreateCommit", "branch"),
    "branch": _Question("fs:CreateBranch", "branch"),
    "revert": _Question("fs:RevertBranch", "branch"),
    "tag": _Question("fs:CreateTag", "tag"),
}
_FORMS: Final = {"object": "REPO/BRANCH/PATH", "branch": "REPO/BRANCH", "tag": "REPO/TAG", "repository": "REPO"}


@click.command(cls=Verb)
@click.argument("name")
@click.argument("level", type=click.Choice(LEVELS))
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@group_option
@pass_app
def grant(app: App, name: str, level: str, repository: Location, to_group: bool) -> None:
    """Give a user, or with --group a group, rights on one repository. It replaces an earlier grant.

    A reader reads. A writer also writes, commits, merges and makes branches and tags. An admin also changes the rules
    and deletes the repository.

    \b
    Example: lakebed grant ana writer sales
    """
    with app.lake() as lake:
        granted = (lake.groups if to_group else lake.users).grant(name, repository.repository, level)
        is_missing = _is_missing(lake, repository.repository)
    line = f"{output.shown(name)} is {level} of {output.shown(repository.repository)}."
    output.say(app, line, {"name": name, "repository": repository.repository, "level": level, "policy": granted.id})
    if is_missing:
        output.note(app, f"There is no repository {output.shown(repository.repository)} yet: check the name.")


def _is_missing(lake: Lake, repository: str) -> bool:
    """Whether there is no such repository. A user who may grant rights may lack the right to read it: False."""
    try:
        return not lake.repository(repository).exists()
    except PermissionDeniedError:
        return False


@click.command(cls=Verb)
@click.argument("name")
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@group_option
@pass_app
def revoke(app: App, name: str, repository: Location, to_group: bool) -> None:
    """Remove the rights that `lakebed grant` gave. Other policies and groups may still give rights.

    \b
    Example: lakebed revoke ana sales
    """
    with app.lake() as lake:
        (lake.groups if to_group else lake.users).revoke(name, repository.repository)
    line = f"The grant of {output.shown(name)} on {output.shown(repository.repository)} has ended."
    output.say(app, line, {"name": name, "repository": repository.repository, "revoked": True})


@click.command(cls=Verb)
@click.argument("name", metavar="USER")
@click.argument("action")
@click.argument("target")
@click.option("--from", "source_ip", default="", metavar="ADDRESS", help="The address of the client.")
@pass_app
def can(app: App, name: str, action: str, target: str, source_ip: str) -> None:
    """Check whether a user may do something, and which statement decides. Exits with 0 (yes) or 6 (no).

    ACTION is read, write or delete (of REPO/BRANCH/PATH), log, commit, merge, branch or revert (REPO/BRANCH), tag
    (REPO/TAG), list (REPO), or an action of a policy, such as fs:ReadTag, with a resource such as
    repository/sales/tag/v1.

    \b
    Example: lakebed can ana write sales/main/orders.csv
    """
    if ":" in action:
        question, resource, ref = action, target, ""
    else:
        question, resource, ref = _asked(action, target)
    branch = "" if action == "tag" else ref
    with app.lake() as lake:
        decision = lake.simulate(question, resource, user=name, branch=branch, ref=ref, source_ip=source_ip)
    text = f"{'yes' if decision else 'no'}: {output.shown(decision.reason)}"
    output.show(app, text, output.record(decision))
    if not decision:
        raise click.exceptions.Exit(ExitCode.DENIED)


def _asked(verb: str, target: str) -> tuple[str, str, str]:
    """The action, the resource and the ref of a question in words."""
    question = _VERBS.get(verb)
    if question is None:
        raise click.UsageError(f"{verb!r} is not one of {', '.join(_VERBS)}, or an action such as fs:ReadObject.")
    place = HISTORY.convert(target, None, None)
    repository = f"repository/{place.repository}"
    if question.kind == "repository":
        return question.action, repository, place.ref
    part = place.path if question.kind == "object" else place.ref
    if not part or (question.kind != "object" and place.path):
        raise click.UsageError(f"{verb} needs {_FORMS[question.kind]}, not {target!r}.")
    return question.action, f"{repository}/{question.kind}/{part}", place.ref
