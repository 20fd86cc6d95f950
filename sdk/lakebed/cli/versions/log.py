"""`lakebed log` and `lakebed show`: history, for people and scripts."""

from __future__ import annotations

import sys
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING

import click

from lakebed import Change, Commit, CommitStatistics, Location
from lakebed.cli import output
from lakebed.cli.app import App, Moment, Verb, pass_app
from lakebed.cli.targets import HISTORY, REF
from lakebed.cli.terminal import graph_line, paged, paint
from lakebed.cli.versions.diff import change_line

if TYPE_CHECKING:
    from lakebed import Repository

_GRAPH_LIMIT = 50


@click.command(cls=Verb)
@click.argument("target", type=HISTORY, metavar="[REPO[/REF[/PATH]]]", required=False)
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N [all; 50 with --graph].")
@click.option("--graph", is_flag=True, help="Draw branches and merges; without REF, those of the whole repository.")
@click.option("--oneline", is_flag=True, help="Print one line per commit.")
@click.option("--first-parent", is_flag=True, help="Follow only the first parent of merges.")
@click.option(
    "--since", type=Moment(), metavar="TIME", help="Only commits since this time: local, or with UTC or +02:00."
)
@click.option("--until", type=Moment(), metavar="TIME", help="Only commits before this time.")
@click.option("--author", default="", metavar="USER", help="Only commits of this user.")
@pass_app
def log(
    app: App,
    target: Location | None,
    limit: int | None,
    graph: bool,
    oneline: bool,
    first_parent: bool,
    since: datetime | None,
    until: datetime | None,
    author: str,
) -> None:
    """Show the history of a ref or of one path, newest first. A path that ends in `/` is a folder.

    \b
    Example: lakebed log sales/main/orders/ -n 5
             lakebed log ./prices.csv        in a directory of `lakebed local clone`
    """
    target = HISTORY.or_here(target, whole=graph)
    with app.lake() as lake:
        repository = lake.repository(target.repository)
        if graph and not app.as_json:
            _show_graph(app, repository, target, _GRAPH_LIMIT if limit is None else limit)
            return
        found = repository.ref(target.ref or repository.info().default_branch).log(
            limit=limit,
            first_parent=first_parent,
            since=since,
            until=until,
            author=author,
            paths=[target.path] if target.path and not target.path.endswith("/") else [],
            prefixes=[target.path] if target.path.endswith("/") else [],
        )
        with paged(app):
            if oneline or app.as_json or app.shows_html:
                output.rows(app, found, lambda commit: f"{paint(commit.short_id, 'yellow')}  {title(commit)}")
            else:
                for number, commit in enumerate(found):
                    sys.stdout.write(("\n" if number else "") + commit_text(commit) + "\n")


def _picture(repository: Repository, limit: int) -> str:
    return f"<div class='lakebed' style='overflow-x:auto'>{repository.graph(limit).svg}</div>"


def _show_graph(app: App, repository: Repository, target: Location, limit: int) -> None:
    if app.html is not None and not target.ref:
        app.html.append(_picture(repository, limit))
        return
    drawn = _graph(repository, target, limit)
    with paged(app):
        sys.stdout.writelines(f"{graph_line(line)}\n" for line in drawn.split("\n"))


def _graph(repository: Repository, target: Location, limit: int) -> str:
    if target.path:
        raise click.UsageError("--graph draws a whole history; leave the path out.")
    if not target.ref:
        return output_lines(repository.graph(limit))
    from lakebed._values import graph as drawing

    commits = repository.ref(target.ref).log(limit=limit)
    branches, tags = repository.branches(limit=drawing.MAX_HEADS), repository.tags(limit=drawing.MAX_HEADS)
    return output_lines(drawing.draw(commits, branches, tags, limit))


@click.command(cls=Verb)
@click.argument("target", type=REF, metavar="[REPO/REF]", required=False)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    default=1000,
    show_default=True,
    help="Show at most N paths.",
)
@pass_app
def show(app: App, target: Location | None, limit: int) -> None:
    """Show a commit and its changes, compared with its first parent.

    \b
    Example: lakebed show sales/main~1
    """
    target = REF.or_here(target)
    with app.lake() as lake:
        ref = lake.repository(target.repository).ref(target.ref)
        commit = ref.commit_info()
        statistics = lake.repository(target.repository).commit_statistics(commit.id)
        changes = []
        if commit.parents:
            at = lake.repository(target.repository).ref(commit.id)
            changes = at.changes_since(commit.parents[0], two_dot=True, limit=limit + 1).all()
    more = len(changes) > limit
    changes = changes[:limit]
    lines = chain([commit_text(commit), ""], map(change_line, changes), ["... and more"] if more else [])
    text = "\n".join([*lines, "", _numbers(statistics)])
    value = {
        "commit": output.record(commit),
        "statistics": output.record(statistics),
        "changes": list(map(output.record, changes)),
        "has_more": more,
    }
    if app.shows_html:
        _show_html(app, commit, changes, f"{_numbers(statistics)}{'; more paths follow' if more else ''}")
        return
    with paged(app):
        output.show(app, text.rstrip("\n"), value)


def _show_html(app: App, commit: Commit, changes: list[Change], numbers: str) -> None:
    from lakebed._render import html

    assert app.html is not None
    pairs = [("commit", commit.id), ("message", title(commit)), ("committer", commit.committer)]
    pairs += [("date", html.cell(commit.created)), ("changes", numbers)]
    table = html.rows("", changes, changes[0].COLUMNS, more=False) if changes else ""
    app.html.append(html.facts("", pairs, table))


def _numbers(found: CommitStatistics) -> str:
    counts = [f"{getattr(found, name):,} {name}" for name in ("added", "removed", "changed") if getattr(found, name)]
    if not counts:
        return "no changes"
    least = "" if found.complete else "at least "
    size = f"+{output.size_text(found.bytes_added)}, -{output.size_text(found.bytes_removed)}"
    return f"{least}{', '.join(counts)}; {size}"


def title(commit: Commit) -> str:
    """The first line of the message."""
    return output.shown(commit.message.split("\n", 1)[0])


def commit_text(commit: Commit) -> str:
    """A commit as several lines."""
    head = [
        ("commit", paint(commit.id, "yellow")),
        ("committer", output.shown(commit.committer)),
        ("date", output.when(commit.created)),
    ]
    if len(commit.parents) > 1:
        head.append(("merge of", " ".join(parent[:12] for parent in commit.parents)))
    body = "\n".join(f"    {output.shown(line)}".rstrip() for line in commit.message.splitlines())
    words = [f"    {output.shown(key)} = {output.shown(value)}" for key, value in sorted(commit.metadata.items())]
    return "\n".join([output.table(head), "", body, *(["", *words] if words else [])])


def output_lines(text: str) -> str:
    """Several lines, each fit for a terminal."""
    return "\n".join(map(output.shown, text.split("\n")))
