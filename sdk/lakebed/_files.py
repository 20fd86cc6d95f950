"""Objects as Python files: seekable reading by ranges, and writing that becomes visible when the file is closed.

Plain blocking classes over four callbacks. The async API runs them in threads. This module does not know HTTP.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any
from uuid import uuid4

from lakebed._process.local_files import is_full, refuse_special
from lakebed.errors import InvalidRequestError
from lakebed.model import ObjectInfo

BUFFER = 1 << 20
_SPOOLED = 8 << 20
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

ReadAt = Callable[[int, int, str], bytes]
"""(start, length, expected checksum) -> exactly that many bytes."""

Store = Callable[[IO[bytes]], ObjectInfo]


@contextmanager
def appearing(final: Path, mtime_ns: int | None = None) -> Iterator[IO[bytes]]:
    """A new file that gets the name `final` when the block ends without an error. OSErrors name `final`.

    `mtime_ns` sets its time of change, where the file system can.
    """
    with _named_at_the_end(final, mtime_ns) as partial, open(partial, "x+b") as file:
        yield file


def write_file(final: Path, data: bytes, mtime_ns: int | None = None) -> None:
    """Write a small file as `appearing` does, with fewer system calls. Makes missing directories."""
    try:
        _write_file(final, data, mtime_ns)
    except FileNotFoundError:
        final.parent.mkdir(parents=True, exist_ok=True)
        _write_file(final, data, mtime_ns)


def _write_file(final: Path, data: bytes, mtime_ns: int | None) -> None:
    with _named_at_the_end(final, mtime_ns) as partial:
        fd = os.open(partial, _NEW_FILE, 0o666)
        try:
            write_all(fd, data)
        finally:
            os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`: a full disk may take a part of it without an error."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


@contextmanager
def _named_at_the_end(final: Path, mtime_ns: int | None) -> Iterator[str]:
    """A temporary file in the directory of `final`, which is renamed to it when the block ends without an error.

    Raises InvalidRequestError for a device or a pipe.
    """
    refuse_special(final, "read the object with `get` or `lakebed fs cat` instead")
    directory, name = os.path.split(final)
    partial = os.path.join(directory, f".{name[:100]}.{uuid4().hex}.part")
    try:
        yield partial
        if mtime_ns is not None:
            with suppress(OSError):
                os.utime(partial, ns=(mtime_ns, mtime_ns))
        os.replace(partial, final)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(partial)
        if is_full(error) or (isinstance(error, OSError) and error.filename == partial):
            raise OSError(error.errno, error.strerror, str(final)) from error  # a write does not name its file
        raise


class RangeRaw(io.RawIOBase):
    """An object as a raw file: each read is one range request."""

    def __init__(self, name: str, size: int, checksum: str, read_at: ReadAt) -> None:
        super().__init__()
        self.name = name
        self._size = size
        self._checksum = checksum
        self._read_at = read_at
        self._position = 0

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.name, self._size, self._checksum, self._read_at)

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """Return where the next read begins."""
        return self._position

    def size(self) -> int:
        """Return the length of the object. pyarrow calls it."""
        return self._size

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move. A position after the end is allowed, as in files. A position before the beginning is not."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"negative seek position {base + offset}")
        self._position = base + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the object goes."""
        view = memoryview(buffer).cast("B")
        data = self._take(view.nbytes)
        view[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes, in one request. The inherited method copies them twice."""
        return self._take(self._size if size < 0 else size)

    def readall(self) -> bytes:
        """Read the rest, in one request. The inherited method would send one for every 8 KiB."""
        return self._take(self._size)

    def _take(self, wanted: int) -> bytes:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        length = min(wanted, self._size - self._position)
        if length <= 0:
            return b""
        data = self._read_at(self._position, length, self._checksum)
        self._position += len(data)
        return data


def open_reader(
    mode: str, stat: Callable[[], ObjectInfo], read_at: ReadAt, encoding: str, newline: str | None
) -> IO[Any]:
    """Open for reading. Asks for the object's size, so it raises here when the object is missing."""
    info = stat()
    return _reader(mode, RangeRaw(info.path, info.size, info.checksum, read_at), encoding, newline)


def _reader(mode: str, raw: RangeRaw, encoding: str, newline: str | None, position: int = 0) -> IO[Any]:
    reader: Any = ObjectReader(raw)
    if mode != "rb":
        reader = TextObjectReader(reader, encoding, newline)
    if position:
        reader.seek(position)
    return reader  # type: ignore[no-any-return]


class ObjectReader(io.BufferedReader):
    """An object that is open for reading bytes. A pickled reader opens the same content at the same position.

    Only readers of the sync API can be pickled: those of the async API read through an event loop.
    """

    raw: RangeRaw

    def __init__(self, raw: RangeRaw) -> None:
        super().__init__(raw, BUFFER)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return _reader, ("rb", self.raw, "", None, self.tell())


class TextObjectReader(io.TextIOWrapper):
    """The same for text."""

    def __init__(self, reader: ObjectReader, encoding: str, newline: str | None) -> None:
        super().__init__(reader, encoding=encoding, newline=newline)
        self._raw = reader.raw
        self._newline = newline

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _reader, ("r", self._raw, self.encoding, self._newline, self.tell())


class ObjectWriter(io.BufferedIOBase):
    """Collects the written bytes, in memory or in a temporary file, and stores them when it is closed.

    It stores nothing when a `with` block ends by an exception, or when the caller does not close it.
    """

    def __init__(self, name: str, store: Store) -> None:
        super().__init__()
        self.name = name
        self.mode = "wb"
        self._store = store
        # Closed in close(); the object outlives every block that a context manager could span.
        self._spool = tempfile.SpooledTemporaryFile(_SPOOLED)  # noqa: SIM115
        self._discarded = False

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """Append bytes."""
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return self._spool.write(data)

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._spool.tell()

    def discard(self) -> None:
        """Drop everything: `close` will store nothing."""
        self._discarded = True

    def close(self) -> None:
        """Store the written bytes. Raises the error of the store call. The file is closed in any case."""
        if self.closed:
            return
        try:
            if not self._discarded:
                self._spool.seek(0)
                self._store(self._spool)
        finally:
            self._spool.close()
            super().close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.discard()
        self.close()

    def __del__(self) -> None:
        # The inherited finalizer closes, which would store half a file that an exception left behind.
        if hasattr(self, "_spool"):
            self.discard()
            self.close()


class TextObjectWriter(io.TextIOWrapper):
    """The same for text."""

    def __init__(self, writer: ObjectWriter, encoding: str, newline: str | None) -> None:
        super().__init__(writer, encoding=encoding, newline=newline)
        self._writer = writer

    def discard(self) -> None:
        """Drop everything: `close` will store nothing."""
        self._writer.discard()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.discard()
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_writer"):
            self.discard()


def open_writer(
    mode: str,
    name: str,
    store: Store,
    exists: Callable[[], bool],
    refuse: Callable[[], Exception],
    encoding: str,
    newline: str | None,
) -> IO[Any]:
    """Open for writing. `x` modes first check the path, so that they fail before the data is written."""
    if "x" in mode and exists():
        raise refuse()
    writer = ObjectWriter(name, store)
    return writer if "b" in mode else TextObjectWriter(writer, encoding, newline)  # type: ignore[return-value]


def check_mode(mode: str, *, writable: bool) -> str:
    """Return the mode without `t`. `r` and `rt` are text, `rb` bytes. On a branch `w` and `x` are allowed too."""
    plain = mode.replace("t", "")
    if plain in ("r", "rb") or (writable and plain in ("w", "wb", "x", "xb")):
        return plain
    known = "'r', 'rb', 'w', 'wb', 'x' or 'xb'" if writable else "'r' or 'rb': only a branch can be written to"
    raise InvalidRequestError(f"cannot open with mode {mode!r}: use {known}")
