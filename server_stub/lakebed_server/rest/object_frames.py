"""The response of getObjects: objects as frames (openapi.yaml describes them)."""

from __future__ import annotations

import struct
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Final

import msgspec
from lakebed_engine.vocabulary.requests import FoundObject
from lakebed_wire import models
from msgspec import UNSET

from lakebed_server.http.read_ahead import Memory, Piece, pieces

HEAD: Final = b"H"
DATA: Final = b"D"
ERROR: Final = b"E"
END: Final = b"Z"

_JOINED = 128 << 10
"""Bytes of frames that are sent together."""

_length = struct.Struct(">I").pack
_encode = msgspec.json.Encoder().encode

Describe = Callable[[str, Exception], models.ObjectReadError]


@asynccontextmanager
async def framed(
    found: Sequence[FoundObject], memory: Memory, describe: Describe, *, has_more: bool, largest: int | None
) -> AsyncIterator[AsyncIterator[bytes]]:
    """The frames of objects. `describe` turns the error of a path into its record."""
    async with aclosing(_frames(found, memory, describe, has_more, largest)) as frames:
        yield frames


async def _frames(
    found: Sequence[FoundObject], memory: Memory, describe: Describe, has_more: bool, largest: int | None
) -> AsyncGenerator[bytes]:
    joined = bytearray()
    async with aclosing(pieces(_each(found), memory, largest)) as all_pieces:
        async for piece in all_pieces:
            _add(joined, piece, describe, largest)
            if len(joined) >= _JOINED:
                yield bytes(joined)
                joined.clear()
    joined += _frame(END, _encode(models.ObjectsEnd(results=len(found), has_more=has_more)))
    yield bytes(joined)


async def _each(found: Sequence[FoundObject]) -> AsyncIterator[FoundObject]:
    for one in found:
        yield one


def _add(joined: bytearray, piece: Piece, describe: Describe, largest: int | None) -> None:
    path, entry, start, data = piece
    if isinstance(data, Exception):
        joined += _frame(ERROR, _encode(describe(path, data)))
        return
    if entry is not None and start == 0:
        head = models.ObjectHead(
            path=path,
            size_bytes=entry.size,
            checksum=entry.etag,
            mtime=entry.mtime,
            content_type=entry.content_type,
            omitted=True if largest is not None and entry.size > largest else UNSET,
        )
        joined += _frame(HEAD, _encode(head))
    if data:
        joined += _frame(DATA, data)


def _frame(kind: bytes, content: bytes) -> bytes:
    return kind + _length(len(content)) + content
