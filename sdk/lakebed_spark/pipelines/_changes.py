"""The differences between listed objects and the entries below a prefix, window by window. Pure.

The rules are those of the server's own ingest (docs/ingest.md), column by column. Both sides arrive in order of path,
and memory holds about a batch of each.

A merge join reads two streams of sorted tables side by side: the rows of both up to a path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lakebed.errors import InvalidRequestError
from lakebed_format.globs import GlobError, Globs

LAYER = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("physical_address", pa.string()),
        pa.field("checksum", pa.string()),
        pa.field("size_bytes", pa.int64()),
        pa.field("mtime", pa.int64()),
        pa.field("deleted", pa.bool_()),
    ]
)
"""The columns that `pushLayer` takes."""

MOST_BYTES = 1024


@attrs.frozen
class Counts:
    """Numbers of objects and paths, as an ingest reports them."""

    listed: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    waiting: int = 0
    ignored: int = 0

    def plus(self, other: Counts) -> Counts:
        """Return the sum of both."""
        names = attrs.asdict(self)
        return Counts(**{name: value + getattr(other, name) for name, value in names.items()})

    @property
    def changes(self) -> int:
        """The number of paths that will change."""
        return self.added + self.changed + self.removed


@attrs.frozen
class Rules:
    """The rules for objects. Objects written after `until` (Unix seconds) wait. `prefix` is a folder, or empty."""

    address: str
    prefix: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    until: float | None = None
    removals: bool = True


def deltas(
    listed: Iterable[pa.Table],
    base: Iterable[pa.Table],
    rules: Rules,
    stopped: Callable[[], str | None] = lambda: None,
) -> Iterator[tuple[pa.Table, Counts]]:
    """Return rows of LAYER, in order, that make the entries show the objects, and their counts.

    `listed` are tables of `_sources.LISTED`. `base` has path, checksum and size_bytes. When the listing ends before its
    span, `stopped` returns the last path that counts.
    """
    chooses = _Globs(rules)
    source, there = Side(_placed(rows, rules.prefix) for rows in listed), Side(base)
    while True:
        first, other = source.fill(), there.fill()
        ends = [end for end in (first, other) if end is not None]
        if not ends:
            return
        stop = stopped() if first is None else None
        cut = min(ends) if stop is None else min(*ends, stop)
        yield _compared(source.take(cut), there.take(cut), rules, chooses)
        if cut == stop:
            return


def _placed(rows: pa.Table, prefix: str) -> pa.Table:
    keys = rows["key"]
    return rows.append_column("path", pc.binary_join_element_wise(prefix, keys, "") if prefix else keys)


def _compared(new: pa.Table | None, old: pa.Table | None, rules: Rules, globs: _Globs) -> tuple[pa.Table, Counts]:
    removed = _removed(new, old, rules, globs)
    if new is None:
        return _tombstones(removed), Counts(removed=len(removed))
    taken = globs.mask(new["path"])
    waits = taken & _younger(new, rules.until)
    known = np.zeros(new.num_rows, dtype=bool)
    same = np.zeros(new.num_rows, dtype=bool)
    if old is not None:
        at = pc.index_in(new["path"], value_set=_flat(old["path"])).combine_chunks()
        known = pc.is_valid(at).to_numpy(zero_copy_only=False)
        same = _same(new, old.take(at)).to_numpy(zero_copy_only=False) & known
    open_ = taken & ~waits
    rows = _puts(new.filter(pa.array(open_ & ~same)), rules)
    counts = Counts(
        listed=new.num_rows,
        added=int((open_ & ~known).sum()),
        changed=int((open_ & known & ~same).sum()),
        removed=len(removed),
        unchanged=int((open_ & same).sum()),
        waiting=int(waits.sum()),
        ignored=int((~taken).sum()),
    )
    if not len(removed):
        return rows, counts
    both = pa.concat_tables([rows, _tombstones(removed)])
    return both.take(pc.sort_indices(both["path"])), counts


def _removed(new: pa.Table | None, old: pa.Table | None, rules: Rules, globs: _Globs) -> Any:
    if old is None or not rules.removals:
        return pa.array([], pa.string())
    gone = _flat(old["path"])
    if new is not None:
        gone = gone.filter(pc.invert(pc.is_in(gone, value_set=_flat(new["path"]))))
    return gone.filter(pa.array(globs.mask(gone)))


def _same(new: pa.Table, old: pa.Table) -> Any:
    """Equal size, and the version as the checksum: with `etag:`, or without it, as uploads through Lakebed have it."""
    version, checksum = _flat(new["version"]), _flat(old["checksum"])
    bare = pc.replace_substring_regex(version, "^etag:", "")
    equal = pc.or_(pc.equal(checksum, version), pc.equal(checksum, bare))
    return pc.and_(equal, pc.equal(_flat(new["size"]), _flat(old["size_bytes"]))).fill_null(False)


def _younger(new: pa.Table, until: float | None) -> Any:
    if until is None:
        return np.zeros(new.num_rows, dtype=bool)
    return pc.greater(_flat(new["mtime"]), until).to_numpy(zero_copy_only=False)


def _puts(new: pa.Table, rules: Rules) -> pa.Table:
    paths = _flat(new["path"])
    long = pc.greater(pc.binary_length(paths), MOST_BYTES)
    if pc.any(long).as_py():
        raise InvalidRequestError(
            f"path {paths[pc.index(long, True).as_py()].as_py()[:200]!r} has more than {MOST_BYTES:,} bytes: skip it "
            "with exclude"
        )
    columns = [
        paths,
        pc.binary_join_element_wise(rules.address, _flat(new["key"]), ""),
        _flat(new["version"]),
        _flat(new["size"]),
        pc.floor(_flat(new["mtime"])).cast(pa.int64()),
        pa.array(np.zeros(new.num_rows, dtype=bool)),
    ]
    return pa.table(columns, schema=LAYER)


def _tombstones(paths: Any) -> pa.Table:
    count = len(paths)
    nothing = [pa.nulls(count, field.type) for field in LAYER][1:-1]
    return pa.table([paths, *nothing, pa.array(np.ones(count, dtype=bool))], schema=LAYER)


def _flat(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


class _Globs:
    """The chosen paths: globs as in a .gitignore file, over the path after the prefix. `exclude` wins."""

    def __init__(self, rules: Rules) -> None:
        self._cut = len(rules.prefix)
        try:
            self._include, self._exclude = Globs(rules.include), Globs(rules.exclude)
        except GlobError as error:
            raise InvalidRequestError(str(error)) from None

    def mask(self, paths: Any) -> Any:
        """Return for each path whether it is chosen."""
        if not self._include.globs and not self._exclude.globs:
            return np.ones(len(paths), dtype=bool)
        return np.fromiter((self._takes(path[self._cut :]) for path in paths.to_pylist()), bool, len(paths))

    def _takes(self, name: str) -> bool:
        return not self._exclude.choose(name) and (not self._include.globs or self._include.choose(name))


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
