"""`lakebed commit` and `lakebed merge`: what makes history. Over the SDK's `Branch` and `Ref`."""

from __future__ import annotations

from datetime import datetime

import click

from lakebed import Location
from lakebed.cli import output
from lakebed.cli.app import App, Verb, metadata_option, pass_app
from lakebed.cli.targets import BRANCH, REF, same_repository


@click.command(cls=Verb)
@click.argument("target", type=BRANCH, metavar="REPO/BRANCH")
@click.option("-m", "--message", required=True, help="Why; the first line is the title.")
@metadata_option("commit")
@click.option("--date", type=click.DateTime(), help="Another time than now, local.")
@click.option("--allow-empty", is_flag=True, help="Also when nothing has changed.")
@pass_app
def commit(
    app: App, target: Location, message: str, metadata: dict[str, str], date: datetime | None, allow_empty: bool
) -> None:
    """Commit everything that is uncommitted on a branch.

    \b
    Example: lakebed commit sales/main -m "load the orders" --meta job=nightly
    """
    with app.lake() as lake:
        branch = lake.repository(target.repository).branch(target.ref)
        made = branch.commit(message, metadata=metadata, allow_empty=allow_empty, date=date)
    title = output.shown(made.message.split("\n", 1)[0])
    output.say(app, f"[{target.ref} {made.short_id}] {title}", output.record(made))


@click.command(cls=Verb)
@click.argument("source", type=REF, metavar="REPO/SOURCE")
@click.argument("destination", metavar="BRANCH")
@click.option("-m", "--message", default="", help="Message of the merge commit [Merge 'SOURCE' into 'BRANCH'].")
@click.option(
    "--strategy",
    type=click.Choice(["source-wins", "dest-wins", "theirs", "ours"]),
    help="Which side wins on paths that both changed [none: it is a conflict].",
)
@click.option("--squash", is_flag=True, help="Record no second parent.")
@click.option("--allow-empty", is_flag=True, help="Also when there is nothing to merge.")
@metadata_option("merge commit")
@pass_app
def merge(
    app: App,
    source: Location,
    destination: str,
    message: str,
    strategy: str | None,
    squash: bool,
    allow_empty: bool,
    metadata: dict[str, str],
) -> None:
    """Merge a ref into a branch, as one commit.

    Paths that both sides changed are a conflict: they are listed, nothing is changed, and the exit code is 4.

    \b
    Example: lakebed merge sales/dev main -m "publish"
    """
    onto = same_repository(source, destination)
    with app.lake() as lake:
        ref = lake.repository(source.repository).ref(source.ref)
        made = ref.merge_into(
            onto, message, strategy=strategy, squash=squash, allow_empty=allow_empty, metadata=metadata
        )
    output.say(app, f"Merged {source.ref} into {onto}: {made.commit_id[:12]}", {"commit_id": made.commit_id})
