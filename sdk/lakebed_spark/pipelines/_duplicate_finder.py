"""Finds paths with the same content at several addresses. It works on disk, so memory does not grow with the number of
paths.

A database in a temporary directory (`TMPDIR`) stores every entry that may have a copy, 0.7 KB for each in the end. It
sorts and groups on disk, and this process holds only a few thousand rows of the lake.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import attrs
import pyarrow as pa
from lakebed.errors import ConfigurationError

from lakebed_spark.pipelines._results import Duplicates

PATHS_SHOWN: Final = 1000
"""Paths of one content that a report names."""

_AT_ONCE = 5000
_SHARES = 4  # SQLite keeps pages of two files, and sorts besides

_ENTRIES = "CREATE TABLE entry (checksum TEXT, size INTEGER, path TEXT, address TEXT, elsewhere INTEGER)"

_CANDIDATES = """
CREATE INDEX by_content ON entry (checksum, size, elsewhere, path, address);
CREATE TABLE candidate AS
    SELECT checksum, size, count(*) AS paths, length(checksum) = 32 AND checksum NOT GLOB '*[^0-9a-f]*' AS strong
    FROM entry GROUP BY checksum, size HAVING min(address) < max(address);
CREATE TABLE reading (
    id INTEGER PRIMARY KEY, checksum TEXT, size INTEGER, address TEXT, path TEXT, digest TEXT NOT NULL DEFAULT ''
);
"""
"""A checksum is not `strong` when it is no MD5 of the whole content: the ETag of parts, or of another tool."""

_READINGS = """
INSERT INTO reading (checksum, size, address, path)
    SELECT checksum, size, address, min(path) FROM candidate JOIN entry USING (checksum, size)
    WHERE ? OR NOT strong GROUP BY checksum, size, address
"""

_CONTENTS = """
CREATE UNIQUE INDEX by_address ON reading (checksum, size, address);
CREATE TABLE copy AS
    SELECT checksum, size, ifnull(reading.digest, '') AS digest, elsewhere, entry.path AS path, address
    FROM candidate JOIN entry USING (checksum, size) LEFT JOIN reading USING (checksum, size, address)
    WHERE reading.digest <> '' OR (reading.digest IS NULL AND strong);
CREATE TABLE content AS
    SELECT checksum, size, digest, count(DISTINCT address) - 1 AS copies,
        max(count(DISTINCT CASE WHEN elsewhere THEN NULL ELSE address END) - 1, 0) AS freeable,
        min(elsewhere || path) AS rank, path AS keep, address
    FROM copy GROUP BY checksum, size, digest HAVING count(DISTINCT address) > 1;
CREATE TABLE move AS
    SELECT copy.path AS path, keep, checksum, size, digest
    FROM content JOIN copy USING (checksum, size, digest) WHERE copy.address <> content.address
    ORDER BY checksum, size, keep, elsewhere, copy.path;
CREATE INDEX of_content ON move (checksum, size, digest);
CREATE TABLE gone (path TEXT PRIMARY KEY);
CREATE TABLE busy (path TEXT PRIMARY KEY);
"""
"""It keeps an address in the repository's own namespace before other addresses, then the first by path. With the one
`min` of a query, SQLite returns the columns of the row that has the minimum.
"""

_LEFT = """FROM move WHERE path NOT IN (SELECT path FROM gone)
    AND path NOT IN (SELECT path FROM busy) AND keep NOT IN (SELECT path FROM busy)"""


@attrs.frozen
class Totals:
    """Contents with several addresses, the bytes that one copy of each would save, and unverified paths."""

    contents: int
    copies: int
    bytes: int
    freeable_bytes: int
    unverified: int


class Copies:
    """The entries, and which copies are redundant. One thread calls the methods, in their order."""

    def __init__(self, namespace: str, memory_bytes: int) -> None:
        self._own = namespace + "/"
        self._pages = max(64, memory_bytes // _SHARES >> 10)

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="lakebed-dedupe-", ignore_cleanup_errors=True)
        self._base = sqlite3.connect(Path(self._folder.name, "entries.sqlite"))
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = FILE", f"cache_size = -{self._pages}"):
            self._base.execute(f"PRAGMA {pragma}")
        self._base.execute(f"PRAGMA temp.cache_size = -{self._pages}")
        self._base.execute(_ENTRIES)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()
        self._folder.cleanup()

    def add(self, tables: Iterable[pa.Table]) -> None:
        """Add entries, in any order: checksum, size, path and physical_address. Raises ConfigurationError when the disk
        is full.
        """
        for table in tables:
            for batch in table.select(["checksum", "size", "path", "physical_address"]).to_batches(_AT_ONCE):
                rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
                with self._explain_full_disk():
                    self._base.executemany(
                        "INSERT INTO entry VALUES (?, ?, ?, ?, ?)",
                        [(*row, not row[3].startswith(self._own)) for row in rows],
                    )

    def find(self, *, read_weak: bool, read_all: bool) -> int:
        """Find contents with several addresses. Returns the number of files to read before the result is certain."""
        with self._explain_full_disk():
            self._base.executescript(_CANDIDATES)
            if not (read_weak or read_all):
                return 0
            return self._base.execute(_READINGS, (read_all,)).rowcount

    def unread(self) -> Iterator[tuple[int, str]]:
        """Yield the files to read: a number, and a path."""
        return self._rows("SELECT id, path FROM reading ORDER BY id")

    def was_read(self, digests: Iterable[tuple[int, str]]) -> None:
        """Store the content hashes of files."""
        with self._explain_full_disk():
            self._base.executemany(
                "UPDATE reading SET digest = ? WHERE id = ?", ((digest, number) for number, digest in digests)
            )

    def settle(self) -> Totals:
        """Return the totals. No more entries may follow."""
        with self._explain_full_disk():
            self._base.executescript(_CONTENTS)
            found = self._base.execute(
                "SELECT count(*), sum(copies), sum(size * copies), sum(size * freeable) FROM content"
            ).fetchone()
            weak = self._base.execute(
                "SELECT sum(paths) FROM candidate WHERE NOT strong AND NOT EXISTS (SELECT 1 FROM reading)"
            ).fetchone()
        return Totals(*(value or 0 for value in (*found, *weak)))

    def largest(self, count: int) -> Iterator[Duplicates]:
        """Return the contents that take the most space, with the first of their paths."""
        chosen = self._rows(
            "SELECT checksum, size, digest, copies, keep FROM content "
            "ORDER BY size * copies DESC, checksum, size, keep LIMIT ?",
            count,
        )
        for checksum, size, digest, copies, keep in list(chosen):
            paths = self._rows(
                "SELECT path FROM move WHERE checksum = ? AND size = ? AND digest = ? ORDER BY rowid LIMIT ?",
                *(checksum, size, digest, PATHS_SHOWN),
            )
            yield Duplicates(checksum, size, copies, keep, tuple(path for (path,) in paths), bool(digest))

    def moves(self) -> Iterator[tuple[str, str]]:
        """Yield the paths that will use the data of other paths, without excluded ones."""
        return self._rows(f"SELECT path, keep {_LEFT} ORDER BY rowid")

    def count(self) -> int:
        """Return the number of moves."""
        with self._explain_full_disk():
            return int(self._base.execute(f"SELECT count(*) {_LEFT}").fetchone()[0])

    def leave(self, paths: Iterable[str]) -> None:
        """Exclude paths that have changed: they stay as they are."""
        self._note("gone", paths)

    def avoid(self, paths: Iterable[str]) -> None:
        """Exclude paths that another writer changes: they stay, and no path will use their data."""
        self._note("busy", paths)

    def _note(self, table: str, paths: Iterable[str]) -> None:
        with self._explain_full_disk():
            self._base.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?)", ((path,) for path in paths))  # noqa: S608

    def _rows(self, query: str, *values: Any) -> Iterator[Any]:
        with self._explain_full_disk():
            cursor = self._base.execute(query, values)
            while rows := cursor.fetchmany(_AT_ONCE):
                yield from rows

    @contextmanager
    def _explain_full_disk(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise ConfigurationError(
                f"dedupe cannot sort entries in {self._folder.name} ({error}): free space on this disk, or set TMPDIR "
                "to a directory with 1 KB of free space for each path"
            ) from error
