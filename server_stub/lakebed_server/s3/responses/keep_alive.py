"""Responses of operations that may take long: they begin before the operation has ended.

Within SOON seconds the response is an ordinary one. After that the server sends the status 200, then spaces, which XML
may have before its root, and at the end the document, which may be an error. Amazon does so too, and clients expect it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from lakebed_server.bounds.admission import Room
from lakebed_server.http.responses import UNKNOWN, Reply, StreamReply
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.responses import xml
from lakebed_server.s3.responses.errors import as_s3, error_xml
from lakebed_server.s3.responses.xml import DECLARATION, XML

T = TypeVar("T")

SOON = 5.0
"""Seconds until the status is sent."""

PAUSE = 10.0
"""Seconds between two spaces."""

Shown = Callable[[T], tuple[str, str]]
"""The root and the inner XML of a result."""


async def patiently(call: S3Call, job: Coroutine[Any, Any, T], shown: Shown[T]) -> Reply:
    """The answer to `job`. Raises what `job` raises, until the status is sent."""
    task = asyncio.ensure_future(job if call.room is None else _placed(call.room, job))
    try:
        await asyncio.wait((task,), timeout=SOON)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if task.done():
        return xml.xml(*shown(task.result()))
    return StreamReply(200, _slowly(call, task, shown), UNKNOWN, (XML,))


async def _placed(room: Room, job: Coroutine[Any, Any, T]) -> T:
    try:
        async with room.place():
            return await job
    finally:
        job.close()  # the operation never began: the queue was full


@asynccontextmanager
async def _slowly(call: S3Call, task: asyncio.Future[T], shown: Shown[T]) -> AsyncIterator[AsyncIterator[bytes]]:
    try:
        yield _pieces(call, task, shown)
    finally:
        task.cancel()


async def _pieces(call: S3Call, task: asyncio.Future[T], shown: Shown[T]) -> AsyncIterator[bytes]:
    yield DECLARATION.encode()
    while not task.done():
        yield b" "
        await asyncio.wait((task,), timeout=PAUSE)
    try:
        root, inner = shown(task.result())
    except Exception as error:  # the status is sent already: the error is in the document
        yield error_xml(as_s3(error, call.base), call.base, f"/{call.bucket}/{call.key}").encode()
        return
    yield xml.element(root, inner).encode()
