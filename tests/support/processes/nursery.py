"""Servers without the wait for imports: a process that has imported `lakebed serve` forks one for each start.

    process = born(["serve", "--port", "0"], environment, log)    # much of what subprocess.Popen has
    process.kill()
    process.wait()

Python and the server's imports take a second of CPU time, a fork some milliseconds; what is born runs the command
itself in a process of its own, with its own environment, files and sockets. One nursery serves a whole run of pytest:
it starts when first needed, and ends with the process that started it. That the command starts by itself is seen by
`tests/server/process/test_serve.py` and others.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

_POLL = 0.005
"""Seconds between two polls of a process: only its parent, the nursery, is notified of its end."""


_IMPORTED = (
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
)
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


def born(arguments: Sequence[str], environment: Mapping[str, str], out: Path, err: Path | None = None) -> Born:
    """Start the command `lakebed` with these arguments in a fresh process, which writes into these files."""
    ask = _nursery()
    for file in {out, err or out}:
        file.write_bytes(b"")
    files = [str(out), str(err or out)]
    job = {"arguments": [*arguments], "environment": {**environment}, "files": files, "cwd": str(Path.cwd())}
    return Born(ask(job), ask)


def ended(arguments: Sequence[str], environment: Mapping[str, str], timeout: float) -> subprocess.CompletedProcess[str]:
    """Run the command `lakebed` with these arguments to its end. Raises TimeoutExpired after `timeout` seconds."""
    with tempfile.TemporaryDirectory(prefix="lakebed-verb-") as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = born(arguments, environment, out, err)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
            process.wait()
        return subprocess.CompletedProcess([*arguments], code, out.read_text(), err.read_text())


@functools.cache
def _nursery() -> Callable[[dict[str, Any]], Any]:
    """Start it: how to ask it something, from any thread."""
    process = subprocess.Popen([sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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
    for name in _IMPORTED:
        import_module(name)
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
    out, err = (os.open(one, os.O_WRONLY | os.O_APPEND) for one in job["files"])
    for ours, theirs in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
        os.dup2(ours, theirs)
        os.close(ours)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.argv = ["lakebed", *job["arguments"]]
    from lakebed.cli.main import main

    main()


if __name__ == "__main__":
    _main()
