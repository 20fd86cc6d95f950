# Generated from sdk/lakebed/_async/tables/diff.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Differences between two states, as a listing of paths, and row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from lakebed._compat.sync import gather, run_in_thread
from lakebed._gateway.operations import commits
from lakebed._sync.http.pagination import Listing
from lakebed._sync.http.target import Target
from lakebed._sync.objects.interfaces import ObjectReader
from lakebed._sync.tables import scan
from lakebed._tables.compare_results import TableDiff
from lakebed._values.wire import Call
from lakebed.errors import ObjectNotFoundError
from lakebed.model import Change, ObjectInfo, Page, TableDiffPage

if TYPE_CHECKING:
    import pyarrow as pa

Found = list[tuple[str, ObjectInfo]]


class Diff(Listing[Change]):
    """Paths that differ between two states: a listing, and the way to the rows that differ in a table."""

    __module__ = "lakebed"

    def __init__(
        self,
        target: Target,
        page: Callable[[str, int], Call[Page[Change]]],
        title: str,
        sides: tuple[str, str],
        open_ref: Callable[[str], ObjectReader],
        *,
        three_dot: bool = False,
        live: bool = False,
        limit: int | None = None,
    ) -> None:
        super().__init__(target.transport, page, Change.COLUMNS, title, limit=limit)
        self._target = target
        self._sides = sides
        self._open_ref = open_ref
        self._three_dot = three_dot
        self._live = live

    def table(
        self, path: str, *, key: Sequence[str] | str, schema: Literal["same", "unify"] | pa.Schema = "same"
    ) -> TableDiff:
        """The rows of a Parquet file, or of the files under a directory, that were added, removed or changed.

        `key` names the columns that identify a row. Only files that differ are read. Memory holds a part of the rows at
        a time, and the differences. `schema` as of `read_table`, for each state.

        Raises ObjectNotFoundError when neither state has the table, and InvalidRequestError for a key that is null
        somewhere, or the same in two rows.

            found = main.diff(dev).table("orders/", key="id")
            print(found.to_pandas())
        """
        names = (key,) if isinstance(key, str) else tuple(key)
        left, right = self._states()
        found = gather([partial(_files, side, path) for side in (left, right)])
        if not found[0] and not found[1]:
            where = scan.place_of(right._target, path)
            raise ObjectNotFoundError(
                f"diff.table {where}: there is no .parquet file, neither here nor in {left._target.ref}; the diff "
                "lists the paths that differ",
                **where.about("diff.table"),
            )
        sides = _differing(*found)
        size = sum(info.size for side in sides for _, info in side)
        pairs = zip((left, right), sides, strict=True)
        before, after = gather([partial(self._opened, ref, path, files, schema) for ref, files in pairs])
        from lakebed._tables import compare

        with TemporaryDirectory(prefix="lakebed-", ignore_cleanup_errors=True) as local:
            where = scan.place_of(right._target, path)
            return run_in_thread(compare.compare, before, after, names, where, Path(local), size)

    def table_page(
        self,
        path: str,
        *,
        key: Sequence[str] | str,
        change: Literal["added", "removed", "changed"] | None = None,
        offset: int = 0,
        limit: int = 100,
        columns: Sequence[str] = (),
        format: Literal["parquet", "csv", "json", "arrow"] | None = None,
    ) -> TableDiffPage:
        """Return some of the rows that differ, as the server compares them: of a file, or of a folder, ending with `/`.

        For a page of cells, without a large library. `limit` is at most 200. `table` compares tables of any size.

        Raises ObjectNotFoundError when neither state has the table, TableFormatError for a damaged file, and
        InvalidRequestError for a key that does not identify the rows, or when the server would have to read too much
        (`kind` is `table_too_large`).

            page = main.diff(dev).table_page("orders/", key="id", limit=20)
        """
        left, right = self._sides
        asked = commits.table_diff_page(
            self._target.repository,
            left,
            f"{right}$" if self._live else right,
            path,
            (key,) if isinstance(key, str) else tuple(key),
            {"type": None if self._three_dot else "two_dot", "change": change, "format": format},
            offset=offset,
            limit=limit,
            columns=list(columns),
        )
        return self._target.transport.call(asked)

    def _states(self) -> tuple[ObjectReader, ObjectReader]:
        """The two states, as refs that stay: what is committed is read by its commits' ids."""
        repository, transport = self._target.repository, self._target.transport
        left, right = self._sides
        if not self._live:
            right = (transport.call(commits.get(repository, right))).id
        if self._three_dot:
            base = transport.call(commits.merge_base(repository, left, right))
        else:
            base = (transport.call(commits.get(repository, left))).id
        return self._open_ref(base), self._open_ref(right)

    def _opened(self, ref: ObjectReader, path: str, files: Found, schema: Any) -> Any:
        if not files:
            return None
        from lakebed._tables import reading

        options = reading.ReadOptions(schema=schema, operation="diff.table")
        return scan.Scan(ref, path, options)._opened(files)


def _files(ref: ObjectReader, path: str) -> Found:
    try:
        return scan.files_of(ref, path, "parquet", "diff.table")
    except ObjectNotFoundError:
        return []


def _differing(left: Found, right: Found) -> tuple[Found, Found]:
    """Without files that both states have: their rows are the same. One is kept where a side would lose its schema."""
    marks = [{(place, info.checksum, info.size) for place, info in side} for side in (left, right)]
    same = marks[0] & marks[1]
    if len(same) == len(marks[0]) == len(marks[1]):
        return left[:1], right[:1]
    kept = [[one for one in side if (one[0], one[1].checksum, one[1].size) not in same] for side in (left, right)]
    if (kept[0] and kept[1]) or not left or not right:
        return kept[0], kept[1]
    common = next(one for one in left if (one[0], one[1].checksum, one[1].size) in same)
    return [*kept[0], common], [*kept[1], common]
