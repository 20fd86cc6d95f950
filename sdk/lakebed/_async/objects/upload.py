"""One object up: its content as a body that streams and hashes, and the comparison of checksums at the end."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from lakebed import _checks
from lakebed._async.http.target import Target
from lakebed._compat.aio import run_in_thread, stream
from lakebed._gateway.operations import objects
from lakebed._http.retry import about
from lakebed._values.upload_source import Meter, Source, source_of
from lakebed._values.wire import Call
from lakebed.errors import CorruptTransferError, InvalidRequestError, ObjectExistsError, PreconditionFailedError
from lakebed.model import ObjectInfo

OCTETS = "application/octet-stream"
_MD5 = re.compile(r"[0-9a-f]{32}")
_TOKEN = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_TEXT = re.compile(r"[^\x00-\x1f\x7f]*")

Progress = Callable[[int], None] | None
"""Called with the number of bytes that were sent since the last call; negative when an attempt begins again."""


class ObjectBody:
    """The content of one object. With `hashed` False it is not hashed again while it is sent."""

    def __init__(self, source: Source, progress: Callable[[int], None] | None, *, hashed: bool = True) -> None:
        self._source = source
        self._progress = progress
        self._hashed = hashed
        self.meter = Meter(progress, hashed=hashed)

    @property
    def size(self) -> int | None:
        """The length, when it is known beforehand."""
        return self._source.size

    @property
    def replayable(self) -> bool:
        """Whether it can be sent (again)."""
        return self._source.replayable

    def stream(self) -> AsyncIterator[bytes]:
        """The content, from the beginning."""
        self.meter.undo()
        self.meter = Meter(self._progress, hashed=self._hashed)
        return stream(self._source.chunks(), self.meter)


async def upload(
    target: Target,
    path: str,
    data: Any,
    *,
    metadata: Mapping[str, str] | None = None,
    content_type: str | None = None,
    if_absent: bool = False,
    if_match: str | None = None,
    progress: Progress = None,
) -> ObjectInfo:
    """Write one object and compare checksums."""
    call = objects.upload(
        target.repository,
        target.ref,
        _checks.check_path(path),
        content_type=checked_type(content_type),
        metadata=checked_metadata(metadata),
        if_absent=if_absent,
        if_match=if_match,
    )
    body = ObjectBody(await run_in_thread(source_of, data), progress)
    try:
        stored = await target.transport.call(call, body)
    except PreconditionFailedError as error:
        if not if_absent:
            raise
        raise ObjectExistsError(
            f"{call.subject} exists already and was not replaced; omit the condition to replace it",
            status=error.status,
            request_id=error.request_id,
            **about(call),
        ) from None
    compare(call, stored, body.meter)
    return stored


def compare(call: Call[Any], stored: ObjectInfo, meter: Meter) -> None:
    """Raises CorruptTransferError when something else is stored than what the meter has seen."""
    if _MD5.fullmatch(stored.checksum) and stored.checksum == meter.checksum:
        return
    if not _MD5.fullmatch(stored.checksum) and stored.size == meter.size:
        return  # a server with checksums of another kind
    raise CorruptTransferError(
        f"{call.subject}: the server stored {stored.path!r} with {stored.size} bytes and checksum {stored.checksum}, "
        f"but {meter.size} bytes with MD5 {meter.checksum} were sent; upload it again",
        **about(call),
    )


def checked_type(content_type: str | None) -> str:
    """A content type that is valid in a header."""
    if content_type is None:
        return OCTETS
    if not content_type or not content_type.isascii() or not content_type.isprintable():
        raise InvalidRequestError(f"not a content type: {content_type!r}")
    if content_type.lower().startswith("multipart/form-data"):
        raise InvalidRequestError("an object cannot have the content type multipart/form-data: it marks a form")
    return content_type


def checked_metadata(metadata: Mapping[str, str] | None) -> dict[str, str]:
    """Metadata travels in headers: names in lower case, values on one line without outer spaces."""
    checked = _checks.check_metadata(dict(metadata or {}), "object")
    for key, value in checked.items():
        if not _TOKEN.fullmatch(key):
            raise InvalidRequestError(
                f"object metadata key {key!r}: use lower-case ASCII letters, digits, `-`, `_` and `.`"
            )
        if not _HEADER_TEXT.fullmatch(value) or value != value.strip():
            raise InvalidRequestError(
                f"the object metadata value of {key!r} must be one line without spaces around it: {value!r}"
            )
    return checked
