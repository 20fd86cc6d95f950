"""A cache of checksums of files, by size, time and inode. One SQLite file.

It serves as the journal of a transfer (which files are done) and as the index of a working directory. Rows are written
in batches, each one transaction, so a process that is killed loses the last batch and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakebed._bulk.local_tree import FileStat
from lakebed.errors import LakebedError

VERSION = 1
_MD5 = re.compile(r"[0-9a-f]{32}")

TICK_NS, COARSE_TICK_NS = 50_000_000, 2_000_000_000
"""For this long after a change, another change can get the same time. The value also fits old file systems."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
  name TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  seen_ns INTEGER NOT NULL, md5 TEXT NOT NULL, checksum TEXT NOT NULL, address TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_COLUMNS = "name, size, mtime_ns, inode, seen_ns, md5, checksum, address"


@dataclass(frozen=True, slots=True)
class Known:
    """One file as it was at `seen_ns` (Unix nanoseconds). `md5` is that of its content, `checksum` what the lake says.

    They differ for objects that were written in several parts. `address` is where its content was stored, if anywhere.
    """

    name: str
    stat: FileStat
    md5: str
    checksum: str = ""
    address: str = ""
    seen_ns: int = 0

    def is_unchanged(self, stat: FileStat) -> bool:
        """Whether a file with this size, time and inode still has that content. False if the file changed so shortly
        before the check that a later change can have the same time.
        """
        tick = TICK_NS if stat.mtime_ns % 1_000_000_000 else COARSE_TICK_NS
        return stat == self.stat and stat.mtime_ns + tick < self.seen_ns


def distinct_mtime(now_ns: int) -> int:
    """A time of change for a file that is written now. Every later change gives the file another time."""
    return now_ns - TICK_NS - 1


class Memory:
    """The rows of one SQLite file. Safe to use from many threads. Use it as a context manager, or close it.

    Raises LakebedError when the file is not a cache of checksums, or one of a later version.
    """

    def __init__(self, file: Path) -> None:
        import sqlite3  # ten milliseconds that most programs need not wait for

        file.parent.mkdir(parents=True, exist_ok=True)
        self.file = file
        self._lock = threading.Lock()
        self._db = sqlite3.connect(file, timeout=10.0, check_same_thread=False, isolation_level=None)
        try:
            self._db.execute("PRAGMA journal_mode=TRUNCATE")  # no WAL: two processes and an old SQLite may damage one
            self._db.execute("PRAGMA synchronous=NORMAL")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version not in (0, VERSION):
                raise LakebedError(
                    f"{file} was written by a newer version of Lakebed ({version}): upgrade this installation"
                )
            self._db.executescript(_SCHEMA)
            self._db.execute(f"PRAGMA user_version={VERSION}")
        except BaseException as error:
            self._db.close()
            if isinstance(error, sqlite3.DatabaseError):
                raise LakebedError(f"{file} cannot be used ({error}): remove it, and run the command again") from None
            raise

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def get(self, name: str) -> Known | None:
        """What is known of a file."""
        rows = self._read(f"SELECT {_COLUMNS} FROM files WHERE name = ?", (name,))  # noqa: S608
        return _known(rows[0]) if rows else None

    def rows(self) -> Iterator[Known]:
        """All rows, in the order of their names' bytes; a page at a time, so rows may be changed between pages."""
        last = ""
        while rows := self._read(
            f"SELECT {_COLUMNS} FROM files WHERE name > ? ORDER BY name LIMIT 1000",  # noqa: S608
            (last,),
        ):
            yield from map(_known, rows)
            last = rows[-1][0]

    def between(self, first: str, last: str) -> dict[str, Known]:
        """The rows from name `first` to name `last`, both included."""
        query = f"SELECT {_COLUMNS} FROM files WHERE name BETWEEN ? AND ?"  # noqa: S608
        return {row[0]: _known(row) for row in self._read(query, (first, last))}

    def count(self) -> int:
        """The number of files with a row."""
        return int(self._read("SELECT count(*) FROM files", ())[0][0])

    def remember(self, rows: Iterable[Known]) -> None:
        """Replace the rows of these files, in one transaction. `seen_ns` 0 means now."""
        now = time.time_ns()
        values = [
            (k.name, k.stat.size, k.stat.mtime_ns, k.stat.inode, k.seen_ns or now, k.md5, k.checksum, k.address)
            for k in rows
        ]
        insert = f"INSERT OR REPLACE INTO files ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
        self._write(lambda: self._db.executemany(insert, values))

    def forget(self, names: Iterable[str]) -> None:
        """Drop the rows of files, in one transaction."""
        values = [(name,) for name in names]
        self._write(lambda: self._db.executemany("DELETE FROM files WHERE name = ?", values))

    def forget_all(self) -> None:
        """Drop all rows; remarks stay."""
        self._write(lambda: self._db.execute("DELETE FROM files"))

    def fact(self, key: str) -> str:
        """A remark about the whole cache, or an empty text."""
        rows = self._read("SELECT value FROM facts WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else ""

    def note(self, **facts: str) -> None:
        """Write remarks, all or none."""
        insert = "INSERT OR REPLACE INTO facts (key, value) VALUES (?, ?)"
        self._write(lambda: self._db.executemany(insert, list(facts.items())))

    def destroy(self) -> None:
        """Close the cache and remove its file, when its purpose is fulfilled."""
        self.close()
        self.file.unlink(missing_ok=True)
        self.file.with_name(self.file.name + "-journal").unlink(missing_ok=True)

    def _read(self, query: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def _write(self, change: Callable[[], object]) -> None:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                change()
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")


def journal_for(key: Sequence[str], top: Path, file: str | os.PathLike[str] | None = None) -> Memory:
    """The journal of one transfer, in this user's cache directory unless `file` names another place.

    `key` and the local directory `top` identify a transfer: the same values find its journal again.
    """
    if file is not None:
        return Memory(Path(file))
    name = hashlib.sha256("\0".join([*key, str(top.absolute())]).encode(errors="surrogateescape")).hexdigest()[:32]
    return Memory(cache_home() / "transfers" / f"{name}.db")


def cache_home() -> Path:
    """The cache directory of this user."""
    home = os.environ.get("XDG_CACHE_HOME", "") or os.path.join("~", ".cache")
    return Path(home).expanduser() / "lakebed"


def _known(row: tuple[Any, ...]) -> Known:
    name, size, mtime_ns, inode, seen_ns, md5, checksum, address = row
    return Known(name, FileStat(size, mtime_ns, inode), md5, checksum, address, seen_ns)


def is_md5(checksum: str) -> bool:
    """Whether a checksum of the lake is the MD5 of the content. It is not for an object in several parts."""
    return _MD5.fullmatch(checksum) is not None


def md5_of(file: Path) -> str:
    """The hex MD5 of a file's content. Raises OSError."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
