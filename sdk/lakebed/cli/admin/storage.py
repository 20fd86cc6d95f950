"""The content of a repository's store, and how other tools find it: ranges, lists for Hive, dumps of refs.

The verbs hang in `fs` and `repo`.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import IO, Any, Literal

import click

from lakebed import Commit, Location, RangeInfo, RefsDump
from lakebed.cli import output
from lakebed.cli.admin.tasks import begun
from lakebed.cli.app import App, Verb, metadata_option, pass_app
from lakebed.cli.targets import BRANCH, OBJECT, REF, REPOSITORY

_no_wait = click.option("--no-wait", is_flag=True, help="Start the task, print its id, and exit without waiting.")
_task = click.option("--task", metavar="ID", help="Wait for a task that was started with --no-wait.")


@click.command(cls=Verb)
@click.argument("target", type=REF, metavar="REPO/REF")
@pass_app
def ranges(app: App, target: Location) -> None:
    """List the Parquet files that contain the committed entries of a ref: ranges first, then patches.

    \b
    Example: lakebed fs ranges sales/main
    """
    with app.lake() as lake:
        output.rows(app, iter(lake.repository(target.repository).ref(target.ref).ranges()), _range_line)


def _range_line(row: RangeInfo) -> str:
    what = f"patch {row.level}" if row.level else "range"
    return f"{what:<8}  {row.count:>9}  {row.physical_address}"


@click.command(cls=Verb)
@click.argument("target", type=BRANCH, metavar="REPO/BRANCH")
@click.option("--location", default="", metavar="PATH", help="Only this folder and the folders below it.")
@pass_app
def symlinks(app: App, target: Location, location: str) -> None:
    """For each folder of a branch, write a file with the addresses of its objects, for Hive and similar engines.

    \b
    Example: lakebed fs symlinks sales/main --location orders/
    """
    with app.lake() as lake:
        root = lake.repository(target.repository).branch(target.ref).write_symlinks(location)
    output.say(app, f"The lists are below {output.shown(root)}.", {"location": root})


@click.command(cls=Verb)
@click.argument("target", type=OBJECT, metavar="REPO/BRANCH/PATH")
@metadata_option("object")
@pass_app
def describe(app: App, target: Location, metadata: dict[str, str]) -> None:
    """Replace the metadata of an object. Without --meta, remove it.

    \b
    Example: lakebed fs describe sales/main/orders.csv --meta owner=me
    """
    with app.lake() as lake:
        lake.repository(target.repository).branch(target.ref).replace_metadata(target.path, metadata)
    output.say(app, f"{target} has {len(metadata)} keys of metadata now.", {"path": target.path, "metadata": metadata})


@click.command(cls=Verb)
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@_no_wait
@_task
@pass_app
def dump(app: App, repository: Location, no_wait: bool, task: str | None) -> None:
    """Write all commits, branches and tags to the repository's bucket, for `repo restore`.

    \b
    Example: lakebed repo dump sales
    """
    with app.lake() as lake:
        there = lake.repository(repository.repository)
        started = there.dump_task(task) if task else there.start_dump()
        if no_wait:
            begun(app, started, "dump", f"lakebed repo dump {repository.repository} --task")
            return
        made = started.wait()
    text = output.table([("commits", made.commits), ("tags", made.tags), ("branches", made.branches)])
    output.show(app, text, output.record(made))


@click.command(cls=Verb)
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.option("--commits", metavar="ID", help="The commits ID that `repo dump` printed.")
@click.option("--tags", metavar="ID", help="The tags ID that `repo dump` printed.")
@click.option("--branches", metavar="ID", help="The branches ID that `repo dump` printed.")
@_no_wait
@_task
@pass_app
def restore(
    app: App,
    repository: Location,
    commits: str | None,
    tags: str | None,
    branches: str | None,
    no_wait: bool,
    task: str | None,
) -> None:
    """Read a dump into a bare repository over a copy of the bucket.

    `repo create --bare --allow-non-empty` creates such a repository over the copy.

    \b
    Example: lakebed repo restore sales-copy --commits 1f… --tags 9c… --branches 7a…
    """
    given = [text for text in (commits, tags, branches) if text]
    if len(given) != (0 if task else 3):
        raise click.UsageError("Pass --commits, --tags and --branches, or only --task.")
    with app.lake() as lake:
        there = lake.repository(repository.repository)
        started = there.restore_task(task) if task else there.start_restore(RefsDump(*given))
        if no_wait:
            begun(app, started, "restore", f"lakebed repo restore {repository.repository} --task")
            return
        started.wait()
    output.say(app, f"Commits, branches and tags of {repository.repository} are restored.", {"restored": True})


@click.command("metadata-file", cls=Verb)
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.argument("kind", type=click.Choice(["range", "meta_range"]))
@click.argument("found_id", metavar="ID")
@click.option(
    "-o",
    "--output",
    "target",
    type=click.File("wb", lazy=True),
    help="Write the Parquet file to this path; - is standard output.",
)
@pass_app
def metadata_file(
    app: App, repository: Location, kind: Literal["range", "meta_range"], found_id: str, target: IO[bytes] | None
) -> None:
    """Print the address of a range or metarange file (Parquet), or download it.

    `fs ranges` prints the ids of ranges, `show --json` the ids of metaranges.

    \b
    Example: lakebed repo metadata-file sales range 3e… -o range.parquet
    """
    with app.lake() as lake:
        handle = lake.repository(repository.repository)
        if target is not None:
            target.write(handle.metadata_file(kind, found_id))
            return
        place = handle.metadata_place(kind, found_id)
    output.show(app, place, {"location": place})


@click.command("add-commit", cls=Verb)
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.argument("file", type=click.File("rb"), metavar="FILE")
@pass_app
def add_commit(app: App, repository: Location, file: IO[bytes]) -> None:
    """Store a commit exactly as `lakebed show --json` printed it. FILE - is standard input. No branch moves.

    \b
    Example: lakebed show sales/main --json | lakebed repo add-commit sales-copy -
    """
    commit = _commit_of(file.read())
    with app.lake() as lake:
        lake.repository(repository.repository).add_commit(commit)
    output.say(app, f"Commit {commit.short_id} is stored.", {"commit_id": commit.id})


def _commit_of(text: bytes) -> Commit:
    try:
        row: dict[str, Any] = json.loads(text)
        return Commit(**{**row, "parents": tuple(row["parents"]), "created": datetime.fromisoformat(row["created"])})
    except (ValueError, TypeError, KeyError) as error:
        raise click.UsageError(f"FILE is not what `lakebed show --json` prints: {error}") from None


@click.command(cls=Verb)
@click.argument("target", type=OBJECT, metavar="REPO/BRANCH/PATH")
@click.option("--sign", is_flag=True, help="Print a presigned URL for a plain PUT.")
@pass_app
def address(app: App, target: Location, sign: bool) -> None:
    """Print an address to which another tool can write the content of an object. `fs link` then adds the object.

    \b
    Example: lakebed fs address sales/main/orders.csv --sign
    """
    with app.lake() as lake:
        given = lake.repository(target.repository).branch(target.ref).staged_address(target.path, sign)
    value = {"path": given.path, "physical_address": given.physical_address}
    if given.expires is not None:
        value |= {"url": given.url, "expires": output.when(given.expires)}
    output.show(app, "\n".join(filter(None, (given.physical_address, given.url))), value)


@click.command(cls=Verb)
@click.argument("target", type=OBJECT, metavar="REPO/BRANCH/PATH")
@click.argument("physical_address", metavar="ADDRESS")
@click.option("--checksum", required=True, metavar="MD5", help="MD5 of the content, or the store's ETag.")
@click.option("--size", required=True, type=click.IntRange(min=0), metavar="BYTES", help="Size of the content.")
@click.option("--content-type", default="", metavar="TYPE", help="Content type [application/octet-stream].")
@metadata_option("object")
@pass_app
def link(
    app: App,
    target: Location,
    physical_address: str,
    checksum: str,
    size: int,
    content_type: str,
    metadata: dict[str, str],
) -> None:
    """Add an object that is already in a store, without a copy. `lakebed ingest` does this for folders.

    \b
    Example: lakebed fs link sales/main/a.csv s3://bucket/a.csv --checksum 9a… --size 120
    """
    with app.lake() as lake:
        branch = lake.repository(target.repository).branch(target.ref)
        info = branch.link(
            target.path, physical_address, checksum=checksum, size=size, content_type=content_type, metadata=metadata
        )
    output.say(app, f"{target} shows {output.shown(info.physical_address)}.", output.record(info))
