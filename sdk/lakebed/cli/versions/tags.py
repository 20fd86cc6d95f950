"""`lakebed tag`: the life of tags."""

from __future__ import annotations

import click

from lakebed import Location
from lakebed.cli import output
from lakebed.cli.app import App, Noun, confirm, pass_app, yes_option
from lakebed.cli.targets import REPOSITORY, TAG, same_repository
from lakebed.cli.versions.branches import line


@click.group(cls=Noun)
def tag() -> None:
    """Create, list, show and delete tags: names that never move."""


@tag.command()
@click.argument("target", type=TAG, metavar="REPO/TAG")
@click.argument("ref")
@click.option("--exist-ok", is_flag=True, help="Do nothing if it already exists at the same commit.")
@pass_app
def create(app: App, target: Location, ref: str, exist_ok: bool) -> None:
    """Give a commit a name.

    \b
    Example: lakebed tag create sales/v1 main
    """
    with app.lake() as lake:
        handle = lake.repository(target.repository).tag(target.ref)
        info = handle.create(same_repository(target, ref), exist_ok=exist_ok).info()
    output.say(app, f"Tag {output.shown(info.id)} is at {info.commit_id[:12]}.", output.record(info))


@tag.command("list")
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.option("--prefix", default="", help="Only names that begin with this.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def list_(app: App, repository: Location, prefix: str, limit: int | None) -> None:
    """List tags and the commits that they point to.

    \b
    Example: lakebed tag list sales
    """
    with app.lake() as lake:
        output.rows(app, lake.repository(repository.repository).tags(prefix, limit), line)


@tag.command()
@click.argument("target", type=TAG, metavar="REPO/TAG")
@pass_app
def show(app: App, target: Location) -> None:
    """Show the commit that a tag points to.

    \b
    Example: lakebed tag show sales/v1
    """
    with app.lake() as lake:
        info = lake.repository(target.repository).tag(target.ref).info()
    output.show(app, output.table([("tag", output.shown(info.id)), ("commit", info.commit_id)]), output.record(info))


@tag.command()
@click.argument("target", type=TAG, metavar="REPO/TAG")
@click.option("--force", is_flag=True, help="Delete it even if the repository is read-only.")
@yes_option
@pass_app
def delete(app: App, target: Location, force: bool, yes: bool) -> None:
    """Delete a tag. The commit stays.

    \b
    Example: lakebed tag delete sales/v1 --yes
    """
    confirm(f"Delete tag {target}?", yes=yes)
    with app.lake() as lake:
        handle = lake.repository(target.repository).tag(target.ref)
        info = handle.info()
        handle.drop(force=force)
    output.say(
        app,
        f"Tag {output.shown(info.id)} is deleted; it was at {info.commit_id}.",
        {"deleted": info.id, "commit_id": info.commit_id},
    )
