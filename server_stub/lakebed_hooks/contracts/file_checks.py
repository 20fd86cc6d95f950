"""The checks of one file: its name, size, footer and columns, and a scan of the values where needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from lakebed_hooks.contracts.bounds import Bounds, bounds_of
from lakebed_hooks.contracts.column_types import stored
from lakebed_hooks.contracts.columns import ColumnAt, column_results, missing
from lakebed_hooks.contracts.footers import Layouts, ParquetFile, UnreadableFile
from lakebed_hooks.contracts.formats import format_of
from lakebed_hooks.contracts.report import Result
from lakebed_hooks.contracts.scans import NAMES, Scan, ValueCheck, result_of, test_of
from lakebed_hooks.contracts.texts import TextFile
from lakebed_hooks.contracts.vocabulary import (
    Accepted,
    Contract,
    FileSize,
    ForbidColumns,
    Formats,
    NotNan,
    NotNull,
    Range,
    Rows,
    Unique,
)
from lakebed_hooks.reading import File, Side, Snapshot

_VALUE_CHECKS: Final = (NotNull, NotNan, Range, Accepted)
_PLANS_MOST: Final = 100


@dataclass(slots=True)
class Checked:
    """The results of one file. `rows`: None if it cannot be read."""

    results: list[Result] = field(default_factory=list)
    rows: int | None = None


class FileChecker:
    """Checks single files of a contract, from several threads."""

    def __init__(self, contract: Contract, snapshot: Snapshot) -> None:
        self._contract = contract
        self._snapshot = snapshot
        self._layouts = Layouts()
        self._plans: dict[int, _Plan] = {}
        self._by_name = [check for check in contract.checks if isinstance(check, Formats | FileSize)]
        self._reads = bool(contract.schema) or any(
            isinstance(check, (*_VALUE_CHECKS, ForbidColumns, Unique, Rows)) for check in contract.checks
        )

    def check(self, file: File) -> Checked:
        """Check a file of the candidate."""
        found = Checked([_of_name(check, file) for check in self._by_name])
        if not self._reads:
            return found
        try:
            format = format_of(file.path)
            if format == "parquet":
                parquet = ParquetFile(self._snapshot, "candidate", file, self._layouts)
                found.rows = parquet.rows
                found.results += _finished(file, self._plan(parquet.columns).columns, None)
                found.results += self._parquet(file, parquet)
            elif format in ("csv", "jsonl"):
                self._text(file, format, found)
            else:
                raise UnreadableFile("is not a Parquet, CSV or JSON lines file, so its columns cannot be checked")
        except UnreadableFile as error:
            found.results.append(Result(file.path, "readable", "refused", said=str(error)))
        return found

    def rows(self, side: Side, file: File) -> int:
        """The number of rows of a file that is not checked. Raises UnreadableFile."""
        format = format_of(file.path)
        if format == "parquet":
            return ParquetFile(self._snapshot, side, file, self._layouts).rows
        if format not in ("csv", "jsonl"):
            raise UnreadableFile("is not a Parquet, CSV or JSON lines file, so its rows cannot be counted")
        text = TextFile(self._snapshot, side, file, format, ())
        for _ in text.batches():
            pass
        return text.rows

    def opened(self, file: File) -> ParquetFile | TextFile:
        """A file of the candidate. Raises UnreadableFile."""
        format = format_of(file.path)
        if format == "parquet":
            return ParquetFile(self._snapshot, "candidate", file, self._layouts)
        return TextFile(self._snapshot, "candidate", file, format, self._contract.schema)

    def _parquet(self, file: File, parquet: ParquetFile) -> Iterable[Result]:
        """Results of values, in the order of the contract. Scans of the same row groups read them together."""
        made: list[Scan | Result] = []
        together: dict[tuple[int, ...], list[Scan]] = {}
        for one in self._plan(parquet.columns).values:
            if isinstance(one, Result):
                made.append(one)
            elif groups := _suspects(one, parquet):
                scan = Scan(one.check, one.column, one.test)
                made.append(scan)
                together.setdefault(groups, []).append(scan)
            else:
                made.append(Result("", NAMES[type(one.check)], "passed", one.column.path, rows=parquet.rows, bad=0))
        for groups, scans in together.items():
            for row, batch in parquet.batches([scan.column for scan in scans], groups):
                for scan in scans:
                    scan.add(batch, row)
        return _finished(file, made, parquet.rows)

    def _text(self, file: File, format: str, found: Checked) -> None:
        text = TextFile(self._snapshot, "candidate", file, format, self._contract.schema)
        plan = _Plan(self._contract, text.columns)
        found.results += _finished(file, plan.columns, None)
        made = [one if isinstance(one, Result) else Scan(one.check, one.column, one.test) for one in plan.values]
        for row, batch in text.batches():
            for scan in made:
                if isinstance(scan, Scan):
                    scan.add(batch, row)
        found.rows = text.rows
        found.results += _finished(file, made, text.rows)

    def _plan(self, columns: Mapping[str, ColumnAt]) -> _Plan:
        """The checks of Parquet files with these columns. Cached: most files of a table have the same columns."""
        plan = self._plans.get(id(columns))
        if plan is None or plan.layout is not columns:
            if len(self._plans) > _PLANS_MOST:
                self._plans.clear()
            plan = self._plans[id(columns)] = _Plan(self._contract, columns)
        return plan


class _Value(NamedTuple):
    """A check of values, prepared for a type of column."""

    check: ValueCheck
    column: ColumnAt
    test: Any
    bounds: Bounds | None


class _Plan:
    """The checks of a contract for files with certain columns: known results, and checks of values."""

    def __init__(self, contract: Contract, columns: Mapping[str, ColumnAt]) -> None:
        self.layout = columns
        self.columns = list(column_results(contract, columns))
        self.values = [_prepared(check, columns) for check in contract.checks if isinstance(check, _VALUE_CHECKS)]


def _prepared(check: ValueCheck, columns: Mapping[str, ColumnAt]) -> _Value | Result:
    """A check of values, or the result if the values cannot be checked."""
    column = columns.get(check.column)
    if column is None:
        said = missing(check.column, columns)
    elif column.is_ambiguous:
        said = f"has two columns {check.column!r}"
    elif column.in_list:
        said = f"{check.column!r} is inside of a list, where a row has several values"
    elif isinstance(test := test_of(check, stored(column.type)), str):
        said = f"{check.column!r} {test}"
    else:
        bounds = bounds_of(check.low, check.high, stored(column.type)) if isinstance(check, Range) else None
        return _Value(check, column, test, bounds)
    return Result("", NAMES[type(check)], "refused", check.column, said)


def _finished(file: File, made: Iterable[Scan | Result], rows: int | None) -> list[Result]:
    path = file.path
    return [
        Result._make((path, *one[1:])) if isinstance(one, Result) else result_of(file, one, rows or 0) for one in made
    ]


def _suspects(value: _Value, parquet: ParquetFile) -> tuple[int, ...]:
    """The row groups that the check has to scan."""
    if isinstance(value.check, NotNull):
        return parquet.groups_with_nulls(value.column)
    if value.bounds is not None:
        return parquet.suspects(value.column, value.bounds)
    return tuple(range(parquet.metadata.num_row_groups))


def _of_name(check: Formats | FileSize, file: File) -> Result:
    """The result of a check of the name or the size of a file."""
    if isinstance(check, FileSize):
        name, said = check.name, _size_said(check, file.size)
    else:
        name, found = "formats", format_of(file.path)
        said = "" if found in check.names else f"the format is {found}, not {' or '.join(check.names)}"
    return Result(file.path, name, "refused" if said else "passed", said=said, source="list")


def _size_said(check: FileSize, size: int) -> str:
    if size < check.least:
        return f"has {size:,} bytes, fewer than {check.least:,}"
    if check.most is not None and size > check.most:
        return f"has {size:,} bytes, more than {check.most:,}"
    return ""
