"""Stashed changes of a working directory: files in `.lakebed/stashes`. Blocking, without network.

Files are moved, not copied, and the list of a stash is written before its first file is moved. So a process that is
killed in between leaves each file either in its place or in the stash, and `restore` brings all of them back.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lakebed._bulk.hash_cache import md5_of
from lakebed._bulk.local_tree import OURS
from lakebed._bulk.working_directory import Checkout, LocalChange
from lakebed.errors import Conflict, ConflictError, LakebedError, NotFoundError, NothingToCommitError

_LIST = "stash.json"


@dataclass(frozen=True, slots=True)
class StashedFile:
    """One changed file. `base` is the checksum that it had in the lake, empty for an added file."""

    name: str
    type: str
    base: str
    md5: str


@dataclass(frozen=True, slots=True)
class LocalStash:
    """One stash. `created_ns` is in Unix nanoseconds."""

    folder: Path
    message: str
    branch: str
    created_ns: int
    files: tuple[StashedFile, ...]

    def content(self, number: int) -> Path:
        """Where the content of a file is."""
        return self.folder / str(number)


def put_aside(here: Checkout, changes: Sequence[LocalChange], message: str) -> LocalStash:
    """Move changed files into a new stash. The files of the base are not there afterwards: fetch them.

    Raises NothingToCommitError, OSError.
    """
    if not changes:
        raise NothingToCommitError(f"nothing has changed in {here.top} since it was checked out")
    created = time.time_ns()
    folder = _home(here.top) / f"{created:020d}"
    folder.mkdir(parents=True)
    files = tuple(StashedFile(one.path, one.type, one.known.checksum if one.known else "", one.md5) for one in changes)
    stash = LocalStash(folder, message, here.index.fact("detached") or here.origin.branch, created, files)
    body = {"message": message, "branch": stash.branch, "created_ns": created, "files": list(map(asdict, files))}
    part = folder / f"{_LIST}.part"
    part.write_text(json.dumps(body), "utf-8")
    os.replace(part, folder / _LIST)
    for number, file in enumerate(files):
        if file.type != "removed":
            os.replace(here.top / file.name, stash.content(number))
            _remove_empty(here.top, file.name)
    return stash


def stashes(top: Path) -> list[LocalStash]:
    """The stashes of a working directory, the newest first. Raises LakebedError for a damaged list."""
    folders = sorted(_home(top).glob(f"*/{_LIST}"), reverse=True)
    return [_read(file) for file in folders]


def newest(top: Path) -> LocalStash:
    """The newest stash. Raises NotFoundError."""
    found = stashes(top)
    if not found:
        raise NotFoundError(f"there is no stash in {top}", kind="no_stash", operation="pop")
    return found[0]


def restore(here: Checkout, stash: LocalStash, *, force: bool) -> list[str]:
    """Bring the changes of a stash back, and delete the stash. Returns the names of the files.

    Where the directory has another version by now, raises ConflictError and touches nothing; with `force` the version
    of the stash replaces it.
    """
    conflicts = [] if force else [file for number, file in enumerate(stash.files) if _clashes(here, stash, number)]
    if conflicts:
        raise ConflictError(
            f"{len(conflicts)} stashed files have changed in {here.top} since the stash; nothing was changed",
            kind="local_conflict",
        ).with_conflicts([Conflict(file.name, file.base or None) for file in conflicts])
    for number, file in enumerate(stash.files):
        if file.type == "removed":
            here.remove(file.name)
        elif (content := stash.content(number)).is_file():
            local = here.top / file.name
            local.parent.mkdir(parents=True, exist_ok=True)
            os.replace(content, local)
    shutil.rmtree(stash.folder)
    return [file.name for file in stash.files]


def _clashes(here: Checkout, stash: LocalStash, number: int) -> bool:
    """Whether the place of a file has something else than the stash expects: its base, nothing, or the file itself."""
    file, known = stash.files[number], here.index.get(stash.files[number].name)
    local = here.top / file.name
    if file.type != "removed" and local.is_file() and md5_of(local) == file.md5:
        return False
    if (known.checksum if known else "") != file.base:
        return True
    now = here.look(file.name)
    return (now is not None and now.type != "removed") or local.is_dir()


def _read(file: Path) -> LocalStash:
    try:
        body = json.loads(file.read_text("utf-8"))
        files = tuple(StashedFile(**one) for one in body["files"])
        return LocalStash(file.parent, body["message"], body["branch"], body["created_ns"], files)
    except (ValueError, KeyError, TypeError) as error:
        raise LakebedError(f"cannot read the stash {file}: {error}; its files are next to it, numbered") from None


def _home(top: Path) -> Path:
    return top / OURS / "stashes"


def _remove_empty(top: Path, name: str) -> None:
    for folder in (top / name).relative_to(top).parents:
        if folder == Path("."):
            return
        try:
            (top / folder).rmdir()
        except OSError:
            return
