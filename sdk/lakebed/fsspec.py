"""The file system behind `lakebed://`, for who wants it by name; `fsspec.filesystem("lakebed")` is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fsspec

from lakebed._fsspec.filesystem import LakebedFileSystem, register_lakefs
from lakebed._fsspec.transaction import LakebedTransaction

if TYPE_CHECKING:
    from pyarrow.fs import PyFileSystem

__all__ = ["LakebedFileSystem", "LakebedTransaction", "arrow_filesystem", "register_lakefs"]


def arrow_filesystem(fs: LakebedFileSystem | None = None) -> PyFileSystem:
    """A file system of pyarrow's, for one data set: the data set keeps to the files that it was made of.

    pyarrow opens the files of a data set by name whenever it is read. Over this file system it opens the objects that
    it has listed, and a file takes one request less. Raises PreconditionFailedError when a file was replaced and the
    old one can no longer be read. `fs` is `fsspec.filesystem("lakebed")` by default.
    """
    from lakebed._fsspec import arrow

    return arrow.arrow_filesystem(fsspec.filesystem("lakebed") if fs is None else fs)
