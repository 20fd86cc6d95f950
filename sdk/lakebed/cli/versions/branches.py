"""`lakebed branch`: the life of branches."""

from __future__ import annotations

import click

from lakebed import Location, RefInfo
from lakebed.cli import output
from lakebed.cli.app import App, Noun, confirm, pass_app, yes_option
from lakebed.cli.targets import BRANCH, BRANCH_OR_OBJECT, REPOSITORY, complete_ref, same_repository
from lakebed.cli.terminal import paint


@click.group(cls=Noun)
def branch() -> None:
    """Create, list, show, reset and delete branches."""


@branch.command()
@click.argument("target", type=BRANCH, metavar="REPO/BRANCH")
@click.option(
    "-s",
    "--source",
    metavar="REF",
    shell_complete=complete_ref,
    help="The ref that it starts from [the default branch].",
)
@click.option("--exist-ok", is_flag=True, help="Do nothing if it already exists.")
@click.option("--hidden", is_flag=True, help="Omit it from listings without --hidden.")
@pass_app
def create(app: App, target: Location, source: str | None, exist_ok: bool, hidden: bool) -> None:
    """Create a branch. No data is copied.

    \b
    Example: lakebed branch create sales/dev --source main
    """
    with app.lake() as lake:
        repository = lake.repository(target.repository)
        origin = same_repository(target, source) if source else repository.info().default_branch
        info = repository.branch(target.ref).create(origin, exist_ok=exist_ok, hidden=hidden).info()
    output.say(app, f"Branch {target.ref} is at {info.commit_id[:12]}.", output.record(info))


@branch.command("list")
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.option("--prefix", default="", help="Only names that begin with this.")
@click.option("--hidden", is_flag=True, help="Include hidden branches.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def list_(app: App, repository: Location, prefix: str, hidden: bool, limit: int | None) -> None:
    """List branches and the commits that they point to.

    \b
    Example: lakebed branch list sales
    """
    with app.lake() as lake:
        output.rows(app, lake.repository(repository.repository).branches(prefix, hidden, limit), line)


@branch.command()
@click.argument("target", type=BRANCH, metavar="REPO/BRANCH")
@pass_app
def show(app: App, target: Location) -> None:
    """Show the commit of a branch, and whether the branch has uncommitted changes.

    \b
    Example: lakebed branch show sales/main
    """
    with app.lake() as lake:
        handle = lake.repository(target.repository).branch(target.ref)
        info = handle.info()
        dirty = handle.uncommitted().first() is not None
    text = output.table(
        [("branch", info.id), ("commit", info.commit_id), ("uncommitted changes", "yes" if dirty else "no")]
    )
    output.show(app, text, {**output.record(info), "uncommitted": dirty})


@branch.command()
@click.argument("target", type=BRANCH_OR_OBJECT, metavar="REPO/BRANCH[/PATH]")
@click.option("--hard", metavar="REF", help="Move the branch to this commit. It must have no uncommitted changes.")
@yes_option
@pass_app
def reset(app: App, target: Location, hard: str | None, yes: bool) -> None:
    """Drop the uncommitted changes of a branch, of one object, or of a prefix (a path that ends in /).

    With --hard, move a branch without uncommitted changes to another commit.

    \b
    Example: lakebed branch reset sales/dev --yes
    """
    if hard is not None:
        hard_reset(app, target, hard, yes)
    else:
        reset_branch(app, target, yes)


def reset_branch(app: App, target: Location, yes: bool) -> None:
    """Drop the uncommitted changes at a place, and confirm it."""
    what = f"changes of {target}" if target.path else f"all uncommitted changes of {target}"
    confirm(f"Drop {what}?", yes=yes)
    with app.lake() as lake:
        handle = lake.repository(target.repository).branch(target.ref)
        if target.path.endswith("/"):
            handle.reset(prefix=target.path)
        else:
            handle.reset(target.path or None)
    output.say(app, f"Dropped {output.shown(what)}.", {"reset": str(target)})


def hard_reset(app: App, target: Location, hard: str, yes: bool) -> None:
    """Move a branch to another commit, and confirm it."""
    if target.path:
        raise click.UsageError("--hard moves a whole branch; leave the path out.")
    ref = same_repository(target, hard)
    confirm(f"Point branch {target} at {output.shown(ref)}?", yes=yes)
    with app.lake() as lake:
        handle = lake.repository(target.repository).branch(target.ref)
        before = handle.info().commit_id
        handle.hard_reset(ref)
        now = handle.info().commit_id
    text = f"Branch {target.ref} is at {now[:12]}; it was at {before}."
    output.say(app, text, {"reset": str(target), "commit_id": now, "before": before})


@branch.command()
@click.argument("target", type=BRANCH, metavar="REPO/BRANCH")
@click.option("--force", is_flag=True, help="Delete it even if the repository is read-only.")
@yes_option
@pass_app
def delete(app: App, target: Location, force: bool, yes: bool) -> None:
    """Delete a branch with its uncommitted changes. Its commits stay.

    \b
    Example: lakebed branch delete sales/dev --yes
    """
    confirm(f"Delete branch {target}, with its uncommitted changes?", yes=yes)
    with app.lake() as lake:
        handle = lake.repository(target.repository).branch(target.ref)
        info = handle.info()
        handle.drop(force=force)
    output.say(
        app,
        f"Branch {info.id} is deleted; it was at {info.commit_id}.",
        {"deleted": info.id, "commit_id": info.commit_id},
    )


def line(info: RefInfo) -> str:
    """A branch or a tag in a list."""
    return f"{paint(info.commit_id[:12], 'yellow')}  {output.shown(info.id)}"
