"""The messages between the server and a process that reads tables.

A message is eight bytes with its length (big-endian) and msgpack. The server sends a request, then the bytes of each
range that the process asks for, without msgpack. The process ends with `Done` or `Failed`.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

LENGTH_BYTES: Final = 8
LARGEST_MESSAGE: Final = 32 << 20
"""The largest message that a process may send, in bytes."""

Format = Literal["parquet", "csv", "json", "arrow"]


class File(msgspec.Struct, frozen=True):
    """A file of a table. `identity`: the same for the same content. `place`: its path below the folder."""

    path: str
    place: str
    size: int
    identity: bytes


class PageRequest(msgspec.Struct, frozen=True, tag="page", kw_only=True):
    """Rows of a table. `columns` is empty for the first ones. `most_bytes`: how much may be read."""

    path: str
    format: Format
    files: tuple[File, ...]
    offset: int
    limit: int
    columns: tuple[str, ...]
    order: str
    descending: bool
    statistics: bool
    most_bytes: int


class State(msgspec.Struct, frozen=True):
    """One state of a table, as numbers of the files of the request.

    `files`: the ones that the other state does not have. `sample`: without any, a file that has the schema. Without
    both, there is no table.
    """

    files: tuple[int, ...]
    sample: int | None = None


class DiffRequest(msgspec.Struct, frozen=True, tag="diff", kw_only=True):
    """Rows of a table that differ. `columns` is empty for all. `change`: empty, or the one kind of rows to return."""

    path: str
    format: Format
    files: tuple[File, ...]
    before: State
    after: State
    key: tuple[str, ...]
    columns: tuple[str, ...]
    change: str
    offset: int
    limit: int
    most_bytes: int


class DeltaRequest(msgspec.Struct, frozen=True, tag="delta"):
    """The data files of a Delta table. `files` are parts of its log: first `checkpoints` parts of one, then commits."""

    path: str
    files: tuple[File, ...]
    checkpoints: int
    most_bytes: int


class DeltaFile(msgspec.Struct, frozen=True):
    """A data file: its path below the folder of the table, and its `place` as of `File`."""

    path: str
    place: str


class DeltaFiles(msgspec.Struct, frozen=True):
    """The answer to a `DeltaRequest`."""

    files: tuple[DeltaFile, ...]


Request = PageRequest | DiffRequest | DeltaRequest


class Ranges(msgspec.Struct, frozen=True, tag="ranges"):
    """The process asks for the bytes of ranges: number of the file, start, length."""

    ranges: tuple[tuple[int, int, int], ...]


class Done(msgspec.Struct, frozen=True, tag="done"):
    """The answer to a request, as JSON."""

    body: bytes


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """Why there is no answer. `kind` is an error kind of openapi.yaml."""

    kind: Literal["invalid_request", "table_too_large", "unreadable_table", "internal"]
    message: str


REQUESTS: Final = msgspec.msgpack.Decoder(Request)
ANSWERS: Final = msgspec.msgpack.Decoder(Ranges | Done | Failed)


class TableError(Exception):
    """A request for rows cannot be answered. `kind` as of `Failed`."""

    kind: Literal["invalid_request", "table_too_large", "unreadable_table"]

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidTableRequest(TableError):
    """The request does not fit the table."""

    kind = "invalid_request"


class TableTooLarge(TableError):
    """The rows need more bytes or more time than a request may take."""

    kind = "table_too_large"


class UnreadableTable(TableError):
    """A file is damaged, or of another format."""

    kind = "unreadable_table"


TOO_LARGE: Final = "too large: narrow by columns or use Python"
