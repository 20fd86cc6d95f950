"""`lakebed fs upload` and `lakebed fs download`: one file or whole directories."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakebed import (
    CorruptTransferError,
    LakebedError,
    Location,
    ObjectExistsError,
    ObjectInfo,
    ObjectNotFoundError,
)
from lakebed._process.disk_full import is_full
from lakebed.cli import output
from lakebed.cli.app import App, Verb, metadata_option, pass_app
from lakebed.cli.exits import explain
from lakebed.cli.objects import local_paths
from lakebed.cli.objects.local_paths import Item
from lakebed.cli.objects.transfer_pool import Pool
from lakebed.cli.progress import Meter
from lakebed.cli.targets import BRANCH_OR_OBJECT, FOLDER

if TYPE_CHECKING:
    from lakebed import Ref

_jobs = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 64),
    default=8,
    show_default=True,
    help="Transfers at the same time (with -r).",
)


@click.command(cls=Verb)
@click.argument("source", metavar="FILE")
@click.argument("target", type=BRANCH_OR_OBJECT, metavar="REPO/BRANCH[/PATH]")
@click.option("-r", "--recursive", is_flag=True, help="FILE is a directory: upload what is in it.")
@click.option("--if-absent", is_flag=True, help="Never replace an object.")
@click.option("--content-type", metavar="TYPE", help="Content type of the objects [application/octet-stream].")
@metadata_option("objects")
@_jobs
@pass_app
def upload(
    app: App,
    source: str,
    target: Location,
    recursive: bool,
    if_absent: bool,
    content_type: str | None,
    metadata: dict[str, str],
    jobs: int,
) -> None:
    """Upload a file, a directory (-r) or standard input (-). It is uncommitted until you commit.

    A PATH that ends in `/` is a folder: the file keeps its name in it.

    \b
    Example: lakebed fs upload orders.csv sales/main/raw/
             lakebed fs upload -r ./2026 sales/main/orders/2026
    """
    with app.lake() as lake, Meter("uploading", enabled=app.shows_progress) as meter:
        branch = lake.repository(target.repository).branch(target.ref)
        put = partial(branch.put, metadata=metadata, content_type=content_type, if_absent=if_absent)
        if source == "-":
            if not target.path or target.path.endswith("/"):
                raise click.UsageError("Standard input has no name: write the whole PATH.")
            meter.expect(0)
            _done(app, "Uploaded", put(target.path, sys.stdin.buffer, progress=meter.moved), target)
            return
        local = Path(source)
        local_paths.check_source(local, recursive=recursive)
        if not recursive:
            path = target.path if target.path and not target.path.endswith("/") else target.path + local.name
            meter.expect(local.stat().st_size)
            meter.no_more()
            _done(app, "Uploaded", put(path, local, progress=meter.moved), target)
            return

        def send(item: Item, moved: Callable[[int], None]) -> ObjectInfo:
            return put(item.path, item.local, progress=moved)

        _many(app, "Uploaded", local_paths.walk(local, target.path), send, meter, jobs, source)


@click.command(cls=Verb)
@click.argument("source", type=FOLDER, metavar="REPO/REF/PATH")
@click.argument("target", metavar="[FILE]", default=".")
@click.option("-r", "--recursive", is_flag=True, help="Download everything below PATH as a folder.")
@_jobs
@pass_app
def download(app: App, source: Location, target: str, recursive: bool, jobs: int) -> None:
    """Download an object, or with -r a folder. A file appears only when it is complete.

    \b
    Example: lakebed fs download sales/main~1/orders.csv old.csv
             lakebed fs download -r sales/v1/orders/ ./orders
    """
    local = Path(target)
    with app.lake() as lake, Meter("downloading", enabled=app.shows_progress) as meter:
        ref = lake.repository(source.repository).ref(source.ref)
        if not recursive:
            if not source.path:
                raise click.UsageError(f"{source} names no object; add a path, or -r for everything.")
            if local.is_dir() or target.endswith(("/", os.sep)):
                local = local_paths.inside(local, source.path.rsplit("/", 1)[-1])
            info = ref.stat(source.path)
            meter.expect(info.size)
            meter.no_more()
            _fetch(ref, Item(source.path, local, info.size), meter.moved)
            _done(app, f"Downloaded {output.shown(str(local))} from", info, source)
            return
        items = (
            Item(row.path, local, row.size, name=row.path.removeprefix(_folder(source.path)) or "/")
            for row in ref.list(_folder(source.path))
            if isinstance(row, ObjectInfo)
        )
        _many(app, "Downloaded", items, partial(_fetch, ref), meter, jobs, str(source))


def _folder(path: str) -> str:
    return path if not path or path.endswith("/") else path + "/"


def _fetch(ref: Ref, item: Item, moved: Callable[[int], None]) -> ObjectInfo:
    local = item.place()
    local.parent.mkdir(parents=True, exist_ok=True)
    return ref.download(item.path, local, progress=moved)


def _done(app: App, verb: str, info: ObjectInfo, place: Location) -> None:
    where = replace(place, path=info.path)
    output.say(app, f"{verb} {output.shown(str(where))} ({output.size_text(info.size)})", output.record(info))


def _many(
    app: App,
    verb: str,
    items: Iterable[Item],
    move: Callable[[Item, Callable[[int], None]], ObjectInfo],
    meter: Meter,
    jobs: int,
    where: str,
) -> None:
    """Move all items. Reports a failed item and continues, unless all would fail in the same way."""

    failures: list[Exception] = []

    def move_one(item: Item) -> ObjectInfo:
        def moved(size: int) -> None:
            pool.check()
            meter.moved(size)

        return move(item, moved)

    def results() -> Iterator[ObjectInfo]:
        for item, result in pool.run(_announced(items, meter)):
            if isinstance(result, Exception):
                if not _is_of_one_file(result):
                    raise result
                failures.append(result)
                sys.stderr.write(f"lakebed: {output.shown(item.path)}: {output.shown(explain(result).message)}\n")
            else:
                meter.finished()
                yield result

    with Pool(move_one, jobs) as pool:
        count = output.rows(app, results(), str) if app.as_json else sum(1 for _ in results())
    if failures:
        codes = {explain(error).code for error in failures}
        sys.stderr.write(f"lakebed: {len(failures)} failed, {count} done; run the same command again to retry.\n")
        raise click.exceptions.Exit(codes.pop() if len(codes) == 1 else 1)
    if not count:
        raise ObjectNotFoundError(f"there is nothing to move: {where} holds no files")
    if not app.as_json:
        size = output.size_text(meter.bytes)
        output.say(app, f"{verb} {output.count_text(count, 'object')}, {size}: {output.shown(where)}", {})


def _announced(items: Iterable[Item], meter: Meter) -> Iterator[Item]:
    for item in items:
        meter.expect(item.size)
        yield item
    meter.no_more()


def _is_of_one_file(error: Exception) -> bool:
    if isinstance(error, LakebedError):
        return isinstance(error, ObjectExistsError | CorruptTransferError | FileNotFoundError | ValueError)
    if not isinstance(error, OSError) or error.errno == errno.EMFILE:
        return False
    return error.errno == errno.EFBIG or not is_full(error)  # EFBIG: smaller ones may pass
