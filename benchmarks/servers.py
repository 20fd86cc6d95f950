"""Starts what is measured: a real `lakebed serve`, and the baselines on the same stack."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

BASELINE = """
import os, uvicorn
from starlette.applications import Starlette
from starlette.responses import FileResponse, Response
from starlette.routing import Route
class Big(FileResponse): chunk_size = 1 << 20
async def empty(request): return Response(b"")
async def put(request):
    with open({folder!r} + request.url.path, "wb", buffering=0) as file:
        async for chunk in request.stream(): file.write(chunk)
        os.fsync(file.fileno())
    return Response(b"", 201)
async def get(request): return Big({folder!r} + request.url.path)
plain = [Route("/plain-{{n}}", put, methods=["POST"]), Route("/plain-{{n}}", get)]
app = Starlette(routes=[Route("/empty", empty), *plain])
uvicorn.run(app, host="127.0.0.1", port={port}, log_level="error", access_log=False, loop="uvloop", http="httptools")
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """A running server; `env` holds what a client needs."""

    port: int
    ready_s: float
    pid: int
    env: dict[str, str] = field(default_factory=dict)

    @property
    def credentials(self) -> tuple[str, str, str]:
        """Endpoint and access key pair."""
        names = ("LAKEBED_ENDPOINT", "LAKEBED_ACCESS_KEY_ID", "LAKEBED_SECRET_ACCESS_KEY")
        endpoint, key, secret = (self.env[name] for name in names)
        return endpoint, key, secret

    def run(self, module: str, *words: object) -> dict[str, float]:
        """What a module of this package prints about this server, run in a process of its own."""
        command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, (self.port, *words))]
        done = subprocess.run(command, env={**os.environ, **self.env}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{module} {words} failed: {done.stderr[-2000:]}")
        found: dict[str, float] = json.loads(done.stdout)
        return found

    def load(self, kind: str, connections: int, seconds: float, count: int = 10_000) -> dict[str, float]:
        """One load run in a process of its own."""
        found = self.run("server.load", connections, seconds, kind, count)
        if found["failed"]:
            raise SystemExit(f"load {kind}: {found['failed']} of {found['count']} answers were not 2xx")
        return found


@contextmanager
def started(command: list[str], port: int, path: str, env: dict[str, str], log: Path) -> Iterator[Server]:
    """A server process, from start until it answers; stopped at the end."""
    begin = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(command, env={**os.environ, **env}, stdout=output, stderr=subprocess.STDOUT)
        try:
            while True:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=1):
                        break
                except OSError:
                    if process.poll() is not None or time.perf_counter() - begin > 120:
                        raise SystemExit(f"{command[:4]} did not start:\n{log.read_text()[-3000:]}") from None
                    time.sleep(0.005)
            yield Server(port, time.perf_counter() - begin, process.pid, env)
        finally:
            process.terminate()
            process.wait(20)


@contextmanager
def lakebed(data: Path, *flags: str, **settings: str) -> Iterator[Server]:
    """`lakebed serve` on its embedded default (SQLite, a local object store, fsync on); more LAKEBED_* settings."""
    port = free_port()
    env = {
        "LAKEBED_ADMIN_ACCESS_KEY_ID": "AKIAJBENCHBENCHBENCQ",
        "LAKEBED_ADMIN_SECRET_ACCESS_KEY": secrets.token_urlsafe(30),
    }
    env["LAKEBED_ACCESS_KEY_ID"] = env["LAKEBED_ADMIN_ACCESS_KEY_ID"]
    env["LAKEBED_SECRET_ACCESS_KEY"] = env["LAKEBED_ADMIN_SECRET_ACCESS_KEY"]
    env["LAKEBED_ENDPOINT"] = f"http://127.0.0.1:{port}"
    env |= settings
    command = [sys.executable, "-m", "lakebed.cli", "serve", "--port", str(port), "--data-dir", str(data), *flags]
    with started(command, port, "/_health", env, data.parent / "server.log") as server:
        yield server


@contextmanager
def baseline(folder: Path) -> Iterator[Server]:
    """The same stack (Starlette, uvicorn, uvloop, httptools): an empty route, and a file copied plainly."""
    port = free_port()
    command = [sys.executable, "-c", BASELINE.format(port=port, folder=str(folder))]
    with started(command, port, "/empty", {}, folder / "baseline.log") as server:
        yield server
