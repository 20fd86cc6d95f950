"""The results of a contract: one for each file and check, and the resulting outcome."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from lakebed_hooks.vocabulary import Outcome

VALUES_MOST: Final = 10
_ROWS_MOST: Final = 500
"""Maximum number of stored results of each state. All are counted."""

_LONGEST: Final = 200


class BadValue(NamedTuple):
    """A value that breaks a check. `row`: its number in the file, from 0 on. None: unknown, as in a footer."""

    row: int | None
    value: Any


class Result(NamedTuple):
    """The result of one check of one file. `file`: empty for a check of all files of the path.

    `said`: the end of a sentence that begins with the file. `bad`: the number of values that break the check, if known.
    """

    file: str
    check: str
    state: Literal["passed", "refused"]
    column: str = ""
    said: str = ""
    rows: int | None = None
    bad: int | None = None
    values: Sequence[BadValue] = ()
    source: Literal["list", "footer", "scan"] = "footer"

    def as_dict(self) -> Mapping[str, Any]:
        """The result as JSON."""
        return {
            "file": self.file,
            "check": self.check,
            "column": self.column,
            "state": self.state,
            "message": self.said,
            "rows": self.rows,
            "bad": self.bad,
            "values": [{"row": one.row, "value": shown(one.value)} for one in self.values],
            "source": self.source,
        }

    def sentence(self) -> str:
        """The result for a reader."""
        place = f"{self.file}: " if self.file else ""
        name = f"{self.check}({self.column})" if self.column else self.check
        return f"{place}{name} {self.state}" + (f": {self.said}" if self.said else "")


@dataclass(slots=True)
class Report:
    """All results of a contract."""

    path: str
    files: int = 0
    """Files that were checked."""
    refused: list[Result] = field(default_factory=list)
    passed: list[Result] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"passed": 0, "refused": 0})
    bad_files: set[str] = field(default_factory=set)

    def add(self, results: Iterable[Result]) -> None:
        """Add the results of one file, or of one check of all files."""
        for result in results:
            self.counts[result.state] += 1
            kept = self.refused if result.state == "refused" else self.passed
            if len(kept) < _ROWS_MOST:
                kept.append(result)
            if result.state == "refused" and result.file:
                self.bad_files.add(result.file)

    def outcome(self) -> Outcome:
        """The outcome of the hook. Its details begin with the failed results."""
        details = [one.as_dict() for one in (*self.refused, *self.passed)]
        left = self.counts["refused"] + self.counts["passed"] - len(details)
        if left:
            details.append({"check": "more", "state": "passed", "message": f"{left:,} more results are not listed"})
        if not self.refused:
            return Outcome("passed", "", details)
        first = self.refused[0]
        more = self.counts["refused"] - 1
        return Outcome(
            "refused",
            f"the contract for {self.path!r} is broken: {first.sentence()}"
            + (f" (and {more:,} more results in {len(self.bad_files):,} files)" if more else ""),
            details,
        )

    def lines(self) -> Iterable[str]:
        """The report as a log."""
        yield f"contract for {self.path}: {self.files:,} files checked"
        yield f"{self.counts['passed']:,} results passed, {self.counts['refused']:,} refused"
        for one in self.refused:
            yield one.sentence()
            for bad in one.values:
                yield f"  row {'?' if bad.row is None else bad.row}: {shown(bad.value)}"


def shown(value: Any) -> Any:
    """A value as JSON: a number, a boolean, a short text or None."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        value = value[:_LONGEST].hex()
    if isinstance(value, datetime.date | datetime.datetime | datetime.time):
        value = value.isoformat()
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
