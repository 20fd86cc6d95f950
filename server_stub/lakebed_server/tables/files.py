"""The files of one request, inside the process that reads them: it asks the server for each range of bytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from lakebed_server.tables.messages import TOO_LARGE, File, TableTooLarge, UnreadableTable

Fetch = Callable[[Sequence[tuple[int, int, int]]], list[bytes]]
"""Returns the bytes of ranges: number of the file, start, length."""


class Source:
    """Reads ranges of the files of a request, `most_bytes` in total. Raises TableTooLarge beyond."""

    def __init__(self, files: Sequence[File], most_bytes: int, fetch: Fetch) -> None:
        self.files = files
        self.most_bytes = most_bytes
        self._fetch = fetch
        self._left = most_bytes

    def read(self, ranges: Sequence[tuple[int, int, int]]) -> list[bytes]:
        """The bytes of several ranges, fetched together."""
        for number, start, length in ranges:
            if start < 0 or length < 0 or start + length > self.files[number].size:
                raise UnreadableTable(f"{self.files[number].path!r} names bytes beyond its end")
        self._left -= sum(length for _, _, length in ranges)
        if self._left < 0:
            raise TableTooLarge(TOO_LARGE)
        return self._fetch(ranges)

    def subset(self, numbers: Sequence[int]) -> Source:
        """Some of the files, numbered from 0. What is read of them counts here."""

        def fetch(ranges: Sequence[tuple[int, int, int]]) -> list[bytes]:
            return self.read([(numbers[number], start, length) for number, start, length in ranges])

        return Source([self.files[number] for number in numbers], self.most_bytes, fetch)

    def opened(self, number: int, known: Sequence[tuple[int, bytes]] = ()) -> RemoteFile:
        """One file, to read and seek in. `known`: parts of it that are in memory, with their start."""
        return RemoteFile(self, number, known)


class RemoteFile(io.RawIOBase):
    """A file of the request."""

    def __init__(self, source: Source, number: int, known: Sequence[tuple[int, bytes]]) -> None:
        self._source = source
        self._number = number
        self._size = source.files[number].size
        self._known = known
        self._at = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """The position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a position."""
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as the file goes."""
        length = max(0, min(len(buffer), self._size - self._at))
        buffer[:length] = self._read(self._at, length)
        self._at += length
        return length

    def _read(self, start: int, length: int) -> bytes | memoryview:
        for begin, data in self._known:
            if begin <= start and start + length <= begin + len(data):
                return memoryview(data)[start - begin : start - begin + length]
        return self._source.read([(self._number, start, length)])[0]
