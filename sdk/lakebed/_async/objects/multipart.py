"""One large object through signed addresses, in parts: several at a time, each held here until the store has it.

Content is read once, front to back, so that anything can be sent: what does not fit into memory a few times over waits
in temporary files. A part that fails is sent again, with a new address where the old one has ended; when one fails for
good, or anything else does, the upload is given up.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from tempfile import SpooledTemporaryFile
from typing import Any

from lakebed._async.http.object_store import Expired
from lakebed._async.http.target import Target
from lakebed._async.objects.upload import ObjectBody
from lakebed._compat.aio import Lock, gather, run_in_thread
from lakebed._gateway import calls
from lakebed._gateway.operations import workspaces
from lakebed._values.signed import PartTarget, PartUrl
from lakebed._values.upload_source import Meter, source_of
from lakebed._values.wire import Call, Subject
from lakebed.errors import CorruptTransferError, InvalidRequestError

PARTS_AT_ONCE = 4
PART = 8 << 20
"""Bytes of a part; an object that is known to be very large has larger ones, so that there are 9,000 at most."""

_MOST_PARTS = 10_000
_MIB = 1 << 20
_HELD = 32 << 20
"""Bytes of a part that are held in memory; a larger one waits in a file."""

_SIGNED_AT_ONCE = 16
_FRESH = timedelta(seconds=30)
_MD5 = re.compile(r"[0-9a-f]{32}")


def part_size(size: int | None) -> int:
    """Bytes of a part of an object of this size: at least PART, in whole MiB."""
    return PART if size is None else max(PART, -(-size // 9_000 // _MIB) * _MIB)


class Piece:
    """One part on its way."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.meter = Meter()
        self.file: Any = SpooledTemporaryFile(_HELD)  # noqa: SIM115 - it outlives this block

    def add(self, chunk: bytes) -> None:
        """Append content."""
        self.meter(chunk)
        self.file.write(chunk)


class Pieces:
    """Content cut into parts of one size."""

    def __init__(self, chunks: AsyncIterator[bytes], size: int) -> None:
        self._chunks = chunks
        self._size = size
        self._left = b""
        self._number = 0
        self.whole = Meter()

    async def next(self) -> Piece | None:
        """The next part; None behind the last. An empty content has no parts."""
        piece = Piece(self._number + 1)
        try:
            while piece.meter.size < self._size and (chunk := self._left or await self._more()):
                room = self._size - piece.meter.size
                self._left = chunk[room:]
                await run_in_thread(self._add, piece, chunk[:room])
        except BaseException:
            piece.file.close()
            raise
        if piece.meter.size == 0:
            piece.file.close()
            return None
        if piece.number > _MOST_PARTS:
            piece.file.close()
            raise InvalidRequestError(
                f"a stream of unknown size can have at most {_MOST_PARTS * self._size} bytes here: write it to a file "
                "first, or use data_path='direct' or 'proxied'"
            )
        self._number = piece.number
        return piece

    def _add(self, piece: Piece, chunk: bytes) -> None:
        self.whole(chunk)
        piece.add(chunk)

    async def _more(self) -> bytes:
        async for chunk in self._chunks:
            return chunk
        return b""


class PartsUpload:
    """One object, from its beginning to its completion."""

    def __init__(self, target: Target, path: str, content_type: str, progress: Any) -> None:
        """`target` is the workspace, by its id."""
        self._transport = target.transport
        self._where = (target.repository, target.ref, path)
        self._content_type = content_type
        self._progress = progress
        self._subject: Call[None] = Call(
            "upload", "PUT", "", calls.nothing, repeat="safe", subject=Subject(*self._where)
        )
        self._lock = Lock()
        self._urls: dict[int, PartUrl] = {}
        self._etags: dict[int, str] = {}
        self._digests: dict[int, bytes] = {}
        self._address = PartTarget("", "")
        self._failed = False

    async def begin(self) -> None:
        """Ask the server to begin. Raises UnsupportedOperationError where it signs no parts."""
        self._address = await self._transport.call(workspaces.begin_parts(*self._where, self._content_type))

    async def run(self, pieces: Pieces) -> tuple[str, str, int]:
        """Send everything; gives the address to register, the MD5 of the whole and its size.

        Raises ServerUnavailableError, CorruptTransferError, and what reading the content raises.
        """
        try:
            await gather([lambda: self._work(pieces) for _ in range(PARTS_AT_ONCE)], PARTS_AT_ONCE)
            etags = [self._etags[number] for number in sorted(self._etags)]
            done = workspaces.complete_parts(*self._where, self._address, pieces.whole.size, etags)
            self._verify(await self._transport.call(done), etags)
        except BaseException:
            self._failed = True
            await self._transport.probe(workspaces.abort_parts(*self._where, self._address))
            raise
        return self._address.physical_address, pieces.whole.checksum, pieces.whole.size

    async def _work(self, pieces: Pieces) -> None:
        """Read the next part and send it, until there is none. Several of these run at the same time."""
        while True:
            async with self._lock:
                piece = None if self._failed else await pieces.next()
            if piece is None:
                return
            try:
                await self._send(piece)
            except BaseException:
                self._failed = True
                raise
            finally:
                piece.file.close()

    async def _send(self, piece: Piece) -> None:
        digest = piece.meter.checksum
        renewed = False
        piece.file.seek(0)
        body = ObjectBody(source_of(piece.file), self._progress, hashed=False)
        while True:
            try:
                url = await self._url(piece.number)
                self._etags[piece.number] = await self._transport.outside.put_part(url, body, digest, self._subject)
                self._digests[piece.number] = bytes.fromhex(digest)
                return
            except Expired as refused:
                body.meter.undo()
                body.meter = Meter(self._progress, hashed=False)
                if renewed:
                    raise refused.error from None
                renewed = True
                self._urls.pop(piece.number, None)

    async def _url(self, number: int) -> PartUrl:
        """An address that is valid for a while; those of the next parts are signed with it."""
        async with self._lock:
            found = self._urls.get(number)
            if found is None or found.expires - datetime.now(UTC) < _FRESH:
                wanted = range(number, min(number + _SIGNED_AT_ONCE, _MOST_PARTS + 1))
                signed = await self._transport.call(workspaces.part_urls(*self._where, self._address, wanted))
                self._urls |= {one.part: one for one in signed}
                found = self._urls[number]
            return found

    def _verify(self, etag: str, etags: list[str]) -> None:
        """The ETag of the whole is made of those of its parts, where these are MD5s: some stores have others."""
        digests = [self._digests[number] for number in sorted(self._digests)]
        if etags != [digest.hex() for digest in digests] or not _MD5.fullmatch(etag.partition("-")[0]):
            return
        expected = hashlib.md5(b"".join(digests), usedforsecurity=False).hexdigest()
        if etag != f"{expected}-{len(digests)}":
            raise CorruptTransferError(
                f"{self._subject.subject} was stored with ETag {etag}, and not {expected}-{len(digests)}, which its "
                "parts have; write it again",
                path=self._where[2],
            )
