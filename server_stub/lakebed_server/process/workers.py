"""Several server processes behind one port: `lakebed serve --workers N`.

The parent listens, forks before any thread or connection exists, and then only watches: it restarts a dead worker, and
sends SIGTERM, SIGINT and SIGHUP to all. The workers share only the KV store and the object store. The kernel gives each
connection to one of them.

`uvicorn.supervisors.Multiprocess` (0.54) does not fit (docs/decisions/0058-libraries-of-the-server.md). It starts
`uvicorn.Server` itself, so a worker would have no drain, no limit of TLS handshakes and no report when it is ready. Its
SIGHUP replaces all workers and ends their connections, where operators expect a new log file and certificate. It kills
a worker whose event loop does not answer for five seconds. It restarts dying workers without end.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import time
from collections.abc import Callable
from types import FrameType

from lakebed_server.network import hangup
from lakebed_server.network.hangup import Terminal
from lakebed_server.vocabulary import StartError

_RESTARTS = 5
"""How many workers may die within a minute before the server gives up."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT)

Say = Callable[[str], None]
Work = Callable[[Callable[[], None], int], None]
"""Runs one worker until its end. The worker calls the first argument when it is ready. The second one is its number,
from 0: no two workers have the same one at a time.
"""


def run(count: int, work: Work, on_ready: Callable[[], None], say: Say) -> None:
    """Run `count` workers until a signal ends them. Raises StartError when they cannot be kept alive."""
    if not hasattr(os, "fork"):
        raise StartError("--workers needs a system that can fork; start several servers over one store instead")
    _Pool(count, work, on_ready, say).run()


class _Pool:
    def __init__(self, count: int, work: Work, on_ready: Callable[[], None], say: Say) -> None:
        self._count = count
        self._work = work
        self._on_ready = on_ready
        self._say = say
        self._workers: dict[int, int] = {}
        """The number of each worker, by its process."""
        self._stopping = False
        self._deaths: list[float] = []
        self._terminal = Terminal()
        self._inherited = signal.getsignal(signal.SIGHUP)

    def run(self) -> None:
        for one in _SIGNALS:
            signal.signal(one, self._stop)
        signal.signal(signal.SIGHUP, self._pass_on)
        hangup.release()
        gc.collect()
        gc.freeze()  # a collection in a worker would write to the pages that it shares with the others
        try:
            pipes = [self._start() for _ in range(self._count)]
            self._wait_until_ready(pipes)
            if not self._stopping and self._workers:
                self._on_ready()
            while self._workers:
                self._reap()
        finally:
            self._signal(signal.SIGKILL)  # only after an error: a clean stop has no workers left

    def _start(self) -> int:
        """Fork a worker. Returns the end of a pipe, which receives one byte when the worker is ready."""
        number = min(set(range(self._count)) - set(self._workers.values()))
        reader, writer = os.pipe()
        # a signal that arrives during the fork must reach the new worker too: it is blocked until the worker is known
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, (*_SIGNALS, signal.SIGHUP))
        pid = os.fork()
        if pid:
            os.close(writer)
            self._workers[pid] = number
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            if self._stopping:
                self._signal(signal.SIGTERM)
            return reader
        os.close(reader)
        code = 1
        try:
            for one in _SIGNALS:
                signal.signal(one, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, self._inherited)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked | {signal.SIGHUP})  # until the worker handles it
            self._work(lambda: _say_ready(writer), number)
            code = 0
        except StartError as error:
            self._say(f"error: {error}")
        except BaseException as error:
            self._say(f"error: a worker failed: {error!r}")
        finally:
            os._exit(code)

    def _wait_until_ready(self, pipes: list[int]) -> None:
        for pipe in pipes:
            while not self._stopping and not select.select([pipe], [], [], 0.1)[0]:
                pass
            said = b"" if self._stopping else os.read(pipe, 1)
            os.close(pipe)
            if not said and not self._stopping:
                self._signal(signal.SIGTERM)
                raise StartError("a worker did not start; its error is above")

    def _reap(self) -> None:
        try:
            pid, status = os.wait()
        except (ChildProcessError, InterruptedError):
            return
        if pid not in self._workers:
            return
        del self._workers[pid]
        if self._stopping:
            return
        now = time.monotonic()
        self._deaths = [moment for moment in self._deaths if now - moment < 60] + [now]
        if len(self._deaths) > _RESTARTS:
            self._signal(signal.SIGTERM)
            raise StartError(f"{len(self._deaths)} workers died within a minute; giving up")
        self._say(f"a worker (process {pid}) ended with {os.waitstatus_to_exitcode(status)}; starting another")
        os.close(self._start())

    def _stop(self, number: int, _: FrameType | None) -> None:
        self._stopping = True
        self._signal(signal.SIGTERM)

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        if self._terminal.is_closed():
            self._stop(signal.SIGTERM, None)
        else:
            self._signal(number)

    def _signal(self, number: int) -> None:
        for pid in list(self._workers):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue


def _say_ready(writer: int) -> None:
    try:
        os.write(writer, b"!")
    except BrokenPipeError:
        pass  # this worker replaces another one: the parent does not wait for it any more
    os.close(writer)
