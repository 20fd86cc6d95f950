"""Answers to what may take long: their first bytes come before it is known how it ends.

What is done soon is answered as anything else. After SOON seconds the status is sent, 200, then spaces, which XML may
have before its root, and at the end the document, which may be an error: so does Amazon, and clients look for it.
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

Told = Callable[[T], tuple[str, str]]
"""The root and the inner XML of a result."""


async def patiently(call: S3Call, job: Coroutine[Any, Any, T], told: Told[T]) -> Reply:
    """The answer to `job`. Raises what the job does, while nothing was sent."""
    task = asyncio.ensure_future(job if call.room is None else _placed(call.room, job))
    try:
        await asyncio.wait((task,), timeout=SOON)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if task.done():
        return xml.xml(*told(task.result()))
    return StreamReply(200, _slowly(call, task, told), UNKNOWN, (XML,))


async def _placed(room: Room, job: Coroutine[Any, Any, T]) -> T:
    try:
        async with room.place():
            return await job
    finally:
        job.close()  # where it got no place, it never began


@asynccontextmanager
async def _slowly(call: S3Call, task: asyncio.Future[T], told: Told[T]) -> AsyncIterator[AsyncIterator[bytes]]:
    try:
        yield _pieces(call, task, told)
    finally:
        task.cancel()


async def _pieces(call: S3Call, task: asyncio.Future[T], told: Told[T]) -> AsyncIterator[bytes]:
    yield DECLARATION.encode()
    while not task.done():
        yield b" "
        await asyncio.wait((task,), timeout=PAUSE)
    try:
        root, inner = told(task.result())
    except Exception as error:  # the status is out: it is told in the document
        yield error_xml(as_s3(error, call.base), call.base, f"/{call.bucket}/{call.key}").encode()
        return
    yield xml.element(root, inner).encode()
