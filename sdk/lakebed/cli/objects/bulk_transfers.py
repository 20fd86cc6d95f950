"""`lakebed upload` and `lakebed download`: whole trees, in one commit, resumable.

`lakebed fs upload` writes to a branch and leaves it uncommitted; here everything goes through a workspace.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakebed import LakebedError, Location, NothingToCommitError, ObjectNotFoundError, ServerError
from lakebed._bulk.batches import Item, of_tree
from lakebed._bulk.hash_cache import Memory, journal_for
from lakebed._bulk.local_tree import folder, inside, walk
from lakebed._bulk.progress_bar import Meter
from lakebed.cli import output
from lakebed.cli.app import App, Verb, metadata_option, pass_app
from lakebed.cli.targets import BRANCH_OR_OBJECT, FOLDER, check_source
from lakebed.cli.workspaces.workspace import policy_option, say_commit, whole
from lakebed.model import TransferResult

if TYPE_CHECKING:
    from lakebed import Ref, Repository, Workspace

_jobs = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="N",
    default=8,
    show_default=True,
    help="Number of parallel transfers.",
)


@click.command(cls=Verb)
@click.argument("source", metavar="DIR|FILE")
@click.argument("target", type=BRANCH_OR_OBJECT, metavar="REPO/BRANCH[/PATH]")
@click.option("-m", "--message", default="", help="Message of the commit; required unless --no-commit.")
@click.option("--no-commit", is_flag=True, help="Leave the workspace open.")
@click.option("--mirror", is_flag=True, help="Delete objects below PATH that DIR does not have.")
@metadata_option("commit")
@policy_option
@click.option(
    "--data-path",
    type=click.Choice(["direct", "presigned", "proxied"]),
    help="How the bytes reach the store [the fastest that works].",
)
@_jobs
@pass_app
def upload(
    app: App,
    source: str,
    target: Location,
    message: str,
    no_commit: bool,
    mirror: bool,
    metadata: dict[str, str],
    on_conflict: Any,
    data_path: Any,
    jobs: int,
) -> None:
    """Upload a directory or a file as one commit.

    The upload goes through a workspace. BRANCH can be the name of a workspace, BRANCH+ID.
    The files in DIR get their paths below PATH. After an interruption, the same command resumes where it stopped.
    With the name of a workspace it only uploads; `lakebed workspace commit` commits.

    \b
    Example: lakebed upload ./2026 sales/main/orders/2026 -m "orders of 2026"
    """
    from lakebed._sync.bulk import upload as bulk_upload

    named = "+" in target.ref
    _check_upload(named, message, no_commit, mirror, target)
    local = Path(source)
    check_source(local, recursive=local.is_dir())
    with app.lake() as lake, Meter("uploading", enabled=app.shows_progress) as meter:
        repository = lake.repository(target.repository)
        key = ("command", lake.settings.endpoint, target.repository, target.ref, target.path, data_path or "")
        with journal_for(key, local) as memory:
            handle = _workspace(repository, target, memory, message, on_conflict, data_path)
            items = _items(local, target.path)
            with _resumable(app, whole(target, handle.id)):
                done = bulk_upload.put_items(handle, items, memory=memory, progress=meter.follow, jobs=jobs)
            if not done.files:
                handle.drop() if not named else None
                memory.destroy()
                raise ObjectNotFoundError(f"there is nothing to upload: {source} holds no files")
            if named or no_commit:
                memory.destroy()
                _say_uploaded(app, done, whole(target, handle.id))
                return
            with _advice(app, handle, memory, target):
                replaced = [folder(target.path)] if mirror else []
                made = handle.commit(message, metadata=metadata, on_conflict=on_conflict, replace_prefix=replaced)
            memory.destroy()
    output.note(app, _counted(done))
    say_commit(app, target.ref, made, transfer=asdict(done))


def _check_upload(named: bool, message: str, no_commit: bool, mirror: bool, target: Location) -> None:
    if named and (message or mirror):
        raise click.UsageError(
            f"{target.ref} is a workspace: this command only uploads to it. `lakebed workspace commit` commits it."
        )
    if not named and not message and not no_commit:
        raise click.UsageError("Pass a message with -m, or --no-commit to leave the workspace open.")
    if mirror and (no_commit or not target.path):
        raise click.UsageError("--mirror needs a PATH, and a commit.")


def _items(local: Path, path: str) -> Iterator[Item]:
    if local.is_dir():
        return of_tree(walk(local), folder(path))
    name = path if path and not path.endswith("/") else path + local.name
    return iter([Item(name, local.stat().st_size, local)])


def _workspace(
    repository: Repository, target: Location, memory: Memory, message: str, on_conflict: Any, data_path: Any
) -> Workspace:
    """The workspace that is named, or the one of an earlier run that ended too soon, or a new one."""
    if "+" in target.ref:
        return repository.workspace(target.ref, on_conflict, data_path=data_path)
    if known := memory.fact("workspace"):
        try:
            found = repository.workspace(known, on_conflict, data_path=data_path)
            if found.info().is_open:
                return found
        except LakebedError as error:
            if error.kind != "workspace_not_found":
                raise
        memory.forget_all()
    made = repository.branch(target.ref).workspace(message, on_conflict, data_path=data_path).create()
    memory.note(workspace=made.id)
    return made


@contextmanager
def _resumable(app: App, name: str) -> Iterator[None]:
    """Say how to go on with an upload that the server or a disk broke off."""
    try:
        yield
    except (ServerError, OSError):
        output.advise(app, f"The uploaded files are kept in {name}: the same command resumes where it stopped.")
        raise


@contextmanager
def _advice(app: App, handle: Workspace, memory: Memory, target: Location) -> Iterator[None]:
    """Say what becomes of the upload when the commit fails."""
    try:
        yield
    except NothingToCommitError:
        handle.drop()
        memory.destroy()
        raise
    except LakebedError as error:
        if error.kind in ("concurrent_commit", "dirty_overlap"):
            name = whole(target, handle.id)
            output.advise(
                app,
                f"The upload is kept in {name}. The same command with --on-conflict overwrite replaces the "
                f"conflicting changes; `lakebed workspace drop {name}` discards it.",
            )
        raise


@click.command(cls=Verb)
@click.argument("source", type=FOLDER, metavar="REPO/REF[/PATH]")
@click.argument("target", metavar="[DIR]", default=".")
@_jobs
@pass_app
def download(app: App, source: Location, target: str, jobs: int) -> None:
    """Download an object or a folder into a directory.

    A file appears only when it is complete, and replaces a file of the same name. After an interruption, the same
    command resumes where it stopped.

    \b
    Example: lakebed download sales/v1/orders ./orders
    """
    from lakebed._sync.bulk import download as bulk_download

    local = Path(target)
    with app.lake() as lake, Meter("downloading", enabled=app.shows_progress) as meter:
        ref = lake.repository(source.repository).ref(source.ref)
        if _is_object(ref, source.path):
            done = _one(ref, source.path, local, meter)
        else:
            done = bulk_download.download_tree(ref, source.path, local, progress=meter.follow, jobs=jobs)
    if not done.files:
        raise ObjectNotFoundError(
            f"there is nothing at {source}", repository=source.repository, ref=source.ref, path=source.path
        )
    line = f"Downloaded {_counted(done)} to {output.shown(str(local))}."
    output.say(app, line, asdict(done))


def _is_object(ref: Ref, path: str) -> bool:
    return bool(path) and not path.endswith("/") and ref.exists(path)


def _one(ref: Ref, path: str, local: Path, meter: Meter) -> TransferResult:
    place = inside(local, path.rsplit("/", 1)[-1])
    local.mkdir(parents=True, exist_ok=True)
    info = ref.download(path, place, progress=meter.moved)
    return TransferResult(1, info.size, 0, 0.0)


def _counted(done: TransferResult) -> str:
    skipped = f", {done.skipped:,} of them before" if done.skipped else ""
    return f"{output.count_text(done.files, 'file')}{skipped}, {output.size_text(done.bytes)}"


def _say_uploaded(app: App, done: TransferResult, name: str) -> None:
    line = f"Uploaded {_counted(done)} to {name}; `lakebed workspace commit {name}` commits it."
    output.say(app, output.shown(line), {"workspace": name, "transfer": asdict(done)})
