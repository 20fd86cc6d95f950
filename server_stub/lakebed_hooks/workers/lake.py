"""The files that a Python check reads: of the candidate, and of the destination before the change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from lakebed_format.globs import Globs

from lakebed_hooks.reading import READ_MOST, Change, File, Side, Snapshot, prefix_of
from lakebed_hooks.snapshots import FilesSnapshot, FolderSnapshot, opened

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_WILDCARDS: Final = frozenset("*?[")


class ReadOnlyRepo:
    """The files of one side of a change, read-only.

    `lake.base` is the other side: the destination before the change. Methods raise FileNotFoundError for a path without
    a file. For your tests, create one from a folder (`ReadOnlyRepo.of_folder(path)`) or from bytes (`of_files`).
    """

    def __init__(self, snapshot: Snapshot, side: Side = "candidate") -> None:
        self._snapshot = snapshot
        self._side: Side = side

    @classmethod
    def of_folder(cls, path: str | Path, base: str | Path | None = None) -> ReadOnlyRepo:
        """The files of a folder of this machine. `base`: the folder of the destination before the change."""
        return cls(FolderSnapshot(path, base))

    @classmethod
    def of_files(cls, files: Mapping[str, bytes], base: Mapping[str, bytes] | None = None) -> ReadOnlyRepo:
        """Files in memory, as paths and bytes."""
        return cls(FilesSnapshot(files, base))

    @property
    def base(self) -> ReadOnlyRepo:
        """The destination before the change."""
        return ReadOnlyRepo(self._snapshot, "base")

    def files(self, prefix: str = "") -> Iterator[File]:
        """The files whose paths begin with a prefix, in order, as `(path, size)`."""
        return self._snapshot.files(self._side, prefix)

    def list(self, prefix: str = "") -> Sequence[File]:
        """The same as a list."""
        return [*self.files(prefix)]

    def glob(self, pattern: str) -> Iterator[File]:
        """The files that match a pattern such as `orders/**/*.parquet`."""
        globs = Globs([pattern])
        return (file for file in self.files(prefix_of(pattern)) if globs.choose(file.path))

    def changes(self) -> Sequence[Change]:
        """The paths that the change adds, changes and removes, as `(path, kind, size)`."""
        return [*self._snapshot.changes()]

    def read(self, path: str) -> bytes:
        """The content of a file."""
        file = self._file(path)
        parts = range(0, file.size, READ_MOST)
        return b"".join(self._snapshot.read(self._side, path, at, min(READ_MOST, file.size - at)) for at in parts)

    def open(self, path: str) -> IO[bytes]:
        """Open a file for reading and seeking. It reads ahead."""
        return opened(self._snapshot, self._side, self._file(path))

    def read_table(self, path: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read a Parquet, CSV or JSON lines file as a table, or all files of a pattern as one table.

        Columns that a file lacks are null in its rows. Raises ValueError for other formats.
        """
        import pyarrow as pa

        if not _WILDCARDS & set(path):
            return self._table(path, columns)
        tables = [self._table(file.path, columns) for file in self.glob(path)]
        if not tables:
            raise FileNotFoundError(f"no file of the {self._side} matches {path!r}")
        return pa.concat_tables(tables, promote_options="permissive")

    def read_pandas(self, path: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Like `read_table`, as a pandas DataFrame."""
        frame: pd.DataFrame = self.read_table(path, columns).to_pandas()
        return frame

    def _file(self, path: str) -> File:
        for file in self.files(path):
            if file.path == path:
                return file
            break  # the path itself sorts first among the paths with this prefix
        raise FileNotFoundError(f"there is no file {path!r} in the {self._side}")

    def _table(self, path: str, columns: Sequence[str] | None) -> Any:
        from lakebed_hooks.contracts.formats import format_of, read_table

        return read_table(self.open(path), format_of(path), path, columns)
