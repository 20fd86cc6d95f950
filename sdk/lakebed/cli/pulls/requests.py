"""`lakebed pr`: open, list, show, review and merge pull requests."""

from __future__ import annotations

from typing import Any, Literal

import click

from lakebed import Location, PullRequest, PullRequestComment, PullRequestState
from lakebed.cli import output
from lakebed.cli.app import App, Noun, pass_app
from lakebed.cli.targets import BRANCH, REF, REPOSITORY, Target, same_repository
from lakebed.cli.versions.diff import change_line

PULL = Target("REPO/ID")
_pull = click.argument("target", type=PULL, metavar="REPO/ID")


@click.group(cls=Noun)
def pr() -> None:
    """Open, list, show, review and merge pull requests."""


@pr.command()
@click.argument("source", type=BRANCH, metavar="REPO/BRANCH")
@click.argument("destination", metavar="BRANCH")
@click.option("-t", "--title", required=True, help="The title.")
@click.option("-m", "--message", "description", default="", help="The text, in Markdown.")
@click.option("--reviewer", "reviewers", multiple=True, metavar="USER", help="A user, or @GROUP; may be repeated.")
@click.option("--draft", is_flag=True, help="Mark it as a draft, which cannot be merged yet.")
@pass_app
def create(
    app: App,
    source: Location,
    destination: str,
    title: str,
    description: str,
    reviewers: tuple[str, ...],
    draft: bool,
) -> None:
    """Open a pull request from one branch into another.

    \b
    Example: lakebed pr create sales/dev main -t "Add June" --reviewer ben
    """
    with app.lake() as lake:
        made = lake.repository(source.repository).pulls.create(
            source.ref, same_repository(source, destination), title, description, draft=draft, reviewers=reviewers
        )
    output.say(app, f"Pull request {source.repository}/{made.id} is open.", output.record(made))


@pr.command("list")
@click.argument("repository", type=REPOSITORY, required=False, metavar="[REPO]")
@click.option(
    "--status",
    type=click.Choice(["open", "closed", "all"]),
    default="open",
    show_default=True,
    help="Only with this status.",
)
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def list_(app: App, repository: Location | None, status: Literal["open", "closed", "all"], limit: int | None) -> None:
    """List pull requests, newest first. Without a repository, list the open ones that concern you.

    \b
    Example: lakebed pr list sales
             lakebed pr list            opened by you, to be reviewed by you, or with your name in them
    """
    with app.lake() as lake:
        if repository is None:
            output.rows(
                app,
                lake.own_pulls(limit),
                lambda one: f"{one.repository}/{_line(one.pull_request)}  ({', '.join(one.reasons)})",
            )
        else:
            output.rows(app, lake.repository(repository.repository).pulls.list(status, limit), _line)


@pr.command()
@_pull
@pass_app
def show(app: App, target: Location) -> None:
    """Show a pull request, what blocks its merge, its reviews and its comments.

    \b
    Example: lakebed pr show sales/0ujtsybgvtchv2jkdh2g
    """
    with app.lake() as lake:
        pulls = lake.repository(target.repository).pulls
        found = pulls.get(target.ref)
        state, reviews, comments = pulls.state(found.id), pulls.reviews(found.id), pulls.comments(found.id)
        events = pulls.timeline(found.id).all()
        conflicts = [one.path for one in pulls.conflicts(found.id, limit=20)] if state.mergeable == "conflicts" else []
    value = {
        **output.record(found),
        "mergeable": state.mergeable,
        "approvals": state.approvals,
        "approvals_needed": state.approvals_needed,
        "checks": {check.name: check.state for check in state.checks},
        "conflicts": conflicts,
        "reviews": [output.record(one) for one in reviews],
        "comments": [output.record(one) for one in comments],
        "timeline": [output.record(one) for one in events],
    }
    output.show(app, _text(found, state, conflicts, comments), value)


@pr.command()
@_pull
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def diff(app: App, target: Location, limit: int | None) -> None:
    """Show what the merge of a pull request changes, or has changed.

    \b
    Example: lakebed pr diff sales/0ujtsybgvtchv2jkdh2g
    """
    with app.lake() as lake:
        repository = lake.repository(target.repository)
        found = repository.pulls.get(target.ref)
        if found.merged_commit_id:
            changes = repository.ref(f"{found.merged_commit_id}^1").diff(
                found.merged_commit_id, two_dot=True, limit=limit
            )
        else:
            source = found.source_commit_id or found.source_branch
            changes = repository.ref(found.destination_branch).diff(source, limit=limit)
        output.rows(app, changes, change_line)


@pr.command()
@_pull
@click.option("-m", "--message", "body", required=True, help="The text, in Markdown.")
@click.option("--path", default="", help="The path that the comment is about.")
@click.option("--column", default="", help="The column of the table at the path.")
@click.option("--row", "row_key", default="", metavar="KEY", help="The row of the table at the path, by its key.")
@click.option("--reply-to", type=int, metavar="N", help="The comment to reply to.")
@pass_app
def comment(app: App, target: Location, body: str, path: str, column: str, row_key: str, reply_to: int | None) -> None:
    """Comment on a pull request, a path, or a column or row of a table.

    \b
    Example: lakebed pr comment sales/0ujtsybgvtchv2jkdh2g -m "Why 7?" --path orders/ --column price
    """
    with app.lake() as lake:
        made = lake.repository(target.repository).pulls.comment(
            target.ref, body, path=path, column=column, row_key=row_key, reply_to=reply_to
        )
    output.say(app, f"Comment {made.id} is written.", output.record(made))


@pr.command()
@_pull
@click.option("-m", "--message", "body", default="", help="The text, in Markdown.")
@click.option(
    "--request-changes", is_flag=True, help="Request changes instead: this blocks the merge until you approve."
)
@click.option("--withdraw", is_flag=True, help="Withdraw your approval.")
@pass_app
def approve(app: App, target: Location, body: str, request_changes: bool, withdraw: bool) -> None:
    """Approve the newest commit of a pull request of another user.

    A later commit on the source cancels the approval.

    \b
    Example: lakebed pr approve sales/0ujtsybgvtchv2jkdh2g
    """
    if withdraw and (request_changes or body):
        raise click.UsageError("--withdraw takes no other option.")
    with app.lake() as lake:
        pulls = lake.repository(target.repository).pulls
        if withdraw:
            pulls.withdraw_approval(target.ref)
            output.say(app, "Your approval is withdrawn.", {"withdrawn": True})
            return
        made = pulls.review(target.ref, "request_changes" if request_changes else "approve", body)
    said = "Your request for changes blocks the merge." if request_changes else "Your approval counts."
    output.say(app, f"{said} Commit {made.source_commit_id[:12]}.", output.record(made))


@pr.command()
@_pull
@click.option("-m", "--message", default="", help="The commit message.")
@click.option("--strategy", type=click.Choice(["source-wins", "dest-wins"]), help="The side that wins conflicts.")
@click.option("--squash", is_flag=True, help="Record the destination as the only parent.")
@click.option("--source-commit", default="", metavar="ID", help="Merge only if the source is at this commit.")
@click.option("--auto", is_flag=True, help="Let the server merge it when nothing blocks it.")
@pass_app
def merge(
    app: App, target: Location, message: str, strategy: str | None, squash: bool, source_commit: str, auto: bool
) -> None:
    """Merge a pull request, and close it in the same step.

    \b
    Example: lakebed pr merge sales/0ujtsybgvtchv2jkdh2g
    """
    if auto and (squash or source_commit):
        raise click.UsageError("--auto takes no --squash and no --source-commit.")
    with app.lake() as lake:
        pulls = lake.repository(target.repository).pulls
        if auto:
            found = pulls.update(target.ref, auto_merge=True, strategy=strategy or "", message=message)
            output.say(app, "The server merges it when nothing blocks it.", output.record(found))
            return
        made = pulls.merge(target.ref, message, strategy=strategy or "", squash=squash, source_commit_id=source_commit)
    output.say(app, f"Merged as commit {made.commit_id}.", {"commit_id": made.commit_id})


@pr.command()
@_pull
@click.option("--reopen", is_flag=True, help="Open it again.")
@pass_app
def close(app: App, target: Location, reopen: bool) -> None:
    """Close a pull request without a merge.

    \b
    Example: lakebed pr close sales/0ujtsybgvtchv2jkdh2g
    """
    with app.lake() as lake:
        found = lake.repository(target.repository).pulls.update(target.ref, status="open" if reopen else "closed")
    output.say(app, f"Pull request {found.id} is {found.status}.", output.record(found))


@pr.command("checkout-workspace")
@_pull
@click.option("-m", "--message", default="", help="The message of the later commit.")
@pass_app
def checkout_workspace(app: App, target: Location, message: str) -> None:
    """Create a workspace on the source of a pull request, to try it or to correct it.

    \b
    Example: lakebed pr checkout-workspace sales/0ujtsybgvtchv2jkdh2g
             lakebed workspace commit sales/dev+ID
    """
    with app.lake() as lake:
        repository = lake.repository(target.repository)
        found = repository.pulls.get(target.ref)
        made = repository.branch(found.source_branch).workspace(message or found.title).create().info()
    line = f"Workspace {target.repository}/{made.name} is open on the source of {found.id}."
    output.say(app, output.shown(line), {"workspace": made.name, "id": made.id, "pull_request": found.id})


@pr.command()
@click.argument("target", type=REF, metavar="REPO/REF")
@click.argument("name", required=False, metavar="[NAME]")
@click.argument("state", required=False, type=click.Choice(["pending", "success", "failure"]))
@click.option("-m", "--message", "description", default="", help="What the job found.")
@click.option("--url", default="", help="Address of a page about the job.")
@pass_app
def check(
    app: App,
    target: Location,
    name: str | None,
    state: Literal["pending", "success", "failure"] | None,
    description: str,
    url: str,
) -> None:
    """Set the state of a check on a commit, for a rule that requires it. Without a name, list the checks.

    \b
    Example: lakebed pr check sales/dev freshness success
    """
    if (name is None) != (state is None):
        raise click.UsageError("Give both a name and a state, or neither.")
    with app.lake() as lake:
        pulls = lake.repository(target.repository).pulls
        if name is None or state is None:
            output.rows(app, pulls.checks(target.ref), lambda one: f"{one.state:<8} {output.shown(one.name)}")
            return
        made = pulls.report_check(target.ref, name, state, description, url)
    output.say(app, f"Check {output.shown(made.name)} is {made.state}.", output.record(made))


def _line(found: PullRequest) -> str:
    status = "draft" if found.draft and found.status == "open" else found.status
    branches = f"{found.source_branch} -> {found.destination_branch}"
    return f"{found.id}  {status:<6}  {output.shown(found.title)}  ({branches}, {output.shown(found.author)})"


def _text(found: PullRequest, state: PullRequestState, conflicts: list[str], comments: list[PullRequestComment]) -> str:
    rows: list[tuple[str, Any]] = [
        ("title", output.shown(found.title)),
        ("status", "draft" if found.draft and found.status == "open" else found.status),
        ("author", output.shown(found.author)),
        ("branches", f"{found.source_branch} -> {found.destination_branch}"),
        ("opened", output.when(found.created)),
    ]
    if found.merged_commit_id:
        rows.append(("merged as", found.merged_commit_id))
    if found.status == "open":
        rows.append(("mergeable", state.mergeable))
        rows.append(("approvals", f"{state.approvals} of {state.approvals_needed}"))
    rows += [("changes asked by", output.shown(user)) for user in state.changes_requested_by]
    rows += [(f"check {output.shown(check.name)}", check.state) for check in state.checks]
    rows += [("conflict", output.shown(path)) for path in conflicts]
    lines = [output.table(rows)]
    if found.description:
        lines += ["", "\n".join(map(output.shown, found.description.splitlines()))]
    lines += [_comment_text(one) for one in comments if not one.deleted]
    return "\n".join(lines)


def _comment_text(one: PullRequestComment) -> str:
    place = " ".join(part for part in (one.path, one.column, one.row_key) if part)
    about = f" on {output.shown(place)}" if place else ""
    return f"\n#{one.id} {output.shown(one.author)}{about}:\n{output.shown(one.body)}"
