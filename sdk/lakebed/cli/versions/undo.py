"""`lakebed undo`: take the last commit of a branch back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakebed import Location, PermissionDeniedError
from lakebed.cli import output
from lakebed.cli.app import App, Verb, confirm, pass_app, yes_option
from lakebed.cli.targets import BRANCH

if TYPE_CHECKING:
    from lakebed import Branch, Commit


@click.command(cls=Verb)
@click.argument("target", type=BRANCH, metavar="[REPO/BRANCH]", required=False)
@click.option("-m", "--message", default="", help="Message of the new commit [Revert COMMIT: its title].")
@click.option("--reset", is_flag=True, help="Move the branch back instead, as if the commit had not happened.")
@click.option("--dry-run", is_flag=True, help="Only print what the command would do.")
@yes_option
@pass_app
def undo(app: App, target: Location | None, message: str, reset: bool, dry_run: bool, yes: bool) -> None:
    """Undo the last commit of a branch, with a new commit that reverts it.

    Other users keep what they have, and the commit stays readable. A second `undo` brings it back. Use --reset only
    when no other user works on the branch. A protected branch accepts a revert, but not --reset.

    \b
    Example: lakebed undo sales/dev
    """
    target = BRANCH.or_here(target)
    place = f"{target.repository}/{target.ref}"
    with app.lake() as lake:
        branch = lake.repository(target.repository).branch(target.ref)
        if dry_run or (reset and not yes):
            last = _last(branch)
            what = f"{last.short_id} ({output.shown(_title(last))})"
            way = f"move {place} back to {last.parents[0][:12]}" if reset else f"commit the revert of it to {place}"
            if dry_run:
                output.say(app, f"Would undo {what}: {way}.", {"commit": output.record(last), "how": _how(reset)})
                return
            confirm(f"Undo {what}: {way}?", yes=yes)
        try:
            done = branch.undo(message, how="reset" if reset else "auto")
        except PermissionDeniedError as error:
            if error.kind == "protected_branch":
                output.advise(app, f"A protected branch accepts a revert: `lakebed undo {place}` without --reset.")
            raise
    back = f"`lakebed branch reset {place} --hard {done.commit.short_id}` brings it back"
    if done.how == "revert":
        back = f"`lakebed undo {place}` brings it back"
    by = f"reverted by {done.commit_id[:12]}" if done.how == "revert" else f"the branch is at {done.commit_id[:12]}"
    line = f"Undid {done.commit.short_id} ({output.shown(_title(done.commit))}): {by}. {back}."
    output.say(app, line, {"commit": output.record(done.commit), "how": done.how, "commit_id": done.commit_id})


def _last(branch: Branch) -> Commit:
    from lakebed._sync.commits.revert import last_commit

    return last_commit(branch._target)


def _how(reset: bool) -> str:
    return "reset" if reset else "revert"


def _title(commit: Commit) -> str:
    return commit.message.split("\n", 1)[0]
