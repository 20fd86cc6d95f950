"""Stores a body in a temporary file, if it cannot be read as a stream. Each file, and all together, are bounded."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from lakebed_engine.vocabulary.direct_writes import LARGEST_REGISTRATION

from lakebed_server.http.body import RequestBody
from lakebed_server.vocabulary import RequestError

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.ENOENT}
"""ENOENT is what Python raises when no directory for temporary files can be written."""

log = logging.getLogger("lakebed.server")


class Spool:
    """The temporary files of one server process: how many bytes they may have in total, and how many they have."""

    def __init__(self, quota: int = LARGEST_REGISTRATION) -> None:
        self.quota = quota
        self.used = 0

    @asynccontextmanager
    async def spooled(self, body: RequestBody, limit: int = LARGEST_REGISTRATION) -> AsyncIterator[str]:
        """Write the body to a temporary file and return its path. The file is deleted afterwards.

        Raises RequestError when it is longer than `limit` bytes, when the files of all requests would exceed the quota,
        or when this machine has no room for it.
        """
        if body.length is not None and body.length > limit:
            raise _too_large(limit)
        taken = 0
        try:
            taken = self._take(body.length or 0)
            with _room():
                file, path = await asyncio.to_thread(_open)
            with file:
                async for piece in body.pieces():
                    if body.received > limit:
                        raise _too_large(limit)
                    taken += self._take(max(0, body.received - taken))
                    with _room():
                        await asyncio.to_thread(_write_all, file, piece)
                yield path
        finally:
            self.used -= taken

    def _take(self, size: int) -> int:
        if self.used + size > self.quota:
            raise RequestError(
                "overloaded",
                f"the temporary files of layers have {self.used:,} bytes of at most {self.quota:,} "
                "(limits.temporary_disk), and this one does not fit: nothing was registered; try again later",
            )
        self.used += size
        return size


def _open() -> tuple[Any, str]:
    """A new file and its path. Where the system has /proc, it has no name, so a killed server leaves nothing."""
    if sys.platform == "linux" and os.path.isdir("/proc/self/fd"):
        unnamed: Any = tempfile.TemporaryFile("w+b", 0)  # noqa: SIM115
        return unnamed, f"/proc/{os.getpid()}/fd/{unnamed.fileno()}"
    named: Any = tempfile.NamedTemporaryFile("w+b", 0, prefix="lakebed-layer-")  # noqa: SIM115
    return named, named.name


def _write_all(file: Any, piece: bytes) -> None:
    """Write without a buffer, so that closing the file cannot fail."""
    view = memoryview(piece)
    while view:
        view = view[file.write(view) :]


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        log.error("cannot write the temporary file of a layer: %s; make room there, or set TMPDIR", error)
        raise RequestError(
            "store_full",
            "the server has no space for the temporary file of the layer; nothing was registered: free space there, or "
            "register fewer objects in one request",
        ) from None


def _too_large(limit: int) -> RequestError:
    return RequestError("request_too_large", f"the layer file is larger than {limit} bytes, the most that is read here")
