"""Streams of bytes between object stores and the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

T = TypeVar("T")

CHUNK: int = 1 << 20
"""The largest chunk of a stream in bytes (`facts/spec_first.md` 8)."""


class FilePart:
    """Chunks of an object that is an open file, from `start` on. A reader may send the file by the kernel instead.

    The descriptor is valid inside the context of `open`, until the first chunk is read.
    """

    __slots__ = ("_chunks", "_fd", "start")

    def __init__(self, fd: int, start: int, chunks: AsyncIterator[bytes]) -> None:
        self._fd = fd
        self._chunks = chunks
        self.start = start

    def fileno(self) -> int:
        """The descriptor."""
        return self._fd

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks

    def __anext__(self) -> Awaitable[bytes]:
        return self._chunks.__anext__()


async def finished(job: asyncio.Future[T]) -> T:
    """The job's result. Cancelling the caller does not cancel the job, because a thread cannot be stopped."""
    try:
        await asyncio.wait((job,))
    except asyncio.CancelledError:
        await settled(job)
        raise
    return job.result()


async def settled(*jobs: asyncio.Future[T]) -> None:
    """Wait until the jobs have ended, whatever their result and however often the caller is cancelled.

    Only for clean-up before an error is raised: this ignores the errors of the jobs.
    """
    while any(not job.done() for job in jobs):
        try:
            await asyncio.wait(jobs)
        except asyncio.CancelledError:
            continue
    for job in jobs:
        if not job.cancelled():
            job.exception()  # marks the error as retrieved, or asyncio would report it
