"""`lakebed migrate`: the history of another tool becomes commits, branches and tags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli import output
from lakebed.cli.app import App, Noun, pass_app
from lakebed.cli.targets import REPOSITORY

if TYPE_CHECKING:
    from lakebed import Location
    from lakebed._migrate.values import Report


@click.group(cls=Noun)
def migrate() -> None:
    """Migrate commits, branches, tags and data from another tool."""


def _shared(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "-j",
            "--jobs",
            type=click.IntRange(1, 64),
            metavar="N",
            default=8,
            show_default=True,
            help="Number of parallel transfers.",
        ),
        click.option(
            "--skip-missing", is_flag=True, help="Skip objects that the source no longer has, and report them."
        ),
        click.option(
            "--namespace", default="", metavar="URI", help="Storage namespace of REPO, if REPO does not exist yet."
        ),
    ):
        command = option(command)
    return command


@migrate.command()
@click.argument("source", metavar="SOURCE_REPO")
@click.argument("target", type=REPOSITORY, metavar="REPO")
@click.option(
    "--from",
    "source_url",
    required=True,
    envvar="LAKECTL_SERVER_ENDPOINT_URL",
    metavar="URL",
    help="Address of the source [$LAKECTL_SERVER_ENDPOINT_URL].",
)
@click.option(
    "--from-access-key-id",
    "source_id",
    required=True,
    envvar="LAKECTL_CREDENTIALS_ACCESS_KEY_ID",
    metavar="ID",
    help="Access key of the source [$LAKECTL_CREDENTIALS_ACCESS_KEY_ID].",
)
@click.option(
    "--from-secret-access-key",
    "source_secret",
    required=True,
    envvar="LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY",
    metavar="SECRET",
    help="Its secret [$LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY]; other users of the machine can read command lines.",
)
@click.option("--uncommitted", is_flag=True, help="Also migrate uncommitted changes; they stay uncommitted.")
@click.option("--actions", is_flag=True, help="Also migrate action files. Their hooks run for each migrated commit.")
@_shared
@pass_app
def lakefs(
    app: App,
    source: str,
    target: Location,
    source_url: str,
    source_id: str,
    source_secret: str,
    namespace: str,
    uncommitted: bool,
    actions: bool,
    skip_missing: bool,
    jobs: int,
) -> None:
    """Migrate a repository from a running lakeFS server, or from any server with this API.

    Branches, tags and commits keep their names, committers, dates, messages, metadata and parents. Ids of commits
    change; the metadata key lakefs.commit has the old id. Run the same command
    again to continue after an interruption, or later to migrate what is new in the source.

    \b
    Example: lakebed migrate lakefs sales sales --from https://lakefs.example.com --namespace s3://lake/sales
    """
    from lakebed._bulk.progress_bar import Meter
    from lakebed._migrate.lakefs import Options, migrate
    from lakebed._migrate.lakefs_api import LakefsRepository
    from lakebed._settings import config

    there = config.resolve(source_url, source_id, source_secret, timeout=app.timeout, retries=app.retries)
    options = Options(namespace, uncommitted, actions, skip_missing, jobs)
    with (
        app.lake() as lake,
        LakefsRepository(there, source) as repository,
        Meter("migrating", enabled=app.shows_progress) as meter,
    ):
        report = migrate(repository, lake, target.repository, options, meter.moved)
    _say(app, target.repository, report)


@migrate.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="DIR")
@click.argument("target", type=REPOSITORY, metavar="REPO")
@click.option("--remote", default="", metavar="NAME", help="Remote of DVC to read from [the default remote].")
@_shared
@pass_app
def dvc(app: App, source: Path, target: Location, remote: str, namespace: str, skip_missing: bool, jobs: int) -> None:
    """Migrate the tracked files of a DVC repository, with the history of Git.

    Each Git commit that changes a tracked file or directory becomes a commit with its author, date and message; local
    branches and tags become branches and tags. Content comes from the cache of DVC, or else from its remote. The
    metadata key git.commit has the id of the Git commit. Run the same command again to
    continue after an interruption, or later to migrate what is new.

    \b
    Example: lakebed migrate dvc ./project images --namespace local://images
    """
    from lakebed._bulk.progress_bar import Meter
    from lakebed._migrate.dvc import Options, migrate

    options = Options(namespace, remote, skip_missing, jobs)
    with app.lake() as lake, Meter("migrating", enabled=app.shows_progress) as meter:
        report = migrate(source, lake, target.repository, options, meter.moved)
    _say(app, target.repository, report)


def _say(app: App, name: str, report: Report) -> None:
    if app.as_json:
        output.show(app, "", report.record())
        return
    known = f", {report.commits_before:,} before" if report.commits_before else ""
    read_twice = f", {report.read_twice:,} of them compared by a second read" if report.read_twice else ""
    rows = [
        ("repository", name),
        ("commits", f"{report.commits:,} migrated{known}"),
        ("branches", ", ".join(report.branches)),
        ("tags", ", ".join(report.tags)),
        ("objects", f"{report.objects:,} read and checked, {output.size_text(report.bytes)}{read_twice}"),
        (
            "shared",
            f"{output.count_text(report.shared, 'object')} with content migrated before" if report.shared else "",
        ),
    ]
    output.show(app, output.table([(key, output.shown(text)) for key, text in rows]), None)
    for old, new in report.renamed.items():
        output.note(app, output.shown(f"{old} is migrated as {new}"))
    if report.left_out:
        output.note(app, f"{output.count_text(len(report.left_out), 'thing')} skipped:")
    for one in report.left_out:
        output.note(app, output.shown(f"  {one.kind} {one.name}: {one.why}"))
