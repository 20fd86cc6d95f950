"""What can be uploaded, as chunks of at most 1 MiB: bytes, a path, a binary file or an iterable of bytes.

A source says whether it can be read again. Only then can the SDK repeat a broken upload.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, ClassVar

from lakebed.errors import InvalidRequestError

CHUNK = 1 << 20

Data = bytes | bytearray | memoryview | os.PathLike[str] | IO[bytes] | Iterable[bytes]
"""The data that `put` takes. It refuses a `str`, which could be a path or the content."""


class Meter:
    """Counts and hashes the bytes that pass, and calls the progress callback. With `hashed` False it does not hash."""

    def __init__(self, progress: Callable[[int], None] | None = None, *, hashed: bool = True) -> None:
        self.size = 0
        self.hashed = hashed
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._progress = progress

    def __call__(self, chunk: bytes | bytearray) -> None:
        self.size += len(chunk)
        if self.hashed:
            self._md5.update(chunk)
        if self._progress is not None:
            self._progress(len(chunk))

    def undo(self) -> None:
        """Subtract the reported bytes from the progress: the attempt failed and starts again."""
        if self._progress is not None and self.size:
            self._progress(-self.size)

    @property
    def checksum(self) -> str:
        """The hex MD5 so far."""
        return self._md5.hexdigest()


class Source:
    """One thing to upload. `size` (bytes) is None when it is unknown."""

    size: int | None = None
    is_async: ClassVar[bool] = False
    """Whether its chunks come from an async iterator, which blocking code cannot read."""

    _again = True
    _started = False

    @property
    def replayable(self) -> bool:
        """Whether `chunks` can be called (again)."""
        return self._again or not self._started

    @property
    def rereadable(self) -> bool:
        """Whether `chunks` can be called any number of times."""
        return self._again

    def chunks(self) -> Iterator[bytes] | AsyncIterator[bytes]:
        """The content from its beginning."""
        self._started = True
        return self._read()

    def _read(self) -> Iterator[bytes] | AsyncIterator[bytes]:
        raise NotImplementedError


class BytesSource(Source):
    """Content in memory."""

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        self._view = memoryview(data).cast("B")
        self.size = self._view.nbytes

    def _read(self) -> Iterator[bytes]:
        for start in range(0, self._view.nbytes, CHUNK):
            yield bytes(self._view[start : start + CHUNK])


class PathSource(Source):
    """A local file, opened for each attempt."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.size = path.stat().st_size

    def _read(self) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            yield from _blocks(file)


class FileSource(Source):
    """An open binary file, read from its present position."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._again = _seekable(file)
        if self._again:
            self._start = file.tell()
            self.size = file.seek(0, io.SEEK_END) - self._start
            file.seek(self._start)

    def _read(self) -> Iterator[bytes]:
        if self._again:
            self._file.seek(self._start)
        return _blocks(self._file)


class IterableSource(Source):
    """Chunks from an iterable. Only a list or a tuple can be read twice."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._again = isinstance(chunks, list | tuple)
        if isinstance(chunks, list | tuple) and all(isinstance(chunk, bytes) for chunk in chunks):
            self.size = sum(len(chunk) for chunk in chunks)

    def _read(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            view = memoryview(_must_be_bytes(chunk)).cast("B")
            for start in range(0, view.nbytes, CHUNK):  # an empty chunk would end a chunked body
                yield bytes(view[start : start + CHUNK])


class AsyncSource(Source):
    """Chunks from an async iterator, for the async API."""

    is_async = True
    _again = False

    def __init__(self, chunks: AsyncIterable[bytes]) -> None:
        self._chunks = chunks

    async def _read(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            if _must_be_bytes(chunk):
                yield bytes(chunk)


def source_of(data: Any) -> Source:
    """Return the source for the given data. Raises InvalidRequestError for data that cannot be uploaded."""
    if isinstance(data, bytes | bytearray | memoryview):
        return BytesSource(data)
    if isinstance(data, str):
        raise InvalidRequestError(
            "cannot upload a str: use .encode() to upload its content, or pathlib.Path(...) to upload a file"
        )
    if isinstance(data, os.PathLike):
        return PathSource(Path(data))
    if hasattr(data, "read"):
        return FileSource(data)
    if (advice := _advice(data)) is not None:
        raise InvalidRequestError(f"cannot upload a {type(data).__name__}: use {advice}")
    if isinstance(data, Iterable):
        return IterableSource(data)
    if isinstance(data, AsyncIterable):
        return AsyncSource(data)
    name = type(data).__name__
    kind = f"an {name}" if name[:1] in "aeiou" else f"a {name}"
    raise InvalidRequestError(
        f"cannot upload {kind}: pass bytes, a pathlib.Path, a binary file or an iterable of bytes"
    )


def _advice(data: Any) -> str | None:
    """Return which method to call instead, for iterables whose parts are not the content."""
    if isinstance(data, Mapping):
        return "json.dumps(...).encode()"
    if hasattr(data, "columns") or hasattr(data, "__arrow_c_stream__"):  # pandas, Polars, Arrow
        return "write_parquet or write_csv"
    return "numpy.save into an io.BytesIO, or .tobytes()" if hasattr(data, "__array_interface__") else None


def _seekable(file: IO[bytes]) -> bool:
    try:
        return bool(file.seekable())
    except AttributeError:
        return False


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := _must_be_bytes(file.read(CHUNK)):
        yield chunk


def _must_be_bytes(chunk: Any) -> bytes:
    if not isinstance(chunk, bytes | bytearray | memoryview):
        raise InvalidRequestError(f"content must be bytes, not {type(chunk).__name__}; open text files with 'rb'")
    return chunk if isinstance(chunk, bytes) else bytes(chunk)
