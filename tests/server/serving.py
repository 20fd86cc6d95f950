"""`lakebed serve` as a process of its own, and raw requests to it."""

from __future__ import annotations

import base64
import http.client
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path

from tests.support.processes.nursery import Born, born
from tests.support.processes.server import clean_environment
from tests.support.waiting import PATIENCE, wait_until

START = "from lakebed_server.cli import commands; commands[0](prog_name='lakebed serve')"


PAIR = {"LAKEBED_ADMIN_ACCESS_KEY_ID": "AKIAJTESTS", "LAKEBED_ADMIN_SECRET_ACCESS_KEY": "a secret of tests"}


class Process:
    """A server process and what it said. It is born in 0.1 s of processor time, and where it `is_apart` takes 1.1 s."""

    is_apart = False
    """Python starts for it and imports the server, as it does for a user."""

    def __init__(self, *flags: str, **env: str) -> None:
        folder = Path(tempfile.mkdtemp(prefix="lakebed-serve-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._out, self._err = folder / "out", folder / "err"
        self._reported = 0
        self.said: list[str] = []
        self.process: subprocess.Popen[bytes] | Born
        if self.is_apart:
            with self._out.open("wb") as out, self._err.open("wb") as err:
                command = [sys.executable, "-c", START, *flags]
                self.process = subprocess.Popen(command, stdout=out, stderr=err, env=clean_environment(**env))
        else:
            self.process = born(["serve", *flags], clean_environment(**env), self._out, self._err)

    def ready(self) -> int:
        """Wait for the last line of the banner; gives the port."""
        wait_until(lambda: self._is_ready() or self.process.poll() is not None, "the server is ready, or has ended")
        assert self._is_ready(), f"the server ended: {self._err.read_text()}"
        self.said += self._new_lines()
        return int(next(line for line in self.said if "is ready at" in line).rsplit(":", 1)[1])

    def _is_ready(self) -> bool:
        text = self._err.read_text()
        return "stop with Ctrl-C" in text and text.endswith("\n")

    def _new_lines(self) -> list[str]:
        lines = self._err.read_text().splitlines(keepends=True)
        new, self._reported = lines[self._reported :], len(lines)
        return new

    def stop(self, sign: int = signal.SIGTERM) -> int:
        """Stop it, and give its exit code."""
        self.process.send_signal(sign)
        return self.wait()

    def wait(self) -> int:
        """Wait for its end."""
        code = self.process.wait(timeout=PATIENCE)
        self.said += ["".join(self._new_lines()), self._out.read_text()]
        return code

    def end(self) -> None:
        """Kill it, if it still runs."""
        self.process.kill()
        self.process.wait(timeout=PATIENCE)


def request(
    port: int,
    method: str,
    path: str,
    body: bytes = b"",
    pair: tuple[str, str] | None = None,
    *,
    json: bool = False,
) -> tuple[int, bytes]:
    key, secret = pair or tuple(PAIR.values())
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {"Authorization": "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()}
    if json:
        headers["Content-Type"] = "application/json"
    try:
        connection.request(method, "/api/v1" + path, body or None, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()
