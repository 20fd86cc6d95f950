"""The pyarrow file system over `LakebedFileSystem`. It opens a file in one step. A data set reads only the objects that
it has listed.

A data set of pyarrow lists a directory once, remembers the footers of its files, and opens the files by name at each
read. The footer of one file does not fit another (docs/decisions/0028). So this file system opens exactly the objects
that were listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

import pyarrow as pa
import pyarrow.fs as pafs

from lakebed._fsspec.filesystem import LakebedFileSystem
from lakebed._fsspec.paths import Row

MOST: Final = 100_000
"""Maximum number of remembered files of a listing. Other files are opened in their current version."""


class Handler(pafs.FSSpecHandler):  # type: ignore[misc]
    """The methods that pyarrow calls. Each data set needs its own handler, because a handler remembers only the last
    listing.
    """

    def __init__(self, fs: LakebedFileSystem) -> None:
        super().__init__(fs)
        self._listed: Mapping[str, Row] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return Handler, (self.fs,)  # without the listing, which can be large: another process opens by name

    def get_file_info_selector(self, selector: Any) -> list[Any]:
        """List a directory, and remember the objects of its files."""
        depth = None if selector.recursive else 1
        base = selector.base_dir.strip("/")
        rows: dict[str, Row] = self.fs.find(base, maxdepth=depth, withdirs=True, detail=True)
        own = rows.pop(base, None)
        if own is not None and own["type"] == "file":
            raise NotADirectoryError(selector.base_dir)
        if not rows and own is None and not self.fs.isdir(base):
            if selector.allow_not_found:
                return []
            raise FileNotFoundError(selector.base_dir)
        self._listed = dict(islice(((name, row) for name, row in rows.items() if row["type"] == "file"), MOST))
        return [self._create_file_info(name, row) for name, row in rows.items()]

    def open_input_file(self, path: str) -> pa.PythonFile:
        """Open a file for random access. Raises FileNotFoundError, and PreconditionFailedError for a replaced one."""
        row = self._listed.get(path)
        opened = {} if row is None else {"opened": self.fs._open_listed(path, row)}
        return pa.PythonFile(self.fs.open(path, mode="rb", **opened), mode="r")

    open_input_stream = open_input_file


def arrow_filesystem(fs: LakebedFileSystem) -> pafs.PyFileSystem:
    """Return a file system of pyarrow over `fs`."""
    return pafs.PyFileSystem(Handler(fs))
