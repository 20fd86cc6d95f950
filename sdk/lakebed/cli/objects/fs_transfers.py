"""`lakebed fs upload` and `lakebed fs download`: one file or whole directories."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from mimetypes import MimeTypes
from pathlib import Path

import click

from lakebed import Location, ObjectInfo, ObjectNotFoundError, PartialFailureError
from lakebed._bulk.local_tree import inside
from lakebed._bulk.progress_bar import Meter
from lakebed.cli import output
from lakebed.cli.app import App, Verb, metadata_option, pass_app
from lakebed.cli.exits import explain
from lakebed.cli.objects.standard_input import standard_input
from lakebed.cli.targets import BRANCH_OR_OBJECT, FOLDER, check_source

_jobs = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="N",
    default=8,
    show_default=True,
    help="Number of parallel transfers (with -r).",
)


@click.command(cls=Verb)
@click.argument("source", metavar="FILE")
@click.argument("target", type=BRANCH_OR_OBJECT, metavar="REPO/BRANCH[/PATH]")
@click.option("-r", "--recursive", is_flag=True, help="FILE is a directory: upload what is in it.")
@click.option("--if-absent", is_flag=True, help="Never replace an object.")
@click.option("--content-type", metavar="TYPE", help="Content type of the objects [from each file extension].")
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
    from lakebed._sync.bulk import upload as bulk_upload

    with app.lake() as lake, Meter("uploading", enabled=app.shows_progress) as meter:
        branch = lake.repository(target.repository).branch(target.ref)
        put = partial(branch.put, metadata=metadata, if_absent=if_absent, progress=meter.moved)
        if source == "-":
            _upload_standard_input(app, put, target, content_type, meter)
            return
        local = Path(source)
        check_source(local, recursive=recursive)
        if not recursive:
            _upload_file(app, put, local, target, content_type, meter)
            return
        outcomes = _Outcomes(app)
        with outcomes.complete():
            bulk_upload.stage_tree(
                branch,
                local,
                target.path,
                content_type=content_type or content_type_of,
                metadata=metadata,
                if_absent=if_absent,
                progress=meter.follow,
                jobs=jobs,
                finished=outcomes.add,
            )
    outcomes.say("Uploaded", source)


def _upload_standard_input(
    app: App, put: Callable[..., ObjectInfo], target: Location, content_type: str | None, meter: Meter
) -> None:
    if not target.path or target.path.endswith("/"):
        raise click.UsageError("Standard input has no name: write the whole PATH.")
    meter.expect(0)
    with standard_input() as data:
        info = put(target.path, data, content_type=content_type or content_type_of(target.path))
    _done(app, "Uploaded", info, target)


def _upload_file(
    app: App, put: Callable[..., ObjectInfo], local: Path, target: Location, content_type: str | None, meter: Meter
) -> None:
    path = target.path if target.path and not target.path.endswith("/") else target.path + local.name
    meter.expect(local.stat().st_size)
    meter.no_more()
    _done(app, "Uploaded", put(path, local, content_type=content_type or content_type_of(path)), target)


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
    from lakebed._sync.bulk import download as bulk_download

    local = Path(target)
    with app.lake() as lake, Meter("downloading", enabled=app.shows_progress) as meter:
        ref = lake.repository(source.repository).ref(source.ref)
        if not recursive:
            if not source.path:
                raise click.UsageError(f"{source} names no object; add a path, or -r for everything.")
            if local.is_dir() or target.endswith(("/", os.sep)):
                local = inside(local, source.path.rsplit("/", 1)[-1])
            info = ref.stat(source.path)
            meter.expect(info.size)
            meter.no_more()
            local.parent.mkdir(parents=True, exist_ok=True)
            ref.download(source.path, local, progress=meter.moved)
            _done(app, f"Downloaded {output.shown(str(local))} from", info, source)
            return
        outcomes = _Outcomes(app)
        with outcomes.complete():
            bulk_download.fetch_items(ref, source.path, local, progress=meter.follow, jobs=jobs, finished=outcomes.add)
    outcomes.say("Downloaded", str(source))


def content_type_of(path: str) -> str | None:
    """The content type that the ending of a name means, the same on every machine. None: the server's default."""
    ending = path.rpartition("/")[2].rpartition(".")[2].lower()
    if ending in _TYPES:
        return _TYPES[ending]
    return _KNOWN.guess_type(path.rpartition("/")[2])[0]


_KNOWN = MimeTypes(filenames=())
"""Python's own table; that of the machine would give other types elsewhere."""

_TYPES = {
    "arrow": "application/vnd.apache.arrow.file",
    "avro": "application/avro",
    "feather": "application/vnd.apache.arrow.file",
    "jsonl": "application/x-ndjson",
    "md": "text/markdown",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "yaml": "application/yaml",
    "yml": "application/yaml",
}


def _done(app: App, verb: str, info: ObjectInfo, place: Location) -> None:
    where = replace(place, path=info.path)
    output.say(app, f"{verb} {output.shown(str(where))} ({output.size_text(info.size)})", output.record(info))


class _Outcomes:
    """Shows what becomes of each of many files. A file that fails is reported, and the others go on."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._rows = output.Rows(app, str)
        self._codes: list[int] = []
        self._count = self._bytes = 0

    def add(self, path: str, outcome: ObjectInfo | Exception) -> None:
        """One file is done, or has failed. Called from any thread."""
        with self._lock:
            if isinstance(outcome, Exception):
                self._codes.append(explain(outcome).code)
                sys.stderr.write(f"lakebed: {output.shown(path)}: {output.shown(explain(outcome).message)}\n")
                return
            self._count += 1
            self._bytes += outcome.size
            if self._app.as_json:
                self._rows.add(outcome)

    @contextmanager
    def complete(self) -> Iterator[None]:
        """End the list. That some files have failed is reported by `say`."""
        with suppress(PartialFailureError):
            yield
        if self._app.as_json:
            self._rows.end()

    def say(self, verb: str, where: str) -> None:
        """The last line. Raises Exit when files have failed, ObjectNotFoundError when there were none."""
        if self._codes:
            failed = len(self._codes)
            sys.stderr.write(f"lakebed: {failed} failed, {self._count} done; run the same command again to retry.\n")
            raise click.exceptions.Exit(self._codes[0] if len(set(self._codes)) == 1 else 1)
        if not self._count:
            raise ObjectNotFoundError(f"there is nothing to move: {where} holds no files")
        if not self._app.as_json:
            moved = f"{output.count_text(self._count, 'object')}, {output.size_text(self._bytes)}"
            output.say(self._app, f"{verb} {moved}: {output.shown(where)}", {})
