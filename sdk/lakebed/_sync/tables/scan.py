# Generated from sdk/lakebed/_async/tables/scan.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""A table that is read piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from lakebed._bulk import progress_bar as render_progress
from lakebed._compat.sync import ArrowStream, blocking, off_loop, run_in_thread
from lakebed._sync.http.target import Target
from lakebed._sync.objects.download import read_buffer
from lakebed._sync.objects.interfaces import ObjectReader
from lakebed._sync.objects.shared_directory import shared_directory
from lakebed._tables.location import Place
from lakebed.errors import ObjectNotFoundError
from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from lakebed._tables.reading import Opened, ReadOptions

ENDINGS = {
    "parquet": (".parquet", ".parq"),
    "csv": (".csv",),
    "json": (".json", ".jsonl", ".ndjson"),
    "feather": (".feather", ".arrow"),
}


class Scan(ArrowStream):
    """A table to be read. It fetches data only on demand. `ref.scan_table()` makes one.

    Iteration yields Arrow record batches, in bounded memory. With the sync API, Polars, DuckDB and pyarrow accept a
    scan as a table of their own (`polars.from_arrow(scan)`).
    """

    __module__ = "lakebed"

    def __init__(
        self, ref: ObjectReader, path: str, options: ReadOptions, progress: render_progress.Given = None
    ) -> None:
        self._ref = ref
        self._path = path
        self._options = options
        self._progress = progress

    def __repr__(self) -> str:
        return f"<Scan {place_of(self._ref._target, self._path)}>"

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        opened = self._open(whole=True)
        batches = opened.batches()
        try:
            while (batch := run_in_thread(next, batches, None)) is not None:
                yield batch
        finally:
            with suppress(ValueError):  # cancelled while a thread is in it
                run_in_thread(batches.close)

    def schema(self) -> pa.Schema:
        """Return the columns that are read, with their types.

        Example:

            print(main.scan_table("orders/").schema())
        """
        return (self._open()).shown

    def count_rows(self) -> int:
        """Return the number of rows. Without filters it reads only footers.

        Example:

            rows = main.scan_table("orders/").count_rows()
        """
        return run_in_thread((self._open()).count_rows)

    def to_table(self) -> pa.Table:
        """Read everything into an Arrow table.

        Example:

            table = main.scan_table("orders/").to_table()
        """
        with render_progress.counting(f"read {self._path}", self._progress) as tally:
            return run_in_thread((self._open(tally.moved, whole=True)).to_table)

    def to_pandas(self) -> pd.DataFrame:
        """Read everything into a DataFrame.

        Example:

            frame = main.scan_table("orders/", columns=["id"]).to_pandas()
        """
        from lakebed._tables import frames

        return run_in_thread(frames.to_pandas, self.to_table())

    def to_reader(self) -> pa.RecordBatchReader:
        """Return a pyarrow RecordBatchReader. With the async API, read it in another thread.

        Example:

            for batch in main.scan_table("orders/").to_reader():
                print(batch.num_rows)
        """
        import pyarrow as pa

        opened = self._open(whole=True)
        return pa.RecordBatchReader.from_batches(opened.shown, off_loop(opened.batches()))

    def _open(self, moved: Any = None, *, whole: bool = False) -> Opened:
        self._options.check()
        files = files_of(self._ref, self._path, self._options.format, self._options.operation)
        return self._opened(files, moved, whole=whole)

    def _opened(self, found: Sequence[tuple[str, ObjectInfo]], moved: Any = None, *, whole: bool = False) -> Opened:
        """Open known files. `whole`: the caller will read rows, not only the number of rows in the footers."""
        from lakebed._tables import reading
        from lakebed._tables.ranged_read import SMALL, SMALL_IF_WANTED, Ranged

        ref, place = self._ref, place_of(self._ref._target, self._path)
        shared = shared_directory(ref._target)
        small = SMALL_IF_WANTED if whole and self._options.columns is None and self._options.filters is None else SMALL
        ranged = Ranged(blocking(partial(_read_at, ref, moved)), small=small)
        files = [
            reading.File(info.path, below, partial(ranged.open, info), shared.find(info.physical_address, info.size))
            for below, info in found
        ]
        return run_in_thread(reading.Opened, place, files, self._options)


def _read_at(ref: ObjectReader, moved: Any, path: str, start: int, length: int, checksum: str) -> Any:
    return read_buffer(ref._download(path, start, length, checksum), length, moved)


def place_of(target: Target, path: str) -> Place:
    """Return the location for errors."""
    return Place(target.repository, target.ref, path)


def folder_of(path: str) -> str:
    """`orders` and `orders/` -> `orders/`; all of the ref stays empty."""
    return path if not path or path.endswith("/") else path + "/"


def is_data(place: str, endings: tuple[str, ...]) -> bool:
    """Whether a file below a table's path is one of its data files: hidden ones are not, `_a=1/` is a partition."""
    hidden = any(part.startswith(("_", ".")) and "=" not in part for part in place.split("/"))
    return place.endswith(endings) and not hidden


def files_of(ref: ObjectReader, path: str, kind: str, operation: str) -> list[tuple[str, ObjectInfo]]:
    """The files of a table, each with its place below the table's path. Raises ObjectNotFoundError for none."""
    if path and not path.endswith("/"):
        try:
            info = ref.stat(path)
        except ObjectNotFoundError:
            pass
        else:
            return [(path.rpartition("/")[2], info)]
    folder, endings = folder_of(path), ENDINGS[kind]
    found = []
    others = 0
    for row in ref.list(folder):
        below = row.path[len(folder) :]
        if isinstance(row, ObjectInfo) and is_data(below, endings):
            found.append((below, row))
        else:
            others += 1
    if not found:
        there = f"the {others} objects under it are of another kind" if others else "nothing is under it"
        where = place_of(ref._target, path)
        raise ObjectNotFoundError(
            f"{operation} {where}: there is no such object, and no {endings[0]} file: {there}; "
            f"`list({folder.rpartition('/')[0].rpartition('/')[0]!r})` shows what is there",
            **where.about(operation),
        )
    return found
