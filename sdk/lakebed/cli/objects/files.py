"""`lakebed fs`: objects, looked at and removed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from lakebed import CommonPrefix, Location, ObjectInfo, ObjectNotFoundError, ObjectWriter
from lakebed.cli import output
from lakebed.cli.app import App, LazyNoun, Verb, confirm, pass_app, yes_option
from lakebed.cli.targets import BRANCH_OR_OBJECT, FOLDER, OBJECT
from lakebed.cli.terminal import paged

if TYPE_CHECKING:
    from lakebed import Lake

_DELETED_AT_ONCE = 1000

fs = LazyNoun(
    "fs",
    help="List, read, upload, publish, download and remove objects.",
    homes={
        "ls": "objects.files",
        "find": "objects.files",
        "cat": "objects.files",
        "head": "objects.table_rows",
        "stat": "objects.files",
        "rm": "objects.files",
        "cp": "objects.files",
        "upload": "objects.fs_transfers",
        "publish": "objects.publish",
        "download": "objects.fs_transfers",
        "describe": "admin.storage",
        "ranges": "admin.storage",
        "symlinks": "admin.storage",
        "address": "admin.storage",
        "link": "admin.storage",
    },
)


@click.command(cls=Verb)
@click.argument("target", type=FOLDER, metavar="REPO/REF[/PATH]")
@click.option("-r", "--recursive", is_flag=True, help="List everything below, not only this folder.")
@click.option("--writers", is_flag=True, help="Show the commit that wrote each file. Lists everything below.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def ls(app: App, target: Location, recursive: bool, writers: bool, limit: int | None) -> None:
    """List objects and folders, in the order of their paths.

    \b
    Example:
      lakebed fs ls sales/main/orders/
      lakebed fs ls sales/main/orders/ --writers
    """
    with app.lake() as lake:
        if writers:
            ref = lake.repository(target.repository).ref(target.ref)
            if not output.rows(app, ref.writers(target.path, limit=limit), writer_line) and target.path:
                raise nothing_at(target)
            return
        found = _found(lake, target, recursive)
        if not output.rows(app, islice(found, limit), _line) and target.path and limit != 0:
            raise nothing_at(target)


def _found(lake: Lake, target: Location, recursive: bool) -> Iterator[ObjectInfo | CommonPrefix]:
    """The object at the path, if it names one, then what is under it as a folder."""
    ref = lake.repository(target.repository).ref(target.ref)
    folder = target.path
    if folder and not folder.endswith("/"):
        try:
            yield ref.stat(folder)
        except ObjectNotFoundError:
            pass
        folder += "/"
    yield from ref.list(folder, "" if recursive else "/")


def nothing_at(target: Location) -> ObjectNotFoundError:
    """The error for a place without objects."""
    return ObjectNotFoundError(
        f"there is nothing at {target}", repository=target.repository, ref=target.ref, path=target.path
    )


def _line(row: ObjectInfo | CommonPrefix) -> str:
    if isinstance(row, CommonPrefix):
        return f"{'-':>10}  {'-':<23}  {output.shown(row.path)}"
    return f"{output.size_text(row.size):>10}  {output.when(row.mtime)}  {output.shown(row.path)}"


def writer_line(row: ObjectWriter) -> str:
    """A file with the commit that wrote it."""
    if row.commit is None:
        return f"{'not committed' if row.uncommitted else '?':<16}  {'-':<23}  {output.shown(row.path)}"
    who = f"{row.commit.id[:16]}  {output.when(row.commit.created)}  {output.shown(row.commit.committer)}"
    return f"{who}  {output.shown(row.path)}"


@click.command(cls=Verb)
@click.argument("target", type=FOLDER, metavar="REPO/REF[/PREFIX]")
@click.argument("text")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def find(app: App, target: Location, text: str, limit: int | None) -> None:
    """List the objects whose path contains TEXT after PREFIX. Ignores case.

    \b
    Example: lakebed fs find sales/main/orders/ 2026-11
    """
    with app.lake() as lake:
        found = lake.repository(target.repository).ref(target.ref).find(text, target.path, limit=limit)
        output.rows(app, found, _line)


@click.command(cls=Verb)
@click.argument("target", type=OBJECT, metavar="REPO/REF/PATH")
@click.option("--start", type=click.IntRange(min=0), default=0, metavar="BYTE", help="Start at this byte.")
@click.option("--length", type=click.IntRange(min=0), metavar="BYTES", help="Print at most N bytes.")
@pass_app
def cat(app: App, target: Location, start: int, length: int | None) -> None:
    """Write the content of an object to standard output.

    \b
    Example: lakebed fs cat sales/main~1/orders.csv | head
    """
    with app.lake() as lake:
        for chunk in lake.repository(target.repository).ref(target.ref).chunks(target.path, start, length):
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()


@click.command(cls=Verb)
@click.argument("target", type=OBJECT, metavar="REPO/REF/PATH")
@click.option("--storage", is_flag=True, help="Also show the storage class, which the server reads from the store.")
@pass_app
def stat(app: App, target: Location, storage: bool) -> None:
    """Show an object: size, checksum, time, type, metadata and address.

    \b
    Example: lakebed fs stat sales/main/orders.csv
    """
    with app.lake() as lake:
        ref = lake.repository(target.repository).ref(target.ref)
        info = ref.stat(target.path)
        kept = {"storage_class": ref.storage_class(target.path)} if storage else {}
    text = output.table(
        [
            ("path", output.shown(info.path)),
            ("size", f"{info.size} bytes"),
            ("checksum", info.checksum),
            ("modified", output.when(info.mtime)),
            ("content type", output.shown(info.content_type)),
            ("address", output.shown(info.physical_address)),
            *(("storage class", text or "none") for text in kept.values()),
            *((f"metadata {output.shown(key)}", output.shown(text)) for key, text in sorted(info.metadata.items())),
        ]
    )
    output.show(app, text, {**output.record(info), **kept})


@click.command(cls=Verb)
@click.argument("source", type=OBJECT, metavar="REPO/REF/PATH")
@click.argument("target", type=OBJECT, metavar="REPO/BRANCH/PATH")
@pass_app
def cp(app: App, source: Location, target: Location) -> None:
    """Copy an object inside a repository. Both paths share the data.

    \b
    Example: lakebed fs cp sales/v1/orders.csv sales/main/old/orders.csv
    """
    if source.repository != target.repository:
        raise click.UsageError(f"{source} and {target} are in two repositories: download it, and upload it there.")
    with app.lake() as lake:
        branch = lake.repository(target.repository).branch(target.ref)
        info = branch.copy(source.path, target.path, source.ref)
    output.say(app, f"Copied {source} to {target}.", output.record(info))


@click.command(cls=Verb)
@click.argument("target", type=BRANCH_OR_OBJECT, metavar="REPO/BRANCH/PATH")
@click.option("-r", "--recursive", is_flag=True, help="Also remove everything below the path as a folder.")
@click.option("-f", "--force", is_flag=True, help="Succeed if nothing exists at the path.")
@yes_option
@pass_app
def rm(app: App, target: Location, recursive: bool, force: bool, yes: bool) -> None:
    """Remove an object, or with -r a folder. The removal is uncommitted: `lakebed branch reset` undoes it.

    \b
    Example: lakebed fs rm -r sales/dev/orders/2019/
    """
    if not target.path and not recursive:
        raise click.UsageError(f"{target} names no object; add a path, or -r to remove everything on the branch.")
    if not target.path:
        confirm(f"Remove every object from {target}?", yes=yes)
    with app.lake() as lake:
        branch = lake.repository(target.repository).branch(target.ref)
        removed = 0
        if recursive:
            found = (row.path for row in _found(lake, target, recursive=True))
            while group := list(islice(found, _DELETED_AT_ONCE)):
                removed += branch.delete_many(group)
        elif branch.exists(target.path):
            branch.delete(target.path)
            removed = 1
    if not removed and not force and target.path:
        raise nothing_at(target)
    output.say(app, f"Removed {output.count_text(removed, 'object')} from {target.ref}.", {"removed": removed})


@click.command(cls=Verb)
@click.argument("target", type=FOLDER, metavar="[REPO/REF[/PATH]]", required=False)
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def blame(app: App, target: Location | None, limit: int | None) -> None:
    """Show who wrote each file: the commit, time and user of its current content.

    PATH is a file, a folder, or the beginning of paths. `lakebed log REPO/REF/PATH` lists all commits of a path.

    \b
    Example: lakebed blame sales/main/orders/
    """
    target = FOLDER.or_here(target, whole=False)
    with app.lake() as lake:
        ref = lake.repository(target.repository).ref(target.ref)
        found = ref.writers(target.path, limit=limit)
        with paged(app):
            if app.shows_html:
                count = output.rows(app, map(_Blamed, found), lambda _: "")
            else:
                count = output.rows(app, found, writer_line, _blame_record)
        if not count and target.path:
            raise nothing_at(target)


class _Blamed:
    """A file and its commit, as a notebook shows them."""

    COLUMNS = (
        ("path", "string"),
        ("commit_id", "string"),
        ("committer", "string"),
        ("created", "time"),
        ("message", "string"),
    )

    def __init__(self, row: ObjectWriter) -> None:
        self.path = row.path
        self.commit_id = row.commit.id if row.commit else "not committed" if row.uncommitted else "?"
        self.committer = row.commit.committer if row.commit else ""
        self.created = row.commit.created if row.commit else None
        self.message = row.commit.message if row.commit else ""


def _blame_record(row: Any) -> dict[str, Any]:
    commit = None if row.commit is None else output.record(row.commit)
    return {**output.record(row), "commit": commit}
