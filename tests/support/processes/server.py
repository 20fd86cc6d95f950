"""A real `lakebed serve` in a process of its own, on a free port, over an empty directory.

    with running_server(tmp_path_factory) as server:
        lake = lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key)

Most tests want the fixtures `server`, `lake` and `repo` of `tests/conftest.py` instead.
"""

from __future__ import annotations

import os
import re
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import lakebed
import psutil
import pytest

from tests.support.processes.nursery import Born, born
from tests.support.waiting import PATIENCE

ADMIN_ID = "LBADMINTESTKEY000000"
ADMIN_SECRET = "test-secret-of-the-admin-0123456789abcdef"
_READY = re.compile(r"is ready at (https?://\S+)")


def workers_of(server: RunningServer) -> set[int]:
    """The processes of a server with `--workers`."""
    return {child.pid for child in psutil.Process(server.process.pid).children()}


def lake_of(repository: lakebed.Repository) -> lakebed.Lake:
    """A handle to the lake of a repository, over the same connection."""
    return lakebed.Lake._over(repository._transport)


class RunningServer(NamedTuple):
    """Its address, its access keys, and its data directory."""

    endpoint: str
    access_key_id: str
    secret_access_key: str
    data_dir: Path
    process: subprocess.Popen[bytes] | Born

    @property
    def log(self) -> str:
        """What it has written so far, standard error included."""
        return (self.data_dir.parent / f"{self.data_dir.name}.log").read_text(errors="replace")

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which `lakebed.connect()` and the command find it."""
        return {
            "LAKEBED_ENDPOINT": self.endpoint,
            "LAKEBED_ACCESS_KEY_ID": self.access_key_id,
            "LAKEBED_SECRET_ACCESS_KEY": self.secret_access_key,
        }


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment without any setting of a lake, so that no test depends on the machine's own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("LAKEBED_", "LAKECTL_", "LAKEFS_"))}
    return {**kept, **more}


@contextmanager
def running_server(
    directories: pytest.TempPathFactory | Path,
    *,
    flags: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    program: Sequence[str] = (),
) -> Iterator[RunningServer]:
    """Start a server, wait until it is healthy, and stop it at the end. Fails with its output when it does not come up.

    `directories` is pytest's `tmp_path_factory`, or the data directory itself (to start again over the same data).
    `program` is what Python runs as the command `lakebed`; without any, the command itself, born where it is imported.
    """
    data_dir = directories if isinstance(directories, Path) else directories.mktemp("server") / "data"
    data_dir.mkdir(parents=True, exist_ok=True)
    log = data_dir.parent / f"{data_dir.name}.log"
    arguments = ["serve", "--port", "0", "--data-dir", str(data_dir), *flags]
    admin = {"LAKEBED_ADMIN_ACCESS_KEY_ID": ADMIN_ID, "LAKEBED_ADMIN_SECRET_ACCESS_KEY": ADMIN_SECRET}
    variables = clean_environment(**{**admin, **(environment or {})})
    if program:
        process = _start([sys.executable, *program, *arguments], variables, log)
    else:
        process = born(arguments, variables, log)
    try:
        yield RunningServer(_wait(process, log, variables), ADMIN_ID, ADMIN_SECRET, data_dir, process)
    finally:
        _stop(process, log)


def _start(command: Sequence[str], variables: Mapping[str, str], log: Path) -> subprocess.Popen[bytes] | Born:
    with log.open("wb") as output:
        return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=variables)


def _wait(process: subprocess.Popen[bytes] | Born, log: Path, variables: Mapping[str, str]) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        found = _READY.search(log.read_text(errors="replace"))
        if found and _healthy(found[1], variables.get("LAKEBED_LISTEN_TLS_CERTIFICATE", "")):
            return found[1]
        time.sleep(0.02)
    said = log.read_text(errors="replace")
    raise AssertionError(f"the server did not come up (exit code {process.poll()}); it said:\n{said}")


def _healthy(endpoint: str, certificate: str) -> bool:
    trusted = ssl.create_default_context(cafile=certificate) if certificate else True
    try:
        return httpx.get(f"{endpoint}/_health", timeout=20.0, verify=trusted).is_success
    except httpx.HTTPError:
        return False


def _stop(process: subprocess.Popen[bytes] | Born, log: Path) -> None:
    was_running = process.poll() is None
    process.terminate()
    try:
        code = process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError(f"the server did not stop; it said:\n{log.read_text(errors='replace')}") from None
    if was_running and code != 0:
        raise AssertionError(f"the server stopped with {code}; it said:\n{log.read_text(errors='replace')}")
