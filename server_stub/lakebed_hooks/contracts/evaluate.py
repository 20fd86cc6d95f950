"""Checks a contract against a snapshot: the changed files of its path, or all of them.

`rows` and `max_files` apply to all files of the path, also with `only_changed`. `unique` applies to all checked files
together. Like Spark and Arrow, it ignores files and folders whose names begin with `_` or `.`, except partitions such
as `_day=1`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final, TypeVar

from lakebed_format.globs import Globs

from lakebed_hooks.contracts.file_checks import FileChecker
from lakebed_hooks.contracts.footers import UnreadableFile
from lakebed_hooks.contracts.report import Report, Result
from lakebed_hooks.contracts.uniqueness import check_unique
from lakebed_hooks.contracts.vocabulary import Contract, MaxFiles, Rows, Unique
from lakebed_hooks.reading import File, Side, Snapshot, prefix_of

THREADS: Final = 8
"""Number of files whose footers are read at the same time. Most of the time is spent waiting for storage."""

_TOGETHER: Final = 256
_PART: Final = 8
"""Files that a thread reads one after another."""


T = TypeVar("T")


def evaluate(contract: Contract, snapshot: Snapshot, threads: int = THREADS) -> Report:
    """Check a contract. Raises HookError when a check needs too many resources, and the errors of the snapshot."""
    return _Evaluation(contract, snapshot, threads).report()


class _Evaluation:
    def __init__(self, contract: Contract, snapshot: Snapshot, threads: int) -> None:
        self._contract = contract
        self._snapshot = snapshot
        self._globs = Globs([contract.path])
        self._prefix = prefix_of(contract.path)
        self._checker = FileChecker(contract, snapshot)
        self._threads = max(1, min(threads, 4 * (os.cpu_count() or 1)))
        self._rows: dict[str, int | None] = {}
        """Rows of the checked files. None: unreadable, which is reported as a separate result."""

    def report(self) -> Report:
        """Check everything."""
        report = Report(self._contract.path)
        files = self._checked_files()
        with ThreadPoolExecutor(self._threads, thread_name_prefix="contract") as pool:
            for file, checked in self._mapped(pool, "candidate", self._checker.check, files):
                report.files += 1
                report.add(checked.results)
                self._rows[file.path] = checked.rows
            for check in self._contract.checks:
                if isinstance(check, MaxFiles):
                    report.add(self._max_files(check))
                elif isinstance(check, Rows):
                    report.add(self._row_counts(check, pool))
        for check in self._contract.checks:
            if isinstance(check, Unique):
                readable = (file for file in files if self._rows[file.path] is not None)
                report.add(list(check_unique(check, readable, self._checker.opened)))
        return report

    def _checked_files(self) -> list[File]:
        if not self._contract.only_changed:
            return list(self._files("candidate"))
        return [
            File(one.path, one.size)
            for one in self._snapshot.changes()
            if one.kind != "removed" and self._chooses(one.path)
        ]

    def _files(self, side: Side) -> Iterator[File]:
        return (file for file in self._snapshot.files(side, self._prefix) if self._chooses(file.path))

    def _chooses(self, path: str) -> bool:
        if not self._globs.choose(path):
            return False
        below = path[len(self._prefix) :].split("/")
        return not any(name.startswith(".") or (name.startswith("_") and "=" not in name) for name in below)

    def _max_files(self, check: MaxFiles) -> Iterator[Result]:
        number = sum(1 for _ in islice(self._files("candidate"), check.most + 1))
        if number > check.most:
            said = f"{self._contract.path} has more than {check.most:,} files"
            yield Result("", "max_files", "refused", said=said, source="list")
        else:
            yield Result("", "max_files", "passed", source="list")

    def _row_counts(self, check: Rows, pool: ThreadPoolExecutor) -> Iterator[Result]:
        """Results of row counts. It counts the rows of other files only if the answer depends on them."""
        known = sum(rows or 0 for rows in self._rows.values())
        needs_all = check.most is not None or check.max_change is not None
        rows = known
        if needs_all or known < (check.least or 0):
            try:
                rows = known + self._rows_of("candidate", pool)
                base = self._rows_of("base", pool) if check.max_change is not None else 0
            except UnreadableFile as error:
                yield Result("", "rows", "refused", said=str(error))
                return
            if check.max_change is not None and base and abs(rows - base) > check.max_change * base:
                change = f"{(rows - base) / base:+.1%}"
                said = f"the files have {rows:,} rows, {change} of the {base:,} rows of the destination"
                yield Result("", "rows", "refused", said=f"{said}, at most {check.max_change:.1%}", rows=rows)
                return
        if check.least is not None and rows < check.least:
            yield Result(
                "", "rows", "refused", said=f"the files have {rows:,} rows, at least {check.least:,}", rows=rows
            )
        elif check.most is not None and rows > check.most:
            yield Result("", "rows", "refused", said=f"the files have {rows:,} rows, at most {check.most:,}", rows=rows)
        else:
            yield Result("", "rows", "passed", rows=rows)

    def _rows_of(self, side: Side, pool: ThreadPoolExecutor) -> int:
        """The rows of all files of a side, without the checked files."""
        files = (file for file in self._files(side) if side == "base" or file.path not in self._rows)

        def count(file: File) -> int:
            try:
                return self._checker.rows(side, file)
            except UnreadableFile as error:
                if side == "base":
                    return 0  # an unreadable file of the destination: the change may repair it
                raise UnreadableFile(f"the rows of {file.path} cannot be counted: it {error}") from None

        return sum(rows for _, rows in self._mapped(pool, side, count, files))

    def _mapped(
        self, pool: ThreadPoolExecutor, side: Side, function: Callable[[File], T], files: Iterable[File]
    ) -> Iterator[tuple[File, T]]:
        """The results of a function for files, in order, a few hundred files at a time."""
        iterator = iter(files)
        while some := list(islice(iterator, _TOGETHER)):
            self._snapshot.expect(side, [file.path for file in some])
            parts = [some[first : first + _PART] for first in range(0, len(some), _PART)]
            for part, made in zip(parts, pool.map(lambda part: [*map(function, part)], parts), strict=True):
                yield from zip(part, made, strict=True)
