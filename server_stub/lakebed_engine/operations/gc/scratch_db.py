"""The records of a sweep of one repository, in a scratch database on disk, so that memory is bounded.

The set of named files only grows: a file that was named in one of the two checks is kept.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Self

_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;
CREATE TABLE named (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE workspaces (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE commits (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE wanted (id TEXT PRIMARY KEY, named_by TEXT) WITHOUT ROWID;
CREATE TABLE files (key TEXT PRIMARY KEY, kind TEXT, level INTEGER, read INTEGER) WITHOUT ROWID;
CREATE INDEX unread ON files (kind, key) WHERE NOT read;
CREATE TABLE found (rank INTEGER, key TEXT, size INTEGER, mtime REAL, PRIMARY KEY (rank, key)) WITHOUT ROWID;
BEGIN;
"""


class Found(NamedTuple):
    """A file that was unnamed when it was listed: size in bytes, mtime in Unix seconds of the store's clock."""

    key: str
    size: int
    mtime: float


class ScratchDb:
    """The sets of one sweep. `memory` in bytes is the limit before the data goes to disk."""

    def __init__(self, memory: int) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute(f"PRAGMA cache_size = -{max(memory >> 10, 1000)}")
        self._db.executescript(_SCHEMA)
        self.open_prefixes: set[str] = set()
        """Folders that open workspaces and uploads write to, each with its final slash."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    # what is named

    def name(self, keys: Iterable[str]) -> None:
        """Record these files as named."""
        self._db.executemany("INSERT OR IGNORE INTO named VALUES (?)", [(key,) for key in keys])

    def is_named(self, key: str) -> bool:
        """Whether the file was named in either check, or is in a folder that an open workspace writes to."""
        if self._db.execute("SELECT 1 FROM named WHERE key = ?", (key,)).fetchone() is not None:
            return True
        slashes = [at for at, char in enumerate(key) if char == "/"] if self.open_prefixes else []
        return any(key[: at + 1] in self.open_prefixes for at in slashes)

    def named_below(self, prefix: str) -> str:
        """A named key that begins with this prefix, which ends in a slash. Empty: there is none."""
        query = "SELECT key FROM named WHERE key > ? AND key < ? LIMIT 1"
        row = self._db.execute(query, (prefix, f"{prefix[:-1]}0")).fetchone()
        return "" if row is None else str(row[0])

    def add_workspace(self, workspace_id: str) -> None:
        """Record a workspace of the engine, open or closed."""
        self._db.execute("INSERT OR IGNORE INTO workspaces VALUES (?)", (workspace_id,))

    def has_workspace(self, workspace_id: str) -> bool:
        """Whether the workspace is recorded."""
        return self._db.execute("SELECT 1 FROM workspaces WHERE id = ?", (workspace_id,)).fetchone() is not None

    def add_commit(self, commit_id: str, parents: Sequence[str]) -> None:
        """Record a commit of the history."""
        self._db.execute("INSERT OR IGNORE INTO commits VALUES (?)", (commit_id,))
        self.want(parents, f"commit {commit_id}")

    def want(self, commit_ids: Iterable[str], who: str) -> None:
        """Record that `who` names these commits. If one does not exist, the records are not reliable."""
        self._db.executemany("INSERT OR IGNORE INTO wanted VALUES (?, ?)", [(one, who) for one in commit_ids])

    def strangers(self) -> list[tuple[str, str]]:
        """Some commits that are named but not recorded, each with its namer."""
        return self._db.execute(
            "SELECT id, named_by FROM wanted WHERE id NOT IN (SELECT id FROM commits) LIMIT 500"
        ).fetchall()

    # files that name others

    def to_read(self, keys: Iterable[str], kind: str, level: int = 0) -> None:
        """Record immutable files to read once, for the files that they name. `level` as in a metarange."""
        rows = [(key, kind, level) for key in keys]
        self._db.executemany("INSERT OR IGNORE INTO files VALUES (?, ?, ?, 0)", rows)

    def unread(self, kind: str) -> Iterator[list[tuple[str, int]]]:
        """The unread files of a kind, with their level, in pages."""
        query = "SELECT key, level FROM files WHERE kind = ? AND key > ? AND NOT read ORDER BY key LIMIT 64"
        after = ""
        while rows := self._db.execute(query, (kind, after)).fetchall():
            yield rows
            after = rows[-1][0]

    def was_read(self, keys: Iterable[str]) -> None:
        """Mark these files as read."""
        self._db.executemany("UPDATE files SET read = 1 WHERE key = ?", [(key,) for key in keys])

    # what nothing named

    def add_found(self, rank: int, found: Found) -> None:
        """Record a file that may be deleted. Files of a lower rank are deleted first."""
        self._db.execute("INSERT OR REPLACE INTO found VALUES (?, ?, ?, ?)", (rank, *found))

    def count_older(self, moment: float) -> int:
        """The number of found files written before a moment, in Unix seconds of the store's clock."""
        (count,) = self._db.execute("SELECT count(*) FROM found WHERE mtime < ?", (moment,)).fetchone()
        return int(count)

    def found(self) -> Iterator[list[Found]]:
        """All found files, in pages, by rank and key."""
        rank, after = -1, ""
        query = """SELECT rank, key, size, mtime FROM found WHERE (rank, key) > (?, ?)
                   ORDER BY rank, key LIMIT 256"""
        while rows := self._db.execute(query, (rank, after)).fetchall():
            yield [Found(*row[1:]) for row in rows]
            rank, after = rows[-1][:2]
