"""Measures how many product files and functions a request passes through.

    python -m tools.metrics.call_paths             a table
    python -m tools.metrics.call_paths --check     fail where a limit is missed
    python -m tools.metrics.call_paths --list put  name the files of one request, in order of the first call

The server runs in this process, on SQLite and `local://` in a temporary directory. Each request is sent once to warm up
and then recorded with `sys.setprofile` five times. The shortest of these counts, because the work that a server does
every half second may run at the same moment. Server requests are sent by `http.client`, so that no file of the SDK
counts. A function counts once for each place of its definition. A call is every start or resumption of a function. A
move is a call in another file than the call before it in the same thread. Generated files and the test double do not
count.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import lakebed
import lakebed_testing

ROOT = Path(__file__).resolve().parents[2]
SERVER = ("server_stub/lakebed_server/", "server_stub/lakebed_engine/", "sdk/lakebed_format/")
SDK = ("sdk/lakebed/",)
"""Without `lakebed_format`, which the server in this process uses: a put by the API does not use it in the SDK."""
LIMITS: dict[str, tuple[int, int | None]] = {
    "put": (22, 100),
    "stat staged": (16, None),
    "stat committed": (16, None),
    "commit": (32, 200),
    "client put": (9, None),
}
"""Files and functions at most."""
RECORDED = 5
"""How often each request is recorded."""


@dataclass
class CallPath:
    """The product functions that one request has called."""

    files: dict[str, None] = field(default_factory=dict)
    functions: dict[tuple[str, str, int], None] = field(default_factory=dict)
    calls: int = 0
    moves: int = 0
    _last: dict[int, str] = field(default_factory=dict)

    def add(self, frame: FrameType, file: str) -> None:
        code = frame.f_code
        self.files.setdefault(file)
        self.functions.setdefault((file, code.co_qualname, code.co_firstlineno))
        thread = threading.get_ident()
        self.calls += 1
        self.moves += self._last.get(thread, file) != file
        self._last[thread] = file


class Recorder:
    """Notes the product functions that run in any thread that starts after it."""

    def __init__(self) -> None:
        self._now: CallPath | None = None
        self._packages: tuple[str, ...] = ()

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """A profile function."""
        if event != "call" or self._now is None:
            return
        file = frame.f_code.co_filename.removeprefix(f"{ROOT}/").replace("/_sync/", "/_async/")
        if file.startswith(self._packages):
            self._now.add(frame, file)

    def record(self, request: Callable[[], Any], packages: tuple[str, ...]) -> CallPath:
        """The path of one request through these packages."""
        self._packages, self._now = packages, CallPath()
        try:
            request()
        finally:
            done, self._now = self._now, None
        return done


@contextmanager
def recorder() -> Iterator[Recorder]:
    """A recorder for this thread and for all that start inside."""
    made = Recorder()
    threading.setprofile(made.note)
    sys.setprofile(made.note)
    try:
        yield made
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


class Client:
    """Sends requests without the SDK."""

    def __init__(self, server: lakebed_testing.LakebedServer) -> None:
        host, _, port = server.endpoint.removeprefix("http://").partition(":")
        self._connection = http.client.HTTPConnection(host, int(port))
        pair = base64.b64encode(f"{server.access_key_id}:{server.secret_access_key}".encode()).decode()
        self._headers = {"Authorization": f"Basic {pair}"}

    def send(self, method: str, path: str, body: bytes = b"", content_type: str = "application/octet-stream") -> None:
        """Send a request. Raises RuntimeError when it fails."""
        headers = {**self._headers, "Content-Type": content_type}
        self._connection.request(method, f"/api/v1/repositories/sales{path}", body, headers)
        response = self._connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {text.decode()}")


def measure() -> dict[str, CallPath]:
    """The paths of all requests."""
    found: dict[str, CallPath] = {}
    with tempfile.TemporaryDirectory() as directory, recorder() as record:
        settings = {"data_dir": directory, "kv.type": "sqlite", "objects.local.root": f"{directory}/objects"}
        with (
            lakebed_testing.server(settings) as server,
            lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake,
        ):
            branch = lake.repository("sales").create("local://sales").branch("main")
            client = Client(server)
            numbers = iter(range(1000))
            commit = b'{"message": "m"}'

            def put() -> None:
                client.send("POST", f"/branches/main/objects?path=p/{next(numbers)}", b"x" * 1024)

            def stat(path: str) -> Callable[[], None]:
                return lambda: client.send("GET", f"/refs/main/objects/stat?path={path}")

            def commit_one() -> None:
                client.send("POST", "/branches/main/commits", commit, "application/json")

            def shortest(name: str, request: Callable[[], Any], packages: tuple[str, ...], before: Any = None) -> None:
                paths = []
                for _ in range(1 + RECORDED):
                    if before is not None:
                        before()
                    paths.append(record.record(request, packages))
                found[name] = min(paths[1:], key=lambda path: path.calls)

            branch.put("committed", b"1")
            branch.commit("first")
            branch.put("staged", b"2")
            shortest("put", put, SERVER)
            shortest("stat staged", stat("staged"), SERVER)
            shortest("stat committed", stat("committed"), SERVER)
            shortest("commit", commit_one, SERVER, put)
            shortest("client put", lambda: branch.put(f"c/{next(numbers)}", b"x" * 1024), SDK)
    return found


def missed(found: dict[str, CallPath]) -> list[str]:
    """The limits that are exceeded."""
    texts = []
    for name, (files, functions) in LIMITS.items():
        path = found[name]
        if len(path.files) > files:
            texts.append(f"{name}: {len(path.files)} files, at most {files}")
        if functions is not None and len(path.functions) > functions:
            texts.append(f"{name}: {len(path.functions)} functions, at most {functions}")
    return texts


def main() -> int:
    """Print the table. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed")
    parser.add_argument("--list", choices=list(LIMITS), help="the functions of one request by file")
    chosen = parser.parse_args()
    found = measure()
    print("| request | files | functions | calls | moves |\n|---|--:|--:|--:|--:|")
    for name, path in found.items():
        print(f"| {name} | {len(path.files)} | {len(path.functions)} | {path.calls} | {path.moves} |")
    if chosen.list:
        path = found[chosen.list]
        for file in path.files:
            print(f"{file}: {', '.join(name for where, name, _ in path.functions if where == file)}")
    texts = missed(found) if chosen.check else []
    print("".join(f"missed: {text}\n" for text in texts), end="", file=sys.stderr)
    return 1 if texts else 0


if __name__ == "__main__":
    raise SystemExit(main())
