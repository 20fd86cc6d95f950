"""Runs one call of a hook in a new process, and then ends this process and all processes that it started.

It keeps the first bytes of the output. It reads and drops the rest, so that the hook never waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import IO, Any, Final

from lakebed_hooks.reading import LakeReader
from lakebed_hooks.vocabulary import Outcome
from lakebed_hooks.workers import wire
from lakebed_hooks.workers.serving import HookFailed, Served
from lakebed_hooks.workers.wire import Job, Limits

log = logging.getLogger("lakebed.hooks")

_ENVIRONMENT: Final = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "LANG", "LC_ALL", "TZDIR", "VIRTUAL_ENV")
"""Variables that the process inherits. Keys and addresses of the server are not among them."""

_END_SECONDS: Final = 15.0
"""Seconds in which the process must end all processes below it. Then the server ends it."""

_STATUS_SECONDS: Final = 2.0
"""Seconds in which a hook that closed its connection without an outcome may end. Its exit status then explains why."""

_MESSAGE_MOST: Final = 2_000
_REPORT_MOST: Final = 64 << 10


async def run(job: Job, lake: LakeReader, limits: Limits) -> tuple[Outcome, bytes]:
    """Run a hook once. Returns its outcome and its output. Errors of the hook are in the outcome.

    When this returns or is cancelled, no process of the hook is left.
    """
    folder = tempfile.TemporaryDirectory(prefix="lakebed-hook-", ignore_cleanup_errors=True)
    try:
        return await _run_in(folder.name, job, lake, limits)
    finally:
        await asyncio.shield(asyncio.to_thread(folder.cleanup))


async def _run_in(folder: str, job: Job, lake: LakeReader, limits: Limits) -> tuple[Outcome, bytes]:
    process = _HookProcess(limits)
    try:
        async with asyncio.timeout(limits.seconds):
            reader, writer = await process.start(folder)
            served = Served(job, limits, lake, reader, writer)
            answer = await served.answer()
            outcome = _outcome_of(answer) if answer is not None else await _without_answer(process, limits)
    except TimeoutError:
        outcome = _error(f"took longer than {limits.seconds:g} s and was ended")
    except HookFailed as error:
        outcome = _error(str(error))
    except Exception:
        log.exception("the server could not run a hook of type %s", job.type)
        outcome = Outcome(
            "error", "the server could not read what the hook asked for; the log of the server has the cause"
        )
    finally:
        await asyncio.shield(process.end())
    return outcome, process.output.content()


class _HookProcess:
    """The process of a hook, and its sockets."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._starting: asyncio.Future[subprocess.Popen[bytes]] | None = None
        self._control, self._their_control = socket.socketpair()
        self._lake, self._their_lake = socket.socketpair()
        self._writer: asyncio.StreamWriter | None = None
        self.output = Output(limits.log)

    async def start(self, folder: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Start it. Returns the connection through which the hook reads."""
        self._starting = asyncio.ensure_future(asyncio.to_thread(self._started, folder))
        self._process = await asyncio.shield(self._starting)
        await self.output.follow(self._process.stdout)
        self._control.setblocking(False)
        reader, self._writer = await asyncio.open_connection(sock=self._lake)
        return reader, self._writer

    def _started(self, folder: str) -> subprocess.Popen[bytes]:
        numbers = self._their_control.fileno(), self._their_lake.fileno()
        # -P: do not search the working directory and the program's directory for modules
        command = [
            sys.executable,
            "-P",
            "-m",
            "lakebed_hooks.workers.main",
            *map(str, numbers),
            str(self._limits.seconds),
        ]
        with self._their_control, self._their_lake:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=_environment(folder),
                cwd=folder,
                pass_fds=numbers,
                start_new_session=True,
            )

    async def report(self, seconds: float) -> dict[str, Any]:
        """The exit `status` of the hook, as in `subprocess`, and its last `paths`. Empty: the hook is still running."""
        data = b""
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(seconds):
                while part := await asyncio.get_running_loop().sock_recv(self._control, _REPORT_MOST):
                    data = (data + part)[:_REPORT_MOST]
        try:
            return wire.message_of(data)
        except ValueError:
            return {}

    async def end(self) -> None:
        """End it and all processes below it."""
        if self._starting is not None:
            with contextlib.suppress(OSError):
                self._process = await self._starting
        for one in (self._their_control, self._their_lake, self._control):
            one.close()
        if self._process is not None:
            await self._ended(self._process)
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(ConnectionError):
                await self._writer.wait_closed()
        self._lake.close()

    async def _ended(self, process: subprocess.Popen[bytes]) -> None:
        try:
            await asyncio.to_thread(process.wait, _END_SECONDS)
        except subprocess.TimeoutExpired:
            log.error("the process %d of a hook did not end in time", process.pid)
            process.kill()
            await asyncio.to_thread(process.wait)
        await self.output.close()
        if process.stdout is not None:
            process.stdout.close()


def _environment(folder: str) -> Mapping[str, str]:
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return {
        **kept,
        "HOME": folder,
        "TMPDIR": folder,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }


async def _without_answer(process: _HookProcess, limits: Limits) -> Outcome:
    """The reason why a hook closed its connection without an outcome."""
    report = await process.report(min(_STATUS_SECONDS, limits.seconds))
    status, paths = report.get("status"), report.get("paths")
    last = f" after it read {', '.join(map(repr, paths))}" if isinstance(paths, list) and paths else ""
    if not isinstance(status, int):
        return _error("closed its connection without an answer")
    if status == -signal.SIGXCPU:
        return _error(f"used more than {2 * limits.seconds:g} s of processor time and was ended")
    if status < 0:
        return _error(f"was ended by {_signal_name(-status)}{last}, before it answered")
    return _error(f"ended its process with exit code {status}{last}, before it answered")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _outcome_of(answer: Mapping[str, Any]) -> Outcome:
    """The outcome that a hook sent. It may have sent anything."""
    state, message, details = (answer.get(name) for name in ("state", "message", "details"))
    if state not in ("passed", "refused", "error") or not isinstance(message, str):
        return _error("sent an answer that is not an outcome")
    if not isinstance(details, list) or not all(isinstance(one, dict) for one in details):
        return _error("sent an answer that is not an outcome")
    return Outcome(state, message[:_MESSAGE_MOST], tuple(details))


def _error(said: str) -> Outcome:
    return Outcome("error", f"the hook {said}")


_PART: Final = 64 << 10
_CLOSE_SECONDS: Final = 1.0


class Output:
    """The standard output and error of a hook."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = bytearray()
        self._dropped = 0
        self._reading: asyncio.Task[None] | None = None
        self._transport: asyncio.ReadTransport | None = None

    async def follow(self, pipe: IO[bytes] | None) -> None:
        """Begin to read a pipe."""
        reader = asyncio.StreamReader(limit=_PART)
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        self._reading = asyncio.create_task(self._read(reader))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while part := await reader.read(_PART):
            kept = part[: self._most - len(self._kept)]
            self._kept += kept
            self._dropped += len(part) - len(kept)

    async def close(self) -> None:
        """Read the rest, and close the pipe."""
        if self._reading is not None and self._transport is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._reading, _CLOSE_SECONDS)
            self._transport.close()

    def content(self) -> bytes:
        """The kept output, and a note about dropped output."""
        note = f"\n[{self._dropped:,} more bytes were dropped]\n".encode() if self._dropped else b""
        return bytes(self._kept) + note
