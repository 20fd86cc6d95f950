"""The file system of `lakebed://`, for imports by name. `fsspec.filesystem("lakebed")` returns the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fsspec

from lakebed._fsspec.filesystem import LakebedFileSystem, register_lakefs
from lakebed._fsspec.transaction import LakebedTransaction

if TYPE_CHECKING:
    from pyarrow.fs import PyFileSystem

__all__ = ["LakebedFileSystem", "LakebedTransaction", "arrow_filesystem", "register_lakefs"]


def arrow_filesystem(fs: LakebedFileSystem | None = None) -> PyFileSystem:
    """Return a file system of pyarrow for one data set. The data set keeps to the files that it has listed.

    pyarrow opens the files of a data set by name at each read. This file system opens exactly the listed objects, with
    one request less for each file. `fs` is `fsspec.filesystem("lakebed")` by default.

    Raises PreconditionFailedError when a file was replaced and its old version can no longer be read.
    """
    from lakebed._fsspec import arrow

    return arrow.arrow_filesystem(fsspec.filesystem("lakebed") if fs is None else fs)
