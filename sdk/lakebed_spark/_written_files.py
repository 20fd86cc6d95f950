"""Finds what Spark has written below a prefix, checksums it, makes it durable, and returns objects to register.

In a bucket the store reports sizes and ETags. Spark's own files (`_temporary`, `_SUCCESS`, `.crc`) are left out.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from lakebed._integration.values import Directory, Written
from lakebed.errors import CorruptTransferError
from lakebed.model import ObjectInfo

from lakebed_spark._session import java, shown
from lakebed_spark._tables.formats import is_hidden

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_THREADS = 2
_TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".csv": "text/csv",
    ".json": "application/json",
    ".txt": "text/plain",
    ".xml": "application/xml",
}


@attrs.frozen
class OutputFolder:
    """The folder of one write in a workspace. `key` is relative to the workspace prefix and ends in a slash."""

    uri: str
    """The URI that Spark writes to, without a slash at its end."""

    prefix: str
    """The prefix of the workspace, as addresses begin."""

    key: str
    folder: str
    """The folder of the table, in the ref."""

    directory: str = ""
    """The directory of the workspace, if this machine has it."""

    def info(self, name: str, checksum: str, size: int) -> ObjectInfo:
        """Return the object for a file below `uri`."""
        return ObjectInfo(
            path=self.folder + name,
            size=size,
            checksum=checksum,
            mtime=datetime.now(UTC),
            content_type=_TYPES.get(os.path.splitext(name)[1], "application/octet-stream"),
            physical_address=f"{self.prefix}{self.key}{self.folder}{name}",
        )

    def written(self, spark: SparkSession, options: Mapping[str, Any]) -> list[ObjectInfo]:
        """Return the files, in the order of their paths. Files of a directory are durable. Raises OSError.

        The file system settings (`fs.`) among the writer's `options` apply to the listing too.
        """
        rows = self._in_directory() if self.directory else [*self._in_bucket(spark, options)]
        return sorted(rows, key=lambda row: row.path)

    def _in_directory(self) -> list[ObjectInfo]:
        top = os.path.join(self.directory, self.key, self.folder)
        names = [*_files(top)]
        with ThreadPoolExecutor(_THREADS, "lakebed-spark") as pool:
            sums = [*pool.map(_md5, [os.path.join(top, name) for name in names])]
            written = [
                Written(self.folder + name, checksum, size, os.path.join(top, name), self.key + self.folder + name)
                for name, (checksum, size) in zip(names, sums, strict=True)
            ]
        shared = Directory(Path(self.directory))
        try:
            shared.publish(written)
        finally:
            shared.close()
        return [self.info(name, *found) for name, found in zip(names, sums, strict=True)]

    def _in_bucket(self, spark: SparkSession, options: Mapping[str, Any]) -> Iterator[ObjectInfo]:
        hadoop, settings = java(spark)
        for name, value in options.items():
            if name.startswith("fs.") and value is not None:
                settings.set(name, shown(value))
        top = hadoop.Path(self.uri)
        system = top.getFileSystem(settings)
        if not system.exists(top):
            return
        start = len(top.toUri().getPath()) + 1
        files: Any = system.listFiles(top, True)
        while files.hasNext():
            status = files.next()
            name = status.getPath().toUri().getPath()[start:]
            if not is_hidden(name) and status.getLen():
                yield self.info(name, _etag(status), status.getLen())

    def discard(self) -> None:
        """Remove the files that were not registered, where that is easy. Never raises."""
        if self.directory:
            from shutil import rmtree

            with suppress(OSError):
                rmtree(os.path.join(self.directory, self.key), ignore_errors=True)


def _files(top: str) -> Iterator[str]:
    for folder, inner, names in os.walk(top):
        inner[:] = [name for name in inner if not is_hidden(name)]
        below = os.path.relpath(folder, top)
        for name in names:
            if not is_hidden(name) and os.path.getsize(os.path.join(folder, name)):
                yield name if below == "." else f"{below}/{name}"


def _md5(path: str) -> tuple[str, int]:
    """Return checksum and size of a file that is not empty. Hashing releases the interpreter."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return hashlib.md5(content, usedforsecurity=False).hexdigest(), len(content)


def _etag(status: Any) -> str:
    """Return the store's ETag: an MD5, or an ETag with a number of parts."""
    try:
        tag = str(status.getEtag()).strip('"')
    except Exception as error:
        raise CorruptTransferError(
            f"the file system reports no checksum of {status.getPath()}, which Spark wrote: use s3a:// of a newer "
            "Hadoop"
        ) from error
    return tag
