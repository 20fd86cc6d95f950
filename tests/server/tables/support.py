"""Tables in memory, read in this process or by a real process of the server."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from lakebed_server.settings.schema import TableSettings
from lakebed_server.tables.messages import Failed, File, PageRequest
from lakebed_server.tables.parts import Kept
from lakebed_server.tables.pool import TablePool, error_of
from lakebed_server.tables.worker import answer

SETTINGS: Final = TableSettings(time=60.0, processes=1)
"""The time of a request is not what most tests are about, and the machine may be busy."""


class Files:
    """Objects in memory. `read` counts the bytes that were read."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.read = 0

    def described(self, folder: str = "") -> tuple[File, ...]:
        return tuple(
            File(path, path.removeprefix(folder), len(data), hashlib.sha256(data).digest())
            for path, data in self.files.items()
        )

    def fetch(self, ranges: Sequence[tuple[int, int, int]]) -> list[bytes]:
        data = list(self.files.values())
        self.read += sum(length for _, _, length in ranges)
        return [data[number][start : start + length] for number, start, length in ranges]

    def reads(self) -> list[Any]:
        return [self._reader(data) for data in self.files.values()]

    def _reader(self, data: bytes) -> Any:
        async def read(start: int, length: int) -> bytes:
            self.read += length
            return data[start : start + length]

        return read


class Sparse(Files):
    """A file of zeros, of any size."""

    def __init__(self, path: str, size: int) -> None:
        super().__init__({path: b""})
        self._size = size

    def described(self, folder: str = "") -> tuple[File, ...]:
        (path,) = self.files
        return (File(path, path, self._size, b""),)

    def fetch(self, ranges: Sequence[tuple[int, int, int]]) -> list[bytes]:
        self.read += sum(length for _, _, length in ranges)
        return [bytes(length) for _, _, length in ranges]


@asynccontextmanager
async def table_pool(settings: TableSettings = SETTINGS) -> AsyncIterator[TablePool]:
    pool = TablePool(settings)
    try:
        yield pool
    finally:
        await pool.close()


def asked(files: Files, format: Any, folder: str = "", **given: Any) -> PageRequest:
    """A request for a page. `given`: what is not as usual."""
    usual: dict[str, Any] = {
        "offset": 0, "limit": 100, "columns": (), "order": "", "descending": False, "statistics": False,
        "most_bytes": 64 << 20,
    }  # fmt: skip
    path = folder or next(iter(files.files))
    return PageRequest(path=path, format=format, files=files.described(folder), **{**usual, **given})


class Reader:
    """What the process that reads tables does, in this one. It keeps what it has read."""

    def __init__(self) -> None:
        self._kept = Kept()

    def page(self, files: Files, format: Any, *, folder: str = "", **given: Any) -> Any:
        """A page as JSON. Raises TableError."""
        made = answer(asked(files, format, folder, **given), files.fetch, self._kept)
        if isinstance(made, Failed):
            raise error_of(made)
        return json.loads(made.body)


def parquet(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def one(path: str, data: bytes) -> Files:
    return Files({path: data})
