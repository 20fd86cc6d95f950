"""The response of getArchive: objects as a tar or zip file, written while it is sent."""

from __future__ import annotations

import asyncio
import io
import re
import tarfile
import time
import zipfile
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Final, Literal

from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import FoundObject

from lakebed_server.http.read_ahead import Memory, pieces

Format = Literal["tar", "tar.gz", "zip"]

_ESCAPES: Final = str.maketrans({"%": "%25", "\\": "%5C", "\x00": "%00"})
_UNSAFE_IN_FILE: Final = re.compile(
    '[\x00-\x1f\x7f-\x9f<>:"/\\\\|?*%\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]'
)
_LONGEST_PART: Final = 60
_BLOCK: Final = 512
_FIRST_ZIP_YEAR: Final = 1980
_LAST_ZIP_YEAR: Final = 2107
_GZIP: Final = 16 + zlib.MAX_WBITS


def file_name(repository: str, ref: str, prefix: str, form: Format) -> str:
    """The name under which a browser saves an archive: `sales-main-orders.zip`. Every system accepts it.

    Path separators, quotes, control characters and characters that reverse the reading order become `_`.
    """
    folder = prefix[: prefix.rfind("/") + 1].rstrip("/").rpartition("/")[2]
    parts = (_UNSAFE_IN_FILE.sub("_", part)[:_LONGEST_PART] for part in (repository, ref, folder) if part)
    return f"{'-'.join(parts)}.{form}"


def safe_name(path: str, folder: str, size: int) -> str:
    """The name of an object in an archive, relative to `folder`. Different paths have different names.

    It ends with `/` for an empty object that marks a directory. It is empty for the folder itself.
    """
    relative = path.removeprefix(folder)
    is_directory = size == 0 and (not relative or relative.endswith("/"))
    segments = relative.removesuffix("/").split("/") if is_directory else relative.split("/")
    if is_directory and segments == [""]:
        return ""
    name = "/".join(f"%{part.translate(_ESCAPES)}" if _is_unsafe(part) else part for part in segments)
    return f"{name}/" if is_directory else name


def _is_unsafe(segment: str) -> bool:
    """Whether a segment leaves the target directory on some system, or looks like the replacement of such a segment."""
    has_drive = segment[1:2] == ":" and segment[0].isascii() and segment[0].isalpha()
    return segment in ("", ".", "..") or segment.startswith("%") or has_drive or "\\" in segment or "\x00" in segment


@asynccontextmanager
async def archived(
    objects: AsyncIterator[FoundObject], prefix: str, form: Format, memory: Memory
) -> AsyncIterator[AsyncIterator[bytes]]:
    """The bytes of an archive. Raises the error of the first object before a byte; later errors break it off."""
    folder = prefix[: prefix.rfind("/") + 1]
    source = _zip(objects, folder, memory) if form == "zip" else _tar(objects, folder, memory)
    async with aclosing(_gzip(source) if form == "tar.gz" else source) as chunks:
        first = await anext(chunks)

        async def all_chunks() -> AsyncIterator[bytes]:
            yield first
            async for chunk in chunks:
                yield chunk

        yield all_chunks()


async def _contents(
    objects: AsyncIterator[FoundObject], folder: str, memory: Memory
) -> AsyncGenerator[tuple[str, Entry, int, bytes]]:
    """Name, entry, start and data of each piece. Raises the error of an object."""
    async with aclosing(pieces(objects, memory)) as found:
        async for path, entry, start, data in found:
            if isinstance(data, Exception):
                raise data
            assert entry is not None
            name = safe_name(path, folder, entry.size)
            if name:
                yield name, entry, start, data


async def _tar(objects: AsyncIterator[FoundObject], folder: str, memory: Memory) -> AsyncGenerator[bytes]:
    async with aclosing(_contents(objects, folder, memory)) as contents:
        async for name, entry, start, data in contents:
            head = _tar_head(name, entry) if start == 0 else b""
            is_last = start + len(data) == entry.size
            yield head + data + (bytes(-entry.size % _BLOCK) if is_last else b"")
    yield bytes(2 * _BLOCK)


def _tar_head(name: str, entry: Entry) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = entry.size
    info.mtime = entry.mtime
    if name.endswith("/"):
        info.type, info.mode = tarfile.DIRTYPE, 0o755
    return info.tobuf(tarfile.PAX_FORMAT)


async def _gzip(source: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    packer = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
    async with aclosing(source) as chunks:
        async for chunk in chunks:
            packed = await asyncio.to_thread(packer.compress, chunk)
            if packed:
                yield packed
    yield packer.flush()


class _Sink(io.RawIOBase):
    """A file that cannot seek: keeps what is written until it is taken."""

    def __init__(self) -> None:
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        self._held += data
        return len(data)

    def take(self) -> bytes:
        """What was written since the last call."""
        taken = bytes(self._held)
        self._held.clear()
        return taken


async def _zip(objects: AsyncIterator[FoundObject], folder: str, memory: Memory) -> AsyncGenerator[bytes]:
    sink = _Sink()
    archive = zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    member = None
    async with aclosing(_contents(objects, folder, memory)) as contents:
        async for name, entry, start, data in contents:
            if start == 0:
                member = archive.open(_zip_info(name, entry), "w")
            assert member is not None
            await asyncio.to_thread(member.write, data)
            if start + len(data) == entry.size:
                member.close()
            if chunk := sink.take():
                yield chunk
    archive.close()
    yield sink.take()


def _zip_info(name: str, entry: Entry) -> zipfile.ZipInfo:
    when = time.gmtime(entry.mtime)
    year = min(max(when.tm_year, _FIRST_ZIP_YEAR), _LAST_ZIP_YEAR)
    info = zipfile.ZipInfo(name, (year, *when[1:6]) if year == when.tm_year else (year, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.file_size = entry.size  # from this, zipfile knows whether the member needs ZIP64
    info.external_attr = (0o40755 << 16 | 0x10) if name.endswith("/") else 0o100644 << 16
    return info
