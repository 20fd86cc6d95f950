"""Objects that are files, from the page cache to the client without passing through this process.

Linux's `sendfile`, in a thread, past uvicorn's writes: nothing else is written to the connection meanwhile, nor read
from it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import sys
from typing import Any

from lakebed_engine.stores.objects.local.threads import finished
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from lakebed_server.vocabulary import ZERO_COPY, ClientGoneError, Message, Receive, Scope, Send

_UNABLE = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}
"""Some file systems have no pages to send from."""

_GONE = {errno.EPIPE, errno.ECONNRESET, errno.ECONNABORTED, errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH}


class SendingFiles:
    """An application, and what it needs to answer one request with a file."""

    __slots__ = ("_app", "_cycle")

    def __init__(self, app: Any, cycle: RequestResponseCycle) -> None:
        self._app = app
        self._cycle = cycle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, as ASGI says."""
        scope["extensions"] = {ZERO_COPY: {}}
        await self._app(scope, receive, self._send)

    async def _send(self, message: Message) -> None:
        """Raises ClientGoneError, EOFError for a file that is too short, and SendfileNotAvailableError where nothing
        of the file is sent, and it must be sent another way.
        """
        if message["type"] == ZERO_COPY:
            await self._send_file(message)
        else:
            await self._cycle.send(message)  # type: ignore[arg-type]

    async def _send_file(self, message: Message) -> None:
        cycle, count = self._cycle, message["count"]
        if cycle.disconnected or cycle.transport.is_closing():
            cycle.disconnected = True
            raise ClientGoneError
        if cycle.expected_content_length < count:
            raise RuntimeError("the content is longer than Content-Length says")
        cycle.flow.pause_reading()  # what a client sends now waits for the end of this answer; which resumes
        try:
            await _copy(cycle.transport, message["file"].fileno(), message["offset"], count)
        except asyncio.SendfileNotAvailableError:
            cycle.flow.resume_reading()
            raise
        except OSError as error:
            if error.errno not in _GONE:
                raise
            cycle.disconnected = True
            cycle.transport.abort()
            raise ClientGoneError from None
        cycle.expected_content_length -= count
        if not message.get("more_body", False):
            await cycle.send({"type": "http.response.body", "body": b"", "more_body": False})


def can_send_files(transport: asyncio.BaseTransport) -> bool:
    """Whether the kernel can send files on this connection: not where it is encrypted here."""
    return sys.platform == "linux" and transport.get_extra_info("sslcontext") is None


async def _copy(transport: Any, file: int, start: int, count: int) -> None:
    """Send what the transport holds, then so much of the file."""
    if not transport.is_idle():
        await asyncio.sleep(0)  # the turn at whose end it would write
        if not transport.is_idle():
            raise asyncio.SendfileNotAvailableError("the end of an earlier answer is still on its way")
    loop = asyncio.get_running_loop()
    # a number of its own: the transport can close its socket at any moment, and the number could be another's then
    with socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno())) as own:
        job = FileJob(own, transport.take(), file, start, count)
        transport.job = job
        try:
            while not await finished(loop.run_in_executor(None, job.push)):
                job.waits = True
                await _writable(loop, own)
                job.waits = False
        finally:
            transport.end_job()


async def _writable(loop: asyncio.AbstractEventLoop, which: socket.socket) -> None:
    """Wait until the client has taken some of it; it holds no thread meanwhile."""
    ready = asyncio.Event()
    loop.add_writer(which, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_writer(which)


class FileJob:
    """What is left to be sent of a part of a file."""

    def __init__(self, out: socket.socket, head: bytes, file: int, start: int, count: int) -> None:
        self._out = out
        self._head = memoryview(head)
        self._file = file
        self._next = start
        self._end = start + count
        self._start = start
        self.waits = False
        """Whether the client has to read before more can be sent."""

    @property
    def moved(self) -> int:
        """Bytes of the file that the kernel has taken."""
        return self._next - self._start

    def push(self) -> bool:
        """Send what the connection takes now; whether that was all. Blocks only for the disk."""
        try:
            while self._head:
                self._head = self._head[self._out.send(self._head, socket.MSG_MORE) :]
            while self._next < self._end:
                self._next += self._some()
        except BlockingIOError:
            return False
        return True

    def _some(self) -> int:
        try:
            sent = os.sendfile(self._out.fileno(), self._file, self._next, self._end - self._next)
        except OSError as error:
            if error.errno in _UNABLE and self._next == self._start:
                raise asyncio.SendfileNotAvailableError("this file cannot be sent by the kernel") from error
            raise
        if not sent:
            raise EOFError(f"the file of the object ended {self._end - self._next} bytes early")
        return sent
