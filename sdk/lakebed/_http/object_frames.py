"""Reads the stream of `getObjects`: the frames of many objects, in pieces of any size. No I/O here."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lakebed._gateway.error_answers import error_of
from lakebed._http.retry import about
from lakebed._values.wire import Answer, Call
from lakebed.errors import CorruptTransferError, LakebedError, ProtocolError
from lakebed.model import ObjectInfo

_HEAD = 5  # bytes: the type of a frame, and the length of its content
_LONGEST = 16 << 20  # bytes of one frame; the server sends at most 1 MiB
_TRY_AGAIN = (429, 503)
_MD5 = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class ObjectRead:
    """One object of a batch: `info` and `data`, or the error.

    `alone`: it needs a request of its own, because it is large or because its store did not answer.
    """

    path: str
    info: ObjectInfo | None = None
    data: bytes = b""
    error: LakebedError | None = None
    alone: bool = False


class ObjectFrames:
    """Joins frames to objects. `has_more` is None until the last frame has arrived."""

    def __init__(self, call: Call[Any]) -> None:
        self._call = call
        self._left = bytearray()
        self._info: ObjectInfo | None = None
        self._data = bytearray()
        self.has_more: bool | None = None

    def feed(self, chunk: bytes) -> Iterator[ObjectRead]:
        """The objects that end in this piece of the stream. Raises ProtocolError for any other bytes."""
        self._left += chunk
        at = 0
        while len(self._left) - at >= _HEAD:
            kind, length = self._left[at : at + 1], int.from_bytes(self._left[at + 1 : at + _HEAD], "big")
            if length > _LONGEST:
                raise self._wrong(f"a frame of {length} bytes")
            end = at + _HEAD + length
            if len(self._left) < end:
                break
            content = bytes(memoryview(self._left)[at + _HEAD : end])
            at = end
            found = self._frame(bytes(kind), content)
            if found is not None:
                yield found
        del self._left[:at]

    def _frame(self, kind: bytes, content: bytes) -> ObjectRead | None:
        if kind == b"D":
            self._data += content
            return self._complete()
        if kind not in (b"H", b"E", b"Z"):
            return None
        try:
            value = json.loads(content)
            return self._described(kind, value, content)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._wrong(f"{type(error).__name__}: {error}") from None

    def _described(self, kind: bytes, value: Any, content: bytes) -> ObjectRead | None:
        if kind == b"E":
            self._info, path = None, str(value["path"])
            answer = Answer(int(value["status_code"]), {"content-type": "application/json"}, content)
            if answer.status in _TRY_AGAIN:
                return ObjectRead(path, alone=True)
            error = error_of(self._call, answer)
            error.path = path
            return ObjectRead(path, error=error)
        if self._info is not None:
            raise self._wrong(f"{self._info.path!r} has fewer bytes than announced")
        if kind == b"Z":
            self.has_more = bool(value["has_more"])
            return None
        written = datetime.fromtimestamp(int(value["mtime"]), UTC)
        info = ObjectInfo(
            str(value["path"]), int(value["size_bytes"]), str(value["checksum"]), written, str(value["content_type"])
        )
        if value.get("omitted"):
            return ObjectRead(info.path, info, alone=True)
        self._info, self._data = info, bytearray()
        return self._complete()

    def _complete(self) -> ObjectRead | None:
        """The object, if all of its data has arrived."""
        info = self._info
        if info is None:
            raise self._wrong("data without an object")
        if len(self._data) < info.size:
            return None
        data, self._info = bytes(self._data), None
        if len(data) == info.size and (not _MD5.fullmatch(info.checksum) or _md5(data) == info.checksum):
            return ObjectRead(info.path, info, data)
        where = {**about(self._call), "path": info.path}
        text = (
            f"{self._call.subject}/{info.path} arrived damaged: {len(data)} bytes with MD5 {_md5(data)}, expected "
            f"{info.size} bytes and {info.checksum}; read it again"
        )
        return ObjectRead(info.path, info, error=CorruptTransferError(text, **where))

    def _wrong(self, why: str) -> ProtocolError:
        return ProtocolError(
            f"cannot read the response to {self._call.action!r} on {self._call.subject}: {why}", **about(self._call)
        )


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
