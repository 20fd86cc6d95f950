"""The server's end of the pipe: it serves the reads of one hook, and receives its outcome."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

from lakebed_hooks.reading import READ_MOST, SIDES, LakeReader
from lakebed_hooks.workers import wire
from lakebed_hooks.workers.wire import Job, Limits

_READS: Final = 16
"""Maximum number of requests of one hook that are served at the same time."""


class HookFailed(Exception):
    """The hook sent no valid outcome. The message is the end of the sentence `the hook ...`."""


class Served:
    """The connection to the process of one hook."""

    def __init__(
        self, job: Job, limits: Limits, lake: LakeReader, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._job = job
        self._limits = limits
        self._lake = lake
        self._reader = reader
        self._writer = writer
        self._left = limits.read
        self._sending = asyncio.Lock()
        self._places = asyncio.Semaphore(_READS)
        self._reads: set[asyncio.Task[None]] = set()
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def answer(self) -> dict[str, Any] | None:
        """Send the job, serve reads until the hook sends its outcome, and return it. None: it closed the connection.

        Raises HookFailed, and the errors of reads of the lake.
        """
        answering = asyncio.create_task(self._requests())
        try:
            ends: set[asyncio.Future[Any]] = {answering, self._failed}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if self._failed.done():
                self._failed.result()
            return await answering
        except ConnectionError:
            return None
        finally:
            for task in (answering, *self._reads):
                task.cancel()
            await asyncio.gather(answering, *self._reads, return_exceptions=True)
            self._failed.cancel()

    async def _requests(self) -> dict[str, Any] | None:
        await self._send(0, wire.JSON, wire.job_text(self._job, self._limits))
        while True:
            try:
                length = wire.LENGTH.unpack(await self._reader.readexactly(wire.LENGTH.size))[0]
                if length > max(self._limits.result, wire.REQUEST_MOST):
                    raise HookFailed(f"sent an answer of {length:,} bytes, at most {self._limits.result:,}")
                data = await self._reader.readexactly(length)
            except asyncio.IncompleteReadError:
                return None
            try:
                message = wire.message_of(data)
            except ValueError:
                raise HookFailed("sent bytes that are not a message") from None
            if message.get("op") == "answer":
                return message
            if length > wire.REQUEST_MOST:
                raise HookFailed("sent bytes that are not a message")
            await self._places.acquire()
            read = asyncio.create_task(self._serve(message))
            self._reads.add(read)
            read.add_done_callback(self._served)

    def _served(self, read: asyncio.Task[None]) -> None:
        self._reads.discard(read)
        self._places.release()
        error = None if read.cancelled() else read.exception()
        if error is not None and not self._failed.done():
            self._failed.set_exception(error)

    async def _serve(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if not isinstance(number, int) or not 0 < number < 1 << 32:
            raise HookFailed("sent bytes that are not a message")
        try:
            kind, content = await self._found(message)
        except FileNotFoundError:
            kind, content = wire.MISSING, str(message.get("path", "")).encode()
        except _Refused as refused:
            kind, content = wire.REFUSED, str(refused).encode()
        await self._send(number, kind, content)

    async def _found(self, message: dict[str, Any]) -> tuple[int, bytes]:
        """The response to a request, whose fields may be anything."""
        operation = message.get("op")
        if operation == "changes":
            return _json(await self._lake.changes(_text(message, "after")))
        side = message.get("side")
        if side not in SIDES:
            raise _Refused(f"there is no side {str(side)[:40]!r}: it is {' or '.join(SIDES)}")
        if operation == "list":
            return _json(await self._lake.list(side, _text(message, "prefix"), _text(message, "after")))
        if operation == "locals":
            if self._job.type != "contract":
                raise _Refused("only contracts may open files of the server")
            paths = message.get("paths")
            if not isinstance(paths, list) or len(paths) > wire.PATHS_MOST:
                raise _Refused(f"`paths` must be a list of at most {wire.PATHS_MOST} paths")
            checked = [_path({"path": path}) for path in paths]
            await self._lake.expect(side, checked)
            return _json(await asyncio.gather(*(self._lake.local(side, path) for path in checked)))
        path = _path(message)
        if operation != "read":
            raise _Refused(f"there is no operation {str(operation)[:40]!r}")
        offset, length = (message.get(name) for name in ("offset", "length"))
        if not isinstance(offset, int) or not isinstance(length, int) or not 0 <= length <= READ_MOST or offset < 0:
            raise _Refused(f"a read needs an offset, and a length of at most {READ_MOST:,}")
        self._left -= length
        if self._left < 0:
            raise HookFailed(f"read more than {self._limits.read:,} bytes")
        return wire.BYTES, await self._lake.read(side, path, offset, length)

    async def _send(self, number: int, kind: int, content: bytes) -> None:
        async with self._sending:
            self._writer.write(wire.FRAME.pack(number, kind, len(content)))
            self._writer.write(content)
            await self._writer.drain()


class _Refused(Exception):
    """The request is not allowed. The hook gets an error and continues."""


def _json(found: object) -> tuple[int, bytes]:
    return wire.JSON, json.dumps(found).encode()


def _text(message: dict[str, Any], name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or len(value) > wire.PATH_MOST or "\0" in value:
        raise _Refused(f"`{name}` must be a text of at most {wire.PATH_MOST} characters")
    return value


def _path(message: dict[str, Any]) -> str:
    path = _text(message, "path")
    if not path or path.startswith("/") or ".." in path.split("/"):
        raise _Refused(f"{path[:100]!r} is not a path of the repository")
    return path
