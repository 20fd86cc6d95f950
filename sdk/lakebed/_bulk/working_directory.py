"""A working directory: what was checked out into it, and what has changed in it since. Blocking, without network.

`.lakebed/` at the top holds the index (a `Memory`: each file as it was when it had the content of the lake), a lock,
and downloads that are not yet in their place.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from lakebed._bulk.hash_cache import Known, Memory, md5_of
from lakebed._bulk.local_tree import OURS, FileStat, LocalFile, walk
from lakebed._render.columns import Columns
from lakebed.errors import InvalidRequestError, LakebedError

_REFRESHED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class LocalChange:
    """One file that differs from what was checked out. `type`: added, changed, removed; `md5` of what is there."""

    COLUMNS: ClassVar[Columns] = (("type", "string"), ("path", "string"), ("size", "int64"))

    type: str
    path: str
    size: int | None = None
    md5: str = ""
    local: LocalFile | None = None
    known: Known | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a working directory comes from. `prefix` is empty or ends in `/`."""

    endpoint: str
    repository: str
    branch: str
    prefix: str

    def __str__(self) -> str:
        return f"lakebed://{self.repository}/{self.branch}" + (f"/{self.prefix}" if self.prefix else "")


class Checkout:
    """The state of one working directory. Use it as a context manager: it locks out other processes."""

    def __init__(self, top: Path, index: Memory) -> None:
        self.top = top
        self.index = index
        self.origin = Origin(*(index.fact(name) for name in ("endpoint", "repository", "branch", "prefix")))

    @property
    def base(self) -> str:
        """The commit that the files come from; empty while the clone is not finished."""
        return self.index.fact("base")

    @property
    def target(self) -> str:
        """The target commit of an interrupted update, or an empty text."""
        return self.index.fact("target")

    @property
    def parts(self) -> Path:
        """The directory of incomplete downloads: on the same file system, so that a rename completes them."""
        return self.top / OURS / "parts"

    def changes(self) -> Iterator[LocalChange]:
        """What differs from the index: added and changed files in order of a walk, then removed ones in order of name.

        Only files whose size, time or inode is new are read. Raises OSError.
        """
        same: list[Known] = []
        missing: list[Known] = []
        for file, known in _with_rows(walk(self.top, skip=OURS), self.index.rows(), missing):
            if known is not None and known.is_unchanged(file.stat):
                continue
            started = time.time_ns()
            md5 = md5_of(file.file)
            if known is None:
                yield LocalChange("added", file.name, file.stat.size, md5, file)
            elif md5 != known.md5:
                yield LocalChange("changed", file.name, file.stat.size, md5, file, known)
            else:
                same.append(Known(file.name, file.stat, md5, known.checksum, seen_ns=started))
                if len(same) >= _REFRESHED_AT_ONCE:
                    self.index.remember(same)
                    same.clear()
        self.index.remember(same)
        for known in missing:
            if not (self.top / known.name).is_file():  # the walk does not follow links to directories
                yield LocalChange("removed", known.name, known=known)

    def look(self, name: str) -> LocalChange | None:
        """How one file differs from the index now; None when it does not."""
        file, known = self.top / name, self.index.get(name)
        try:
            stat = FileStat.of(os.stat(file))
            if known is not None and known.is_unchanged(stat):
                return None
            md5 = md5_of(file)
        except (FileNotFoundError, NotADirectoryError):
            return None if known is None else LocalChange("removed", name, known=known)
        if known is not None and md5 == known.md5:
            return None
        local = LocalFile(name, file, stat)
        return LocalChange("added" if known is None else "changed", name, stat.size, md5, local, known)

    def remove(self, name: str) -> None:
        """Remove a file, and the directories that it leaves empty."""
        file = self.top / name
        file.unlink(missing_ok=True)
        for folder in file.relative_to(self.top).parents:
            if folder == Path("."):
                return
            try:
                (self.top / folder).rmdir()
            except OSError:
                return  # something else is in it


def _with_rows(
    files: Iterator[LocalFile], rows: Iterator[Known], missing: list[Known]
) -> Iterator[tuple[LocalFile, Known | None]]:
    """Each file with its row. Rows without a file are added to `missing`. Both come in the order of their names."""
    row = next(rows, None)
    for file in files:
        while row is not None and row.name < file.name:
            missing.append(row)
            row = next(rows, None)
        if row is not None and row.name == file.name:
            yield file, row
            row = next(rows, None)
        else:
            yield file, None
    while row is not None:
        missing.append(row)
        row = next(rows, None)


def find_top(start: Path) -> Path:
    """The working directory that contains `start`. Raises InvalidRequestError when there is none."""
    for folder in (start.absolute(), *start.absolute().parents):
        if (folder / OURS / "index.db").is_file():
            return folder
    raise _no_checkout(start)


def _no_checkout(top: Path) -> InvalidRequestError:
    return InvalidRequestError(
        f"{top} is not a working directory: `lakebed local clone` creates one", kind="no_working_directory"
    )


@contextmanager
def opened(top: Path) -> Iterator[Checkout]:
    """The checkout at `top`. Raises LakebedError when another process works in it, InvalidRequestError for none."""
    if not (top / OURS / "index.db").is_file():
        raise _no_checkout(top)
    with _locked(top / OURS / "lock", top), Memory(top / OURS / "index.db") as index:
        checkout = Checkout(top, index)
        shutil.rmtree(checkout.parts, ignore_errors=True)
        checkout.parts.mkdir()
        yield checkout


def prepare(top: Path, origin: Origin) -> None:
    """Make an empty checkout, or accept one of the same origin whose clone was not finished.

    Raises InvalidRequestError.
    """
    index = top / OURS / "index.db"
    if not index.is_file():
        if top.exists() and any(entry.name != OURS for entry in top.iterdir()):
            raise InvalidRequestError(f"{top} is not empty: clone into a new or an empty directory", kind="not_empty")
        with Memory(index) as made:
            made.note(
                endpoint=origin.endpoint, repository=origin.repository, branch=origin.branch, prefix=origin.prefix
            )
        return
    with opened(top) as checkout:
        if checkout.origin != origin or checkout.base:
            raise InvalidRequestError(
                f"{top} is a clone of {checkout.origin} already; `lakebed local pull` brings it up to date",
                kind="already_cloned",
            )


@contextmanager
def _locked(file: Path, top: Path) -> Iterator[None]:
    """Keep other processes out, where the system has locks for that."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    module: Any = fcntl
    fd = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            module.flock(fd, module.LOCK_EX | module.LOCK_NB)
        except BlockingIOError:
            raise LakebedError(f"another command is running in {top}: wait until it ends", kind="busy") from None
        yield
    finally:
        os.close(fd)
