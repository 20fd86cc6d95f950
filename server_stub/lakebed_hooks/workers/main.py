"""The process that the server starts for a hook: `python -m lakebed_hooks.workers.main CONTROL LAKE SECONDS`.

It starts a second process, which runs the hook, and waits for its end. It adopts every process below it whose parent
ends, so it can end all of them: when the hook has ended, when the server closes the control socket (also because the
server died), and after the time limit. `CONTROL` and `LAKE` are numbers of sockets.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from typing import Final, NoReturn

from lakebed_hooks.workers import system
from lakebed_hooks.workers.connection import Progress

_SPARE_SECONDS: Final = 5.0
"""Additional seconds. The server ends the hook after its time limit, so this process waits a little longer."""


def main() -> None:
    """Run the hook, report its exit status to the server, and end all processes that it started."""
    control, lake = socket.socket(fileno=int(sys.argv[1])), socket.socket(fileno=int(sys.argv[2]))
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    system.adopt_orphans()
    progress = Progress()
    process = os.fork()
    if process == 0:
        for one in (control, woken, wake):
            one.close()
        _run_hook(lake, progress)
    lake.close()
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    status = _wait(process, control, woken, time.monotonic() + float(sys.argv[3]) + _SPARE_SECONDS)
    system.end_descendants(process)
    if status is not None:
        with contextlib.suppress(ConnectionError):  # the server already has the outcome
            control.sendall(json.dumps({"status": status, "paths": progress.paths()[:3]}).encode())


def _run_hook(lake: socket.socket, progress: Progress) -> NoReturn:
    from lakebed_hooks.workers.answering import answer

    os.setsid()
    system.end_with_parent()
    code = 0
    try:
        answer(lake, progress)
    except BaseException:
        code = 70
        with contextlib.suppress(Exception):
            traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)


def _wait(process: int, control: socket.socket, woken: socket.socket, until: float) -> int | None:
    """The exit status of the hook's process. None: the time limit has passed, or the server ends the hook."""
    while True:
        found, status = os.waitpid(-1, os.WNOHANG)  # also processes that the hook left
        if found == process:
            return os.waitstatus_to_exitcode(status)
        if found:
            continue
        left = until - time.monotonic()
        ready, _, _ = select.select([control, woken], [], [], max(0.0, left))
        if control in ready or not ready:
            return None
        woken.recv(4096)


if __name__ == "__main__":
    main()
