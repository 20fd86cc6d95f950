"""A real server in a process of its own, for tests that must not know how it is made."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEY, SECRET = "AKIAJSDKTESTSDKTESTQ", "sdk-test-secret"
_SERVE = "from lakebed_server.cli import commands; next(c for c in commands if c.name == 'serve')()"


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Start `lakebed serve` on a free port; gives its endpoint."""
    log = folder / "server.log"
    environment = {**os.environ, "LAKEBED_ADMIN_ACCESS_KEY_ID": KEY, "LAKEBED_ADMIN_SECRET_ACCESS_KEY": SECRET}
    arguments = [sys.executable, "-c", _SERVE, "--port", "0", "--data-dir", str(folder / "data")]
    with log.open("wb") as output:
        process = subprocess.Popen(arguments, stdout=output, stderr=output, env=environment, cwd=folder)
    try:
        yield _endpoint(process, log)
    finally:
        process.terminate()
        process.wait(20)


def _endpoint(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"ready at (http://\S+)", log.read_text()):
            return found[1]
        time.sleep(0.02)
    raise AssertionError(f"the server did not start:\n{log.read_text()}")
