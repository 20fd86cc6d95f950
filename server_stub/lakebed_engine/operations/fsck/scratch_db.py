"""The records of a check, in a scratch database on disk: memory is bounded whatever the size of the repository.

The file is SQLite's own temporary file: private, without a name, and deleted when it is closed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Self

from lakebed_engine.vocabulary.records import Commit

_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;
CREATE TABLE refs (name TEXT, commit_id TEXT);
CREATE INDEX refs_by_commit ON refs (commit_id);
CREATE TABLE commits (id TEXT PRIMARY KEY, metarange TEXT, generation INTEGER, known INTEGER, created INTEGER)
  WITHOUT ROWID;
CREATE INDEX commits_by_metarange ON commits (metarange);
CREATE TABLE edges (parent TEXT, child TEXT, PRIMARY KEY (parent, child)) WITHOUT ROWID;
CREATE INDEX edges_by_child ON edges (child);
CREATE TABLE ranges (id TEXT, min TEXT, max TEXT, rows INTEGER, bytes INTEGER,
                     PRIMARY KEY (id, min, max, rows, bytes)) WITHOUT ROWID;
CREATE TABLE files (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE objects (address TEXT, size INTEGER, checksum TEXT, parts INTEGER, path TEXT, seen INTEGER,
                      PRIMARY KEY (address, size, checksum, parts)) WITHOUT ROWID;
CREATE TABLE range_uses (range TEXT, metarange TEXT, PRIMARY KEY (range, metarange)) WITHOUT ROWID;
CREATE TABLE object_uses (address TEXT, range TEXT, PRIMARY KEY (address, range)) WITHOUT ROWID;
CREATE TABLE staged_uses (address TEXT, name TEXT, PRIMARY KEY (address, name)) WITHOUT ROWID;
CREATE TABLE bad (kind TEXT, what TEXT, name TEXT, detail TEXT, path TEXT, id TEXT);
BEGIN;
"""

_NEED = """
WITH RECURSIVE need (id) AS ({seed} UNION SELECT edges.child FROM edges JOIN need ON edges.parent = need.id)
SELECT DISTINCT refs.name FROM refs JOIN need ON refs.commit_id = need.id
"""

_SEEDS = {
    "commit": "SELECT ?",
    "metarange": "SELECT id FROM commits WHERE metarange = ?",
    "range": "SELECT c.id FROM commits c JOIN range_uses u ON u.metarange = c.metarange WHERE u.range = ?",
    "object": """SELECT c.id FROM commits c JOIN range_uses u ON u.metarange = c.metarange
                 JOIN object_uses o ON o.range = u.range WHERE o.address = ?""",
}


class Bad(NamedTuple):
    """A finding before the refs that need it are known. `id` identifies it in the scratch."""

    kind: str
    what: str
    name: str
    detail: str
    path: str = ""
    id: str = ""


class ObjectRow(NamedTuple):
    """An object as an entry describes it. `address` is relative to the namespace, or a full URI."""

    address: str
    size: int
    checksum: str
    parts: int
    path: str


class ScratchDb:
    """Sets and relations of one check."""

    def __init__(self, memory: int) -> None:
        """`memory` in bytes is the limit before the data goes to disk."""
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute(f"PRAGMA cache_size = -{max(memory >> 10, 1000)}")
        self._db.executescript(_SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def _pages(self, query: str, size: int) -> Iterator[list[Any]]:
        """Rows of a query in pages. Its first column is its order and must be greater than `?`."""
        after = ""
        while rows := self._db.execute(f"{query} LIMIT {size}", (after,)).fetchall():
            yield rows
            after = rows[-1][0]

    # commits

    def add_ref(self, name: str, commit_id: str) -> None:
        """Record a branch or tag and its commit."""
        self._db.execute("INSERT INTO refs VALUES (?, ?)", (name, commit_id))

    def add_commit(self, commit: Commit) -> None:
        """Record a commit that a row or a file describes."""
        self._db.execute(
            "INSERT OR REPLACE INTO commits VALUES (?, ?, ?, 1, ?)",
            (commit.id, commit.metarange_id, commit.generation, commit.creation_date),
        )
        edges = [(parent, commit.id) for parent in commit.parents]
        self._db.executemany("INSERT OR IGNORE INTO edges VALUES (?, ?)", edges)

    def add_lost_commit(self, commit_id: str) -> None:
        """Record a commit without row and file."""
        self._db.execute("INSERT OR IGNORE INTO commits VALUES (?, '', 0, 0, 0)", (commit_id,))

    def unknown_commits(self) -> list[str]:
        """Some commits that a ref or a commit names, and that are not recorded yet."""
        rows = self._db.execute(
            """SELECT commit_id FROM refs WHERE commit_id NOT IN (SELECT id FROM commits)
               UNION SELECT parent FROM edges WHERE parent NOT IN (SELECT id FROM commits) LIMIT 1000"""
        )
        return [commit_id for (commit_id,) in rows]

    def has_commit(self, commit_id: str) -> bool:
        """Whether the commit exists."""
        row = self._db.execute("SELECT known FROM commits WHERE id = ?", (commit_id,)).fetchone()
        return row is not None and bool(row[0])

    def wrong_generations(self) -> Iterator[tuple[str, int, int]]:
        """Commits whose generation is not one more than their parents' greatest: id, generation, correct generation."""
        yield from self._db.execute(
            """SELECT c.id, c.generation, coalesce(max(p.generation), 0) + 1 AS right_one
               FROM commits c LEFT JOIN edges e ON e.child = c.id LEFT JOIN commits p ON p.id = e.parent
               WHERE c.known GROUP BY c.id HAVING c.generation != right_one AND coalesce(min(p.known), 1)"""
        )

    def heads(self, limit: int) -> tuple[list[str], int]:
        """The newest commits that no ref and no commit names, newest first, and the number of all such commits."""
        which = """FROM commits WHERE known AND id NOT IN (SELECT parent FROM edges)
                   AND id NOT IN (SELECT commit_id FROM refs)"""
        rows = self._db.execute(f"SELECT id {which} ORDER BY created DESC, generation DESC, id LIMIT ?", (limit,))
        (count,) = self._db.execute(f"SELECT count(*) {which}").fetchone()
        return [commit_id for (commit_id,) in rows], count

    # trees

    def metaranges(self, size: int = 64) -> Iterator[list[str]]:
        """Every metarange that a commit names, in pages."""
        query = "SELECT DISTINCT metarange FROM commits WHERE metarange > ? ORDER BY metarange"
        for rows in self._pages(query, size):
            yield [metarange for (metarange,) in rows]

    def has_metarange(self, metarange: str) -> bool:
        """Whether a commit names the metarange."""
        return (
            self._db.execute("SELECT 1 FROM commits WHERE metarange = ? LIMIT 1", (metarange,)).fetchone() is not None
        )

    def add_ranges(self, infos: Iterable[tuple[str, str, str, int, int]]) -> None:
        """Record the rows of a metarange."""
        self._db.executemany("INSERT OR IGNORE INTO ranges VALUES (?, ?, ?, ?, ?)", infos)

    def ranges(self, size: int = 64) -> Iterator[list[str]]:
        """Every range that a metarange names, in pages."""
        for rows in self._pages("SELECT DISTINCT id FROM ranges WHERE id > ? ORDER BY id", size):
            yield [range_id for (range_id,) in rows]

    def said_of(self, range_id: str) -> list[tuple[str, str, int, int]]:
        """The descriptions of a range in metaranges: first and last path, rows, bytes. Several rows contradict each
        other.
        """
        return self._db.execute("SELECT min, max, rows, bytes FROM ranges WHERE id = ?", (range_id,)).fetchall()

    def has_range(self, range_id: str) -> bool:
        """Whether a metarange names the range."""
        return self._db.execute("SELECT 1 FROM ranges WHERE id = ? LIMIT 1", (range_id,)).fetchone() is not None

    def add_file(self, key: str) -> None:
        """Record a file that a record names, or that the cleaner will remove."""
        self._db.execute("INSERT OR IGNORE INTO files VALUES (?)", (key,))

    def has_file(self, key: str) -> bool:
        """Whether the file is recorded."""
        return self._db.execute("SELECT 1 FROM files WHERE key = ?", (key,)).fetchone() is not None

    # objects

    def add_objects(self, rows: Iterable[ObjectRow], staged_on: str = "") -> None:
        """Record objects of entries. `staged_on` is the branch on which the entries are uncommitted."""
        rows = list(rows)
        self._db.executemany("INSERT OR IGNORE INTO objects VALUES (?, ?, ?, ?, ?, 0)", rows)
        if staged_on:
            self._db.executemany(
                "INSERT OR IGNORE INTO staged_uses VALUES (?, ?)", [(row.address, staged_on) for row in rows]
            )

    def said_of_object(self, address: str) -> list[ObjectRow]:
        """The descriptions of an object in entries. Several rows contradict each other."""
        rows = self._db.execute(
            "SELECT address, size, checksum, parts, path FROM objects WHERE address = ?", (address,)
        )
        return [ObjectRow(*row) for row in rows]

    def see(self, address: str) -> None:
        """Record that the object exists."""
        self._db.execute("UPDATE objects SET seen = 1 WHERE address = ?", (address,))

    def objects(self, *, seen: bool) -> Iterator[list[ObjectRow]]:
        """The seen or the unseen objects, in pages. All rows of an address are in one page."""
        query = """SELECT address, size, checksum, parts, path FROM objects WHERE address IN (
                     SELECT DISTINCT address FROM objects WHERE address > ? AND seen = ? ORDER BY address LIMIT 256)
                   ORDER BY address"""
        after = ""
        while rows := self._db.execute(query, (after, int(seen))).fetchall():
            yield [ObjectRow(*row) for row in rows]
            after = rows[-1][0]

    # findings

    def add_bad(self, bad: Bad) -> None:
        """Keep a finding until the refs that need it are known."""
        self._db.execute("INSERT INTO bad VALUES (?, ?, ?, ?, ?, ?)", bad)

    def bad_ids(self, what: str) -> set[str]:
        """The ids of the findings of a kind."""
        return {found for (found,) in self._db.execute("SELECT id FROM bad WHERE what = ?", (what,))}

    def add_range_uses(self, range_ids: Iterable[str], metarange: str) -> None:
        """Record that a metarange names these ranges."""
        self._db.executemany("INSERT OR IGNORE INTO range_uses VALUES (?, ?)", [(one, metarange) for one in range_ids])

    def add_object_uses(self, addresses: Iterable[str], range_id: str) -> None:
        """Record that a range names these objects."""
        self._db.executemany("INSERT OR IGNORE INTO object_uses VALUES (?, ?)", [(one, range_id) for one in addresses])

    def ranges_of_objects(self) -> set[str]:
        """The ranges that are recorded as naming an object."""
        return {found for (found,) in self._db.execute("SELECT DISTINCT range FROM object_uses")}

    def take_bad(self) -> Iterator[Bad]:
        """Return and remove the findings, in order."""
        after = 0
        while rows := self._db.execute("SELECT rowid, * FROM bad WHERE rowid > ? LIMIT 256", (after,)).fetchall():
            for row in rows:
                yield Bad(*row[1:])
            after = rows[-1][0]
        self._db.execute("DELETE FROM bad")

    def needed_by(self, what: str, found: str) -> list[str]:
        """Branches and tags whose history or content needs a commit, metarange, range or object, in order of name."""
        names = {name for (name,) in self._db.execute(_NEED.format(seed=_SEEDS[what]), (found,))}
        if what == "object":
            rows = self._db.execute("SELECT name FROM staged_uses WHERE address = ?", (found,))
            names.update(name for (name,) in rows)
        return sorted(names)
