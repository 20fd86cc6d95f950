"""Answers on standard output: for people as lines, with `--json` as one JSON document.

Lists are printed as they arrive, so that a million rows need no memory and `| head` ends early.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Generic, TypeVar

from lakebed.cli.app import App

T = TypeVar("T")

# What would move a terminal's cursor, break a line, or reverse the reading order.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def shown(text: str) -> str:
    """A path or message on one line, with nothing in it that a terminal would obey. JSON is never touched."""
    return _UNSHOWN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def record(row: Any) -> dict[str, Any]:
    """A row of the SDK as JSON values, under the names that `to_pandas` has."""
    values = {name: getattr(row, name, None) for name, _ in row.COLUMNS}
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if hasattr(value, "items") else value


def dumps(value: Any, indent: int | None = 2) -> str:
    """JSON that this standard output can carry."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not utf8, indent=indent)


def say(app: App, line: str, value: dict[str, Any]) -> None:
    """One answer: a line that confirms what was done (not when quiet), or its JSON."""
    if app.as_json:
        sys.stdout.write(dumps(value) + "\n")
    elif not app.quiet:
        sys.stdout.write(line + "\n")


def show(app: App, text: str, value: Any) -> None:
    """One answer that was asked for: its text, or its JSON."""
    sys.stdout.write((dumps(value) if app.as_json else text) + "\n")


class Rows(Generic[T]):
    """A list that is printed row by row: a line for each, or a JSON array."""

    def __init__(self, app: App, line: Callable[[T], str], to_record: Callable[[T], Any] = record) -> None:
        self._app = app
        self._line = line
        self._record = to_record
        self.count = 0

    def add(self, row: T) -> None:
        """Print one row."""
        self.count += 1
        if self._app.as_json:
            begin = "[\n" if self.count == 1 else ",\n"
            sys.stdout.write(begin + "  " + dumps(self._record(row), indent=None))
        else:
            sys.stdout.write(self._line(row) + "\n")

    def end(self) -> None:
        """Print the end of the list."""
        if self._app.as_json:
            sys.stdout.write("\n]\n" if self.count else "[]\n")


def rows(
    app: App,
    found: Iterable[T],
    line: Callable[[T], str],
    to_record: Callable[[T], Any] = record,
) -> int:
    """A list: a line for each row, a JSON array, or in a notebook a table. Returns how many there were."""
    if app.shows_html:
        return _html_rows(app, found, line)
    printed = Rows(app, line, to_record)
    for row in found:
        printed.add(row)
    printed.end()
    return printed.count


_HTML_ROWS = 200


def _html_rows(app: App, found: Iterable[T], line: Callable[[T], str]) -> int:
    from lakebed._render import html

    assert app.html is not None
    shown = list(islice(found, _HTML_ROWS + 1))
    more, kept = len(shown) > _HTML_ROWS, shown[:_HTML_ROWS]
    lines = [line(row) for row in kept]  # the caller may count in it
    columns = getattr(kept[0], "COLUMNS", ()) if kept else ()
    if columns:
        app.html.append(html.rows("", kept, columns, more=more))
    elif lines:
        sys.stdout.write("\n".join(lines) + "\n")
    return len(kept)


def note(app: App, text: str) -> None:
    """A remark about the result, on standard error; not when quiet."""
    if not app.quiet:
        sys.stderr.write(text + "\n")


def advise(app: App, text: str) -> None:
    """A remark about an error, on standard error; not with `--json`, where the error is the whole document."""
    if not app.as_json:
        note(app, text)


def table(pairs: Iterable[tuple[str, str]]) -> str:
    """Keys and values in two columns."""
    found = [(key, value) for key, value in pairs if value]
    width = max((len(key) for key, _ in found), default=0)
    return "\n".join(f"{key:<{width}}  {value}" for key, value in found)


def when(moment: datetime) -> str:
    """A time for people, in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def when_ns(moment: int) -> str:
    """A time in Unix nanoseconds for people."""
    return when(datetime.fromtimestamp(moment / 1e9, UTC))


def size_text(size: float) -> str:
    """Bytes for people. Example: 1536 is `1.5 kB`, counted in thousands as storage is sold."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def count_text(count: int, noun: str) -> str:
    """Example: `1 object`, `2 objects`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "es" if noun.endswith(("ch", "s")) else "s")
