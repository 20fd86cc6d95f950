"""Servers and commands without the wait for imports: a process that has imported `lakebed serve`, or the verbs of the
client, forks one for each start.

    process = born(["serve", "--port", "0"], environment, log)    # much of what subprocess.Popen has
    process.kill()
    process.wait()

Python and the server's imports take a second of CPU time, those of the client a quarter, a fork some milliseconds; what
is born runs the command itself in a process of its own, with its own environment, files and sockets. One nursery of
each kind serves a whole run of pytest: it starts when first needed, and ends with the process that started it. That
the command starts by itself is seen by `tests/server/process/test_serve.py`, `tests/cli/program/test_process.py` and
others.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NoReturn

_POLL = 0.005
"""Seconds between two polls of a process, where the kernel reports only the end of a child."""

Kind = Literal["server", "client"]

_IMPORTED: dict[str, tuple[str, ...]] = {
    "server": (
        "botocore.client",
        "botocore.httpsession",
        "botocore.session",
        "encodings.idna",
        "lakebed.cli.main",
        "lakebed.model",
        "lakebed._http.trust",
        "lakebed._render.html",
        "lakebed_engine.stores.kv.postgres.store",
        "lakebed_engine.stores.kv.sqlite.store",
        "lakebed_format.arrow",
        "lakebed_server.cli.main",
        "lakebed_server.cli.maintenance",
        "lakebed_server.process.serve",
        "lakebed_server.settings.load",
        "lakebed_spark.cli",
        "obstore.store",
        "uvicorn.lifespan.on",
        "uvloop",
    ),
    "client": (
        "lakebed.cli.main",
        "lakebed.cli.output",
        "lakebed.cli.targets",
        "lakebed._settings.default_lake",
        "lakebed._sync.handles.branch",
        "lakebed._sync.handles.lake",
        "lakebed._sync.handles.repository",
        "lakebed._sync.http.transport",
        "urllib3",
    ),
}
"""With what a server on PostgreSQL and S3, `fsck` and `rebuild` import when they need it: 0.2 s of each."""


class Born:
    """A process that the nursery forked, to be used as one of subprocess.Popen."""

    def __init__(self, pid: int, ask: Callable[[dict[str, Any]], Any]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ask = ask
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """How it ended: its exit code, or minus the signal that killed it; None while it lives."""
        with self._lock:
            if self.returncode is None:
                self.returncode = self._ask({"poll": self.pid})
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises TimeoutExpired after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with suppress(ProcessLookupError, AttributeError), _end_of(self.pid) as end:
            select.select([end], [], [], timeout)
        while (code := self.poll()) is None:
            if timeout is not None and deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(_POLL)
        return code

    def send_signal(self, number: int) -> None:
        """Does nothing when the process is known to have ended; until then the kernel does not reuse its pid."""
        with self._lock:
            if self.returncode is None:
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@contextmanager
def _end_of(pid: int) -> Iterator[int]:
    """A file that can be read as soon as the process has ended. Linux has such files."""
    file = os.pidfd_open(pid)
    try:
        yield file
    finally:
        os.close(file)


def born(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    out: Path,
    err: Path | None = None,
    *,
    given: str = os.devnull,
    kind: Kind = "server",
) -> Born:
    """Start the command `lakebed` with these arguments in a fresh process, which writes into these files.

    `given` is the file that it reads as its standard input.
    """
    ask = _nursery(kind)
    for file in {out, err or out}:
        file.write_bytes(b"")
    files = [given, str(out), str(err or out)]
    job = {"arguments": [*arguments], "environment": {**environment}, "files": files, "cwd": str(Path.cwd())}
    return Born(ask(job), ask)


def ended(
    arguments: Sequence[str], environment: Mapping[str, str], timeout: float, *, kind: Kind = "server"
) -> subprocess.CompletedProcess[str]:
    """Run the command `lakebed` with these arguments to its end. Raises TimeoutExpired after `timeout` seconds."""
    done = ended_with(b"", arguments, environment, timeout, kind=kind)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def ended_with(
    given: bytes, arguments: Sequence[str], environment: Mapping[str, str], timeout: float, *, kind: Kind
) -> subprocess.CompletedProcess[bytes]:
    """The same with these bytes as its standard input, and with what it prints as bytes."""
    with tempfile.TemporaryDirectory(prefix="lakebed-verb-") as folder:
        out, err, file = Path(folder, "out"), Path(folder, "err"), Path(folder, "in")
        file.write_bytes(given)
        process = born(arguments, environment, out, err, given=str(file), kind=kind)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
            process.wait()
        return subprocess.CompletedProcess([*arguments], code, out.read_bytes(), err.read_bytes())


@functools.cache
def _nursery(kind: Kind) -> Callable[[dict[str, Any]], Any]:
    """Start it: how to ask it something, from any thread."""
    process = subprocess.Popen([sys.executable, "-P", __file__, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lock = threading.Lock()

    def ask(job: dict[str, Any]) -> Any:
        assert process.stdin is not None
        assert process.stdout is not None
        with lock:
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        assert answer, "the nursery has ended; what it said stands on stderr"
        return json.loads(answer)

    atexit.register(_end, process, os.getpid())
    return ask


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() == owner:  # not in a process that a test has forked
        with process:
            process.terminate()


def _main() -> None:
    for name in _IMPORTED[sys.argv[1]]:
        try:
            import_module(name)
        except ModuleNotFoundError as error:  # the environments of recipes and of Spark lack some optional packages
            if str(error.name).startswith("lakebed"):
                raise
    if sys.argv[1] == "client":
        from lakebed.cli.main import _VERBS

        for name in {*_VERBS.values()}:
            import_module(f"lakebed.cli.{name}")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the test run
    gc.freeze()  # what is here is shared by all that are born, and never garbage
    for line in sys.stdin.buffer:
        job = json.loads(line)
        if "poll" in job:
            pid, status = os.waitpid(job["poll"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                _live(job)
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


def _live(job: dict[str, Any]) -> NoReturn:
    """The child's whole life."""
    modes = (os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_WRONLY | os.O_APPEND)
    for number, (file, mode) in enumerate(zip(job["files"], modes, strict=True)):
        ours = os.open(file, mode)
        os.dup2(ours, number)
        os.close(ours)
    sys.stdin = os.fdopen(0, closefd=False)  # the nursery's own may hold further jobs
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.argv = ["lakebed", *job["arguments"]]
    from lakebed.cli.main import main

    main()


if __name__ == "__main__":
    _main()
