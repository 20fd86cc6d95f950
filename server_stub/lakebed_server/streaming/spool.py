"""A body as a file on this machine, for what cannot be read as a stream.

Above `body`, under the handlers. The file has no name for longer than the request, and is bounded.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lakebed_engine.operations.layer_files import LARGEST_FILE

from lakebed_server.streaming.body import RequestBody
from lakebed_server.vocabulary import RequestError


@asynccontextmanager
async def spooled(body: RequestBody, limit: int = LARGEST_FILE) -> AsyncIterator[str]:
    """Write the body into a temporary file; gives its path. Raises RequestError when it is longer than `limit`."""
    if body.length is not None and body.length > limit:
        raise _too_large(limit)
    with tempfile.NamedTemporaryFile(prefix="lakebed-layer-") as file:
        async for piece in body.pieces():
            if body.received > limit:
                raise _too_large(limit)
            await asyncio.to_thread(file.write, piece)
        await asyncio.to_thread(file.flush)
        yield file.name


def _too_large(limit: int) -> RequestError:
    return RequestError("request_too_large", f"the layer file is larger than {limit} bytes, the most that is read here")
