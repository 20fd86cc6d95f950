"""`lakebed serve` as a process of its own, and raw requests to it."""

from __future__ import annotations

import base64
import http.client
import os
import signal
import subprocess
import sys

from tests.support.waiting import PATIENCE

START = "from lakebed_server.cli import commands; commands[0](prog_name='lakebed serve')"


PAIR = {"LAKEBED_ADMIN_ACCESS_KEY_ID": "AKIAJTESTS", "LAKEBED_ADMIN_SECRET_ACCESS_KEY": "a secret of tests"}


class Process:
    """A server process and what it said."""

    def __init__(self, *flags: str, **env: str) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("LAKEBED_")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**clean, **env},
        )
        self.said: list[str] = []

    def ready(self) -> int:
        """Wait for the last line of the banner; gives the port."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if "stop with Ctrl-C" in line:
                break
        assert self.said, "the server said nothing"
        return int(next(line for line in self.said if "is ready at" in line).rsplit(":", 1)[1])

    def stop(self, sign: int = signal.SIGTERM) -> int:
        """Stop it, and give its exit code."""
        self.process.send_signal(sign)
        return self.wait()

    def wait(self) -> int:
        """Wait for its end."""
        out, err = self.process.communicate(timeout=PATIENCE)
        self.said.append(err)
        self.said.append(out)
        return self.process.returncode


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
