"""Compare this checkout's server with an earlier one's in the rows of the comparison with other servers.

    python -m benchmarks.side_by_side BEFORE [--stores local|cloud] [--rounds 5] [--large 0]

BEFORE is a checkout of an earlier commit with an environment in `.venv`. `local` is SQLite and `local://`, `cloud` is
PostgreSQL with fsync and SeaweedFS, which are started for the run. Both servers run all the time and take turns in
being first. The requests are those of a client of the shared API: each small file is a form with the one field
`content`. The table has the median of (rate now / rate before) with the middle half, and of the server's CPU time.
`--large` is the number of rounds with a commit of 100,000 staged objects.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import obstore
import uvloop
from obstore.store import S3Store

from benchmarks.paired import KEY, ROOT, SECRET
from benchmarks.paired import Server as PairedServer
from benchmarks.server import load
from tests.support.services.postgres import running_postgres
from tests.support.services.s3 import S3Server, running_seaweedfs

SMALL, SMALL_CONNECTIONS = 4000, 32
MEDIUM, MEDIUM_CONNECTIONS = 3000, 16
LARGE = 256 << 20
OBJECTS = "/repositories/lake/branches/main/objects"
JSON = {"Content-Type": "application/json"}
_BOUNDARY = "0123456789abcdef0123456789abcdef"


class Server(PairedServer):
    """A running server with one repository, and what to send."""

    large = os.urandom(LARGE)

    def drive(self, requests: Iterator[bytes], count: int, connections: int) -> float:
        """Seconds for `count` requests over `connections` connections."""
        per_connection = [count // connections] * connections
        started = time.perf_counter()
        found = uvloop.run(_counted(self.connection.port, requests, per_connection))
        if found:
            raise SystemExit(f"{found} of {count} answers were not 2xx")
        return time.perf_counter() - started


class _Counted(load.Connection):
    """A connection that ends after a number of answers."""

    left = 0

    def data_received(self, data: bytes) -> None:
        before = len(self.latencies)
        if self.left == 1:
            self.deadline = 0
        super().data_received(data)
        self.left -= len(self.latencies) - before


async def _counted(port: int, requests: Iterator[bytes], counts: list[int]) -> int:
    numbers = iter(counts)

    def made(*arguments: object) -> _Counted:
        one = _Counted(*arguments)  # type: ignore[arg-type]
        one.left = next(numbers)
        return one

    found = await load.drive(port, requests, len(counts), 3600, made)  # type: ignore[arg-type]
    return int(found["failed"])


def _authorization() -> str:
    return load.authorization({"LAKEBED_ACCESS_KEY_ID": KEY, "LAKEBED_SECRET_ACCESS_KEY": SECRET})


def _request(method: str, target: str, kind: str = "", body: bytes = b"") -> bytes:
    head = f"{method} /api/v1{target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{_authorization()}"
    if body:
        head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def forms(server: Server, size: int) -> Iterator[bytes]:
    """Uploads as generated clients send them: a form with one field, each to a new path."""
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="content"; filename="content"\r\n'
    head += "Content-Type: application/octet-stream\r\n\r\n"
    body = head.encode() + os.urandom(size) + f"\r\n--{_BOUNDARY}--\r\n".encode()
    for _ in itertools.count():
        path = f"{OBJECTS}?path=files/{next(server.numbers):09d}.bin"
        yield _request("POST", path, f"multipart/form-data; boundary={_BOUNDARY}", body)


def downloads(first: int) -> Iterator[bytes]:
    """Downloads of the files from a number on."""
    for number in itertools.count(first):
        yield _request("GET", f"/repositories/lake/refs/main/objects?path=files/{number:09d}.bin")


def stage_many(server: Server, count: int) -> None:
    """Stage objects by the batch call, 10,000 at a time."""
    for _ in range(count // 10_000):
        parts = b"".join(
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="content"; filename="many/{number:09d}"\r\n'
            f"Content-Type: application/octet-stream\r\n\r\n{number}\r\n".encode()
            for number in itertools.islice(server.numbers, 10_000)
        )
        body = parts + f"--{_BOUNDARY}--\r\n".encode()
        kind = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
        server.ask("POST", f"{OBJECTS}/batch", body, kind)


class Round:
    """What one server does in one round: seconds of time and of CPU by row."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.found: dict[str, tuple[float, float]] = {}

    @contextlib.contextmanager
    def row(self, name: str) -> Iterator[None]:
        self.server.connection.close()  # the server ends idle ones
        cpu, started = self.server.cpu(), time.perf_counter()
        yield
        self.found[name] = time.perf_counter() - started, self.server.cpu() - cpu

    def run(self, large: bool) -> None:
        server = self.server
        with self.row("4,000 forms of 1 KiB, 32 connections"):
            server.drive(forms(server, 1024), SMALL, SMALL_CONNECTIONS)
        with self.row("commit of 4,000 staged objects"):
            self._commit()
        first = next(server.numbers) + 1
        with self.row("3,000 forms of 4 KiB, 16 connections"):
            server.drive(forms(server, 4096), MEDIUM, MEDIUM_CONNECTIONS)
        with self.row("download of these, 16 connections"):
            server.drive(downloads(first), MEDIUM - MEDIUM_CONNECTIONS, MEDIUM_CONNECTIONS)
        server.connection.close()
        self._commit()
        with self.row("upload of 256 MiB, one connection"):
            server.ask("POST", f"{OBJECTS}?path=large", server.large, {"Content-Type": "application/octet-stream"})
        with self.row("download of 256 MiB"):
            self._read()
        if large:
            server.connection.close()
            stage_many(server, 100_000)
            with self.row("commit of 100,000 staged objects"):
                self._commit()

    def _commit(self) -> None:
        self.server.ask("POST", "/repositories/lake/branches/main/commits", b'{"message":"files"}', JSON)

    def _read(self) -> None:
        link = self.server.connection
        link.request("GET", "/api/v1/repositories/lake/refs/main/objects?path=large", headers=self.server.headers)
        answer, buffer, size = link.getresponse(), memoryview(bytearray(1 << 20)), 0
        while count := answer.readinto(buffer):
            size += count
        if size != LARGE:
            raise SystemExit(f"the download has {size} bytes")


def put_in_parts(bucket: S3Server, source: Path) -> float:
    """Seconds in which obstore puts a file into the bucket in parts: what the store itself takes."""
    store = S3Store(
        bucket.bucket, endpoint=bucket.endpoint, region="us-east-1", access_key_id=bucket.access_key_id,
        secret_access_key=bucket.secret_access_key, client_options={"allow_http": True},
    )  # fmt: skip
    started = time.perf_counter()
    obstore.put(store, f"plain/{uuid4().hex}", source, use_multipart=True, chunk_size=8 << 20)
    return time.perf_counter() - started


@contextlib.contextmanager
def running(checkout: Path, folder: Path, bucket: S3Server | None) -> Iterator[Server]:
    """The server of a checkout, with stores that only it uses."""
    folder.mkdir()
    with contextlib.ExitStack() as stack:
        settings: dict[str, str] = {}
        namespace = "local://files"
        if bucket is not None:
            postgres = stack.enter_context(running_postgres(durable=True))
            namespace = bucket.namespace()
            settings = {
                "LAKEBED_KV_TYPE": "postgres",
                "LAKEBED_KV_POSTGRES_DSN": postgres.dsn,
                "LAKEBED_OBJECTS_S3_ENDPOINT": bucket.endpoint,
                "LAKEBED_OBJECTS_S3_REGION": "us-east-1",
                "LAKEBED_OBJECTS_S3_ACCESS_KEY_ID": bucket.access_key_id,
                "LAKEBED_OBJECTS_S3_SECRET_ACCESS_KEY": bucket.secret_access_key,
                "LAKEBED_OBJECTS_S3_ALLOW_HTTP": "true",
            }
        server = Server(checkout, folder, namespace=namespace, **settings)
        stack.callback(server.stop)
        yield server


def compare(before: Server, now: Server, given: argparse.Namespace, bucket: S3Server | None, source: Path) -> None:
    """Run the rounds and print the table."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    direct: list[float] = []
    for number in range(given.rounds + 1):
        rounds = {server: Round(server) for server in ((before, now) if number % 2 else (now, before))}
        for one in rounds.values():
            one.run(large=0 < number <= given.large)
        for name, (old, old_cpu) in rounds[before].found.items():
            new, new_cpu = rounds[now].found[name]
            if number:  # the first round warms up
                pairs.setdefault(name, []).append((old / new, new_cpu / max(old_cpu, 0.01)))
            print(f"  {number} {name}: {old:.3f} and {new:.3f} s, CPU {old_cpu:.2f} and {new_cpu:.2f} s", flush=True)
        if number and bucket is not None:
            direct.append(put_in_parts(bucket, source) / rounds[now].found["upload of 256 MiB, one connection"][0])
    print("| row | rate, now / before | server CPU, now / before |\n|---|---|---|")
    for name, found in pairs.items():
        print(f"| {name} | {_shown([one for one, _ in found])} | {_shown([one for _, one in found])} |")
    if direct:
        print(f"| upload of 256 MiB, rate / rate of obstore in parts from a file | {_shown(direct)} | |")


def _shown(values: list[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.2f}"
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    """Compare two checkouts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout of the earlier commit, with .venv")
    parser.add_argument("--stores", choices=("local", "cloud"), default="local")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--large", type=int, default=0)
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        bucket = stack.enter_context(running_seaweedfs()) if given.stores == "cloud" else None
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="side-")))
        source = root / "source"
        source.write_bytes(os.urandom(LARGE))
        before = stack.enter_context(running(given.before.resolve(), root / "before", bucket))
        now = stack.enter_context(running(ROOT, root / "now", bucket))
        compare(before, now, given, bucket, source)


if __name__ == "__main__":
    main()
