"""SIGHUP: the log goes on in a new file, with workers too; a terminal that closes still stops the server."""

from __future__ import annotations

import os
import pty
import signal
import sys
from pathlib import Path

import httpx
import pytest

from tests.server.serving import START
from tests.support.processes.server import clean_environment, running_server
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("workers", ["1", "3"])
def test_the_log_goes_on_in_a_new_file(tmp_path: Path, workers: str) -> None:
    """What logrotate does: move the file, send SIGHUP, and the lines from then on are in a new one."""
    path, moved = tmp_path / "lake.log", tmp_path / "lake.log.1"
    environment = {"LAKEBED_LOGGING_OUTPUT": str(path), "LAKEBED_LOGGING_LEVEL": "DEBUG"}
    with running_server(tmp_path / "data", flags=["--workers", workers], environment=environment) as server:

        def ask(name: str) -> None:
            for number in range(20):  # each on a connection of its own: any of the workers may answer it
                httpx.get(f"{server.endpoint}/api/v1/{name}/{number}")

        ask("before")
        wait_until(lambda: path.read_text().count("/before/") == 20, "the lines are written")
        path.rename(moved)
        ask("between")
        wait_until(lambda: moved.read_text().count("/between/") == 20, "they follow the moved file")
        os.kill(server.process.pid, signal.SIGHUP)
        wait_until(lambda: path.exists() and _writers(path) == int(workers), "every process has the new file")
        assert _writers(moved) == 0
        ask("after")
        wait_until(lambda: path.read_text().count("/after/") == 20, "the lines are in the new file")
        assert path.stat().st_mode & 0o777 == 0o600
        assert "/after/" not in moved.read_text()


def _writers(path: Path) -> int:
    """How many processes have a file open."""
    wanted, found = os.stat(path), set()
    for entry in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            one = entry.stat()
        except OSError:
            continue
        if (one.st_dev, one.st_ino) == (wanted.st_dev, wanted.st_ino):
            found.add(entry.parts[2])
    return len(found)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_terminal_that_closes_stops_the_server(tmp_path: Path, workers: str) -> None:
    arguments = ["--data-dir", str(tmp_path / "data"), "--port", "0", "--workers", workers]
    environment = clean_environment(HOME=str(tmp_path), LAKEBED_LOGGING_OUTPUT=str(tmp_path / "log"))
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under `nohup make test` it is ignored, and so by the server
        os.execve(sys.executable, [sys.executable, "-c", START, *arguments], environment)
    said = b""
    while b"stop with Ctrl-C" not in said:
        said += os.read(terminal, 4096)
    os.kill(pid, signal.SIGHUP)  # the terminal is still open
    assert os.waitpid(pid, os.WNOHANG) == (0, 0)
    os.close(terminal)
    ended = 0

    def is_over() -> bool:
        nonlocal ended
        found, ended = os.waitpid(pid, os.WNOHANG)
        return found == pid

    wait_until(is_over, "the server ends")
    assert os.waitstatus_to_exitcode(ended) == 0
