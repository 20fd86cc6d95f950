"""Two streams of sorted tables, side by side: the rows of both up to a path, window by window. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc


class Side:
    """Sorted tables that are taken up to a path."""

    def __init__(self, tables: Iterable[pa.Table]) -> None:
        self._tables = iter(tables)
        self._rows: pa.Table | None = None

    def fill(self) -> str | None:
        """The last path that is at hand; None at the end."""
        while self._rows is None or not self._rows.num_rows:
            self._rows = next(self._tables, None)
            if self._rows is None:
                return None
        return str(self._rows["path"][-1].as_py())

    def take(self, cut: str) -> pa.Table | None:
        """The rows up to and with `cut`."""
        if self._rows is None:
            return None
        count = int(pc.sum(pc.less_equal(self._rows["path"], cut)).as_py() or 0)
        taken, self._rows = self._rows.slice(0, count), self._rows.slice(count)
        return taken if taken.num_rows else None


def windows(one: Iterable[pa.Table], other: Iterable[pa.Table]) -> Iterator[tuple[pa.Table | None, pa.Table | None]]:
    """All rows of both, each path in one window. Memory is about a table of each."""
    left, right = Side(one), Side(other)
    while True:
        ends = [end for side in (left, right) if (end := side.fill()) is not None]
        if not ends:
            return
        cut = min(ends)
        yield left.take(cut), right.take(cut)
