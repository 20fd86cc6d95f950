"""The checks of one file: what its name, size, footer and columns say, and a scan of the values where needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from lakebed_format.globs import Globs

from lakebed_hooks.contracts.bounds import bounds_of
from lakebed_hooks.contracts.column_types import stored
from lakebed_hooks.contracts.columns import ColumnAt, missing
from lakebed_hooks.contracts.footers import Layouts, ParquetFile, UnreadableFile
from lakebed_hooks.contracts.formats import format_of
from lakebed_hooks.contracts.report import BadValue, Result
from lakebed_hooks.contracts.scans import NAMES, Scan, ValueCheck, test_of
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
        self._values = [check for check in contract.checks if isinstance(check, _VALUE_CHECKS)]
        self._reads = bool(contract.schema) or any(
            isinstance(check, (*_VALUE_CHECKS, ForbidColumns, Unique, Rows)) for check in contract.checks
        )

    def check(self, file: File) -> Checked:
        """Check a file of the candidate."""
        found = Checked(list(self._by_name(file)))
        if not self._reads:
            return found
        try:
            format = format_of(file.path)
            if format == "parquet":
                parquet = ParquetFile(self._snapshot, "candidate", file, self._layouts)
                found.rows = parquet.rows
                found.results += self._columns(file, parquet.columns)
                found.results += self._parquet(file, parquet)
            elif format in ("csv", "jsonl"):
                self._text(file, format, found)
            else:
                raise UnreadableFile("is no Parquet, CSV or JSON lines file, so its columns cannot be checked")
        except UnreadableFile as error:
            found.results.append(Result(file.path, "readable", "refused", said=str(error)))
        return found

    def rows(self, side: Side, file: File) -> int:
        """The rows of a file that is not checked. Raises UnreadableFile."""
        format = format_of(file.path)
        if format == "parquet":
            return ParquetFile(self._snapshot, side, file, self._layouts).rows
        if format not in ("csv", "jsonl"):
            raise UnreadableFile("is no Parquet, CSV or JSON lines file, so its rows cannot be counted")
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

    def _by_name(self, file: File) -> Iterator[Result]:
        for check in self._contract.checks:
            if isinstance(check, Formats):
                found = format_of(file.path)
                said = "" if found in check.names else f"the format is {found}, not {' or '.join(check.names)}"
                yield Result(file.path, "formats", "refused" if said else "passed", said=said, source="list")
            elif isinstance(check, FileSize):
                said = _size_said(check, file.size)
                yield Result(file.path, check.name, "refused" if said else "passed", said=said, source="list")

    def _columns(self, file: File, columns: Mapping[str, ColumnAt]) -> Iterator[Result]:
        """Results of the schema and of forbidden columns."""
        if self._contract.schema:
            wrong = list(self._schema(columns))
            for name, said in wrong:
                yield Result(file.path, "schema", "refused", name, said)
            if not wrong:
                yield Result(file.path, "schema", "passed")
        for check in self._contract.checks:
            if isinstance(check, ForbidColumns):
                globs = Globs([pattern.lower() for pattern in check.patterns])
                bad = [path for path in columns if globs.choose(path.replace(".", "/").lower())]
                said = f"has the forbidden column{'s' if len(bad) > 1 else ''} {', '.join(map(repr, bad[:5]))}"
                values = [BadValue(None, path) for path in bad[:10]]
                state = ("refused", said) if bad else ("passed", "")
                yield Result(file.path, "forbid_columns", state[0], "", state[1], bad=len(bad), values=values)  # type: ignore[arg-type]

    def _schema(self, columns: Mapping[str, ColumnAt]) -> Iterator[tuple[str, str]]:
        known = {column.name for column in self._contract.schema}
        for column in self._contract.schema:
            found = columns.get(column.name)
            if found is None:
                yield column.name, missing(column.name, columns)
            elif found.is_ambiguous:
                yield column.name, f"has two columns {column.name!r}"
            elif column.type is not None and not column.type.fits(found.type):
                yield column.name, f"{column.name!r} is {stored(found.type)}, not {column.type}"
        if not self._contract.additional:
            for path, found in columns.items():
                if len(found.names) == 1 and path not in known and not any(one.startswith(f"{path}.") for one in known):
                    yield path, f"has the column {path!r}, which the schema does not name"

    def _parquet(self, file: File, parquet: ParquetFile) -> Iterable[Result]:
        """Results of values, in the order of the contract. Scans of the same row groups read them together."""
        made = [self._prepared(file, check, parquet.columns) for check in self._values]
        together: dict[tuple[int, ...], list[Scan]] = {}
        for scan in made:
            if isinstance(scan, Scan) and (groups := _suspects(scan.check, scan.column, parquet)):
                scan.scanned = True
                together.setdefault(groups, []).append(scan)
        for groups, scans in together.items():
            for row, batch in parquet.batches([scan.column for scan in scans], groups):
                for scan in scans:
                    scan.add(batch, row)
        return (result_of(file, one, parquet.rows) if isinstance(one, Scan) else one for one in made)

    def _text(self, file: File, format: str, found: Checked) -> None:
        text = TextFile(self._snapshot, "candidate", file, format, self._contract.schema)
        found.results += self._columns(file, text.columns)
        made = [self._prepared(file, check, text.columns) for check in self._values]
        for row, batch in text.batches():
            for scan in made:
                if isinstance(scan, Scan):
                    scan.scanned = True
                    scan.add(batch, row)
        found.rows = text.rows
        found.results += [result_of(file, one, text.rows) if isinstance(one, Scan) else one for one in made]

    def _prepared(self, file: File, check: ValueCheck, columns: Mapping[str, ColumnAt]) -> Scan | Result:
        """The scan of a check, or the result where there can be none."""
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
            return Scan(check, column, test)
        return Result(file.path, NAMES[type(check)], "refused", check.column, said)


def result_of(file: File, scan: Scan, rows: int) -> Result:
    """The result of a scan. `rows`: of the file."""
    name = NAMES[type(scan.check)]
    if not scan.bad:
        source: Literal["scan", "footer"] = "scan" if scan.scanned else "footer"
        return Result(file.path, name, "passed", scan.column.path, rows=rows, bad=0, source=source)
    first = scan.values[0]
    value = "" if isinstance(scan.check, NotNull | NotNan) else f", which is {first.value!s:.60}"
    what = {NotNull: "null", NotNan: "NaN", Accepted: "not accepted"}.get(type(scan.check)) or _range_said(scan.check)
    number = "1 value" if scan.bad == 1 else f"{scan.bad:,} values"
    said = f"{number} of {scan.column.path!r} {'is' if scan.bad == 1 else 'are'} {what}, the first in row {first.row}"
    return Result(
        file.path, name, "refused", scan.column.path, said + value, rows, scan.bad, tuple(scan.values), "scan"
    )


def _range_said(check: Any) -> str:
    low, high = ("any" if one is None else one for one in (check.low, check.high))
    return f"outside of {low} to {high}"


def _suspects(check: ValueCheck, column: ColumnAt, parquet: ParquetFile) -> tuple[int, ...]:
    """The row groups that the check has to scan."""
    every = tuple(range(parquet.metadata.num_row_groups))
    if isinstance(check, NotNull):
        return parquet.groups_with_nulls(column)
    if isinstance(check, Range):
        bounds = bounds_of(check.low, check.high, stored(column.type))
        return every if bounds is None else parquet.suspects(column, bounds)
    return every


def _size_said(check: FileSize, size: int) -> str:
    if size < check.least:
        return f"has {size:,} bytes, fewer than {check.least:,}"
    if check.most is not None and size > check.most:
        return f"has {size:,} bytes, more than {check.most:,}"
    return ""
