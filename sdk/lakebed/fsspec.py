"""The file system behind `lakebed://`, for who wants it by name; `fsspec.filesystem("lakebed")` is the same."""

from __future__ import annotations

from lakebed._fsspec.filesystem import LakebedFileSystem, register_lakefs
from lakebed._fsspec.transaction import LakebedTransaction

__all__ = ["LakebedFileSystem", "LakebedTransaction", "register_lakefs"]
