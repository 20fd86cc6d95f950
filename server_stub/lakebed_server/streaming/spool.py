"""A body as a file on this machine, for what cannot be read as a stream.

Above `body`, under the handlers. The file has no name for longer than the request, and is bounded.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from lakebed_engine.operations.layer_files import LARGEST_FILE

from lakebed_server.streaming.body import RequestBody
from lakebed_server.vocabulary import RequestError

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.ENOENT}
"""ENOENT is what Python says when no directory for temporary files can be written."""

log = logging.getLogger("lakebed.server")


@asynccontextmanager
async def spooled(body: RequestBody, limit: int = LARGEST_FILE) -> AsyncIterator[str]:
    """Write the body into a temporary file; gives its path.

    Raises RequestError when it is longer than `limit`, or when this machine has no room for it.
    """
    if body.length is not None and body.length > limit:
        raise _too_large(limit)
    with _room():
        made = await asyncio.to_thread(tempfile.NamedTemporaryFile, "w+b", 0, prefix="lakebed-layer-")
    with made as file:
        async for piece in body.pieces():
            if body.received > limit:
                raise _too_large(limit)
            with _room():
                await asyncio.to_thread(_write_all, file, piece)
        yield file.name


def _write_all(file: Any, piece: bytes) -> None:
    """Unbuffered, so that nothing is left to be written, and to fail, when the file is closed."""
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
            "the server has no room for the temporary file that a layer is read from; nothing was registered: make "
            "room there, or register fewer objects at once",
        ) from None


def _too_large(limit: int) -> RequestError:
    return RequestError("request_too_large", f"the layer file is larger than {limit} bytes, the most that is read here")
