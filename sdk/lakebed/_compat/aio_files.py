"""Files of the async API: the blocking file classes, each call in a thread.

`lakebed._compat.sync_files` has the same names.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from types import TracebackType
from typing import IO, Any, Self


class OpenFile:
    """An object opened as a file: use it with `async with`, and await its methods."""

    __module__ = "lakebed.aio"

    def __init__(self, make: Callable[[], IO[Any]]) -> None:
        self._make = make
        self._file: IO[Any] | None = None

    async def __aenter__(self) -> Self:
        self._file = await asyncio.to_thread(self._make)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            await asyncio.to_thread(self._file.__exit__, kind, error, trace)

    async def __aiter__(self) -> AsyncIterator[Any]:
        while line := await self.readline():
            yield line

    def _opened(self) -> IO[Any]:
        if self._file is None:
            raise ValueError("the file is not open: write `async with ref.open(path) as file`")
        return self._file

    async def read(self, size: int = -1) -> Any:
        """Read at most `size` bytes or characters; all of the rest by default."""
        return await asyncio.to_thread(self._opened().read, size)

    async def readline(self) -> Any:
        """Read one line."""
        return await asyncio.to_thread(self._opened().readline)

    async def readlines(self, hint: int = -1) -> list[Any]:
        """The rest, as lines; with a hint, about that many bytes or characters."""
        return await asyncio.to_thread(self._opened().readlines, hint)

    async def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the object goes; only of a file of bytes."""
        file: Any = self._opened()
        count: int = await asyncio.to_thread(file.readinto, buffer)
        return count

    async def write(self, data: Any) -> int:
        """Append."""
        return await asyncio.to_thread(self._opened().write, data)

    async def writelines(self, lines: Iterable[Any]) -> None:
        """Append each; line ends are not added."""
        await asyncio.to_thread(self._opened().writelines, lines)

    async def flush(self) -> None:
        """Nothing is stored before the file is closed."""
        await asyncio.to_thread(self._opened().flush)

    async def close(self) -> None:
        """Close it before the block ends: what was written is stored. Closing twice is not an error."""
        await asyncio.to_thread(self._opened().close)

    def discard(self) -> None:
        """Forget what was written: closing will store nothing."""
        file: Any = self._opened()
        file.discard()

    async def seek(self, offset: int, whence: int = 0) -> int:
        """Move."""
        return await asyncio.to_thread(self._opened().seek, offset, whence)

    def tell(self) -> int:
        """Where the next read or write happens."""
        return self._opened().tell()

    @property
    def name(self) -> str:
        """The path of the object."""
        return self._opened().name

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._opened().closed

    def readable(self) -> bool:
        """Whether it was opened to read."""
        return self._opened().readable()

    def writable(self) -> bool:
        """Whether it was opened to write."""
        return self._opened().writable()

    def seekable(self) -> bool:
        """Whether `seek` is possible: when it was opened to read."""
        return self._opened().seekable()


def open_file(make: Callable[[], IO[Any]]) -> OpenFile:
    """Open when entered."""
    return OpenFile(make)
