"""Compares the S3 gateway with SeaweedFS's S3 server and moto's. The same clients send the same requests. Prints JSON.

    python -m benchmarks.server.s3 FOLDER [SECONDS] [ROUNDS] [SERVERS] [KINDS]

Every round asks the servers in turn, each time beginning with another one. The figures are medians. Each server is a
separate process on this machine, over an empty directory on the same disk. `lakebed` (one process) and `workers` (two)
sync every object and row before they answer. `process` is `workers` with `durability: process`, which syncs nothing, as
SeaweedFS does by default. `synced` is a SeaweedFS that is configured to sync its volumes. `process` and `synced` get
only the requests where this matters: the puts. moto keeps everything in memory, and runs only in the first round.
"""

from __future__ import annotations

import io
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]

from benchmarks import servers
from benchmarks.server.s3_load import BIG, KEYS
from tests.support.services.s3 import S3Server, running_seaweedfs

CONNECTIONS = 8
LIGHT = ("put", "get", "list", "big_put", "big_get")
BOTO = ("boto_put", "boto_get", "boto_list", "boto_big_put", "boto_big_get")
SERVERS = "lakebed,workers,process,seaweedfs,synced,moto"
PUTS_ONLY = ("process", "synced")
"""Servers that differ from another one in when they sync, and so in nothing but puts."""
TWO = ("--workers", "2")
_PATIENCE = 120.0
"""Seconds for one run of the light client: a server that stops answering must not stop everything."""


@dataclass(frozen=True)
class Peer:
    """A server under measurement."""

    name: str
    port: int
    bucket: str
    prefix: str
    access_key_id: str
    secret_access_key: str

    def boto(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{self.port}",
            aws_access_key_id=self.access_key_id,
            aws_secret_access_key=self.secret_access_key,
            region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}, max_pool_connections=16, retries={"max_attempts": 1}),
        )

    def light(self, kind: str, seconds: float) -> float:
        """Requests, keys or MiB a second, by `s3_load`."""
        connections = 1 if kind == "list" else CONNECTIONS
        amount = 4 if kind.startswith("big") else seconds
        command = [sys.executable, "-m", "benchmarks.server.s3_load", self.port, self.bucket, self.prefix, kind]
        keys = {"AWS_ACCESS_KEY_ID": self.access_key_id, "AWS_SECRET_ACCESS_KEY": self.secret_access_key}
        words = [str(word) for word in (*command, connections, amount)]
        try:
            done = subprocess.run(
                words, env={**os.environ, **keys}, capture_output=True, text=True, check=False, timeout=_PATIENCE
            )
        except subprocess.TimeoutExpired:
            raise SystemExit(f"{kind} of {self.name}: not over after {_PATIENCE:.0f} s") from None
        if done.returncode:
            raise SystemExit(f"{kind} of {self.name}: {done.stderr[-2000:]}")
        found = json.loads(done.stdout)
        if found["failed"]:
            raise SystemExit(f"{kind} of {self.name}: {found['failed']} answers were not 2xx")
        return float(found["rate"]) * (1000 if kind == "list" else 1)

    def heavy(self, kind: str, seconds: float) -> float:
        """The same by boto3: with threads for small objects, with its transfer manager for large ones."""
        s3 = self.boto()
        run = os.urandom(4).hex()
        if kind == "boto_list":
            return _repeated(lambda: self._list(s3), seconds)
        if kind == "boto_big_put":
            body = os.urandom(BIG)
            return _repeated(lambda: self._upload(s3, body, f"{self.prefix}big/{run}"), seconds)
        if kind == "boto_big_get":
            return _repeated(lambda: self._download(s3), seconds)
        body = os.urandom(1024)

        def put(number: int) -> None:
            s3.put_object(Bucket=self.bucket, Key=f"{self.prefix}up-{run}/{number:06d}", Body=body)

        def get(number: int) -> None:
            s3.get_object(Bucket=self.bucket, Key=f"{self.prefix}small/{number * 7919 % KEYS:06d}")["Body"].read()

        return _rate(put if kind == "boto_put" else get, seconds)

    def _list(self, s3: Any) -> int:
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=f"{self.prefix}small/")
        return sum(len(page["Contents"]) for page in pages)

    def _upload(self, s3: Any, body: bytes, key: str) -> int:
        s3.upload_fileobj(io.BytesIO(body), self.bucket, key)
        return len(body) >> 20

    def _download(self, s3: Any) -> int:
        s3.download_fileobj(self.bucket, f"{self.prefix}big/read", io.BytesIO())
        return BIG >> 20


def _repeated(job: Callable[[], int], seconds: float) -> float:
    """Repeat a job for at least `seconds` seconds, and at least one time. Returns its work for each second."""
    begun = time.perf_counter()
    done = job()
    while (elapsed := time.perf_counter() - begun) < seconds:
        done += job()
    return done / elapsed


def _rate(job: Callable[[int], None], seconds: float) -> float:
    deadline = time.perf_counter() + seconds

    def work(first: int) -> int:
        number = first
        while time.perf_counter() < deadline:
            job(number)
            number += CONNECTIONS
        return (number - first) // CONNECTIONS

    begun = time.perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        done = sum(threads.map(work, range(CONNECTIONS)))
    return done / (time.perf_counter() - begun)


@contextmanager
def peers(folder: Path, names: list[str]) -> Iterator[list[Peer]]:
    """The servers of these names, ready and filled."""
    made: list[Peer] = []
    with ExitStack() as stack:
        if "lakebed" in names:
            made.append(_lakebed(stack.enter_context(servers.lakebed(folder / "lakebed"))))
        if "workers" in names:
            made.append(_lakebed(stack.enter_context(servers.lakebed(folder / "workers", *TWO)), "workers"))
        if "process" in names:
            unsynced = servers.lakebed(folder / "process", *TWO, LAKEBED_DURABILITY="process")
            made.append(_lakebed(stack.enter_context(unsynced), "process"))
        if "seaweedfs" in names:
            made.append(_seaweedfs(stack.enter_context(running_seaweedfs()), "seaweedfs"))
        if "synced" in names:
            made.append(_seaweedfs(stack.enter_context(running_seaweedfs(synced=True)), "synced"))
        if "moto" in names:
            port = servers.free_port()
            command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
            stack.enter_context(servers.started(command, port, "/moto-api/", {}, folder / "moto.log"))
            moto = Peer("moto", port, "bench", "main/", "benchbench", "benchbench")
            moto.boto().create_bucket(Bucket="bench")
            made.append(moto)
        for peer in made:
            if peer.name not in PUTS_ONLY:
                peer.light("fill", 0)
        yield made


def _seaweedfs(server: S3Server, name: str) -> Peer:
    port = int(server.endpoint.rpartition(":")[2])
    return Peer(name, port, server.bucket, "main/", server.access_key_id, server.secret_access_key)


def _lakebed(server: servers.Server, name: str = "lakebed") -> Peer:
    import lakebed

    with lakebed.connect(*server.credentials) as lake:
        lake.repository("bench").create("local://bench").branch("main")
    _, key, secret = server.credentials
    return Peer(name, server.port, "bench", "main/", key, secret)


def _is_asked(peer: Peer, kind: str, turn: int) -> bool:
    if peer.name in PUTS_ONLY:
        return kind.endswith("put")
    return peer.name != "moto" or turn == 0


def measure(folder: Path, seconds: float, rounds: int, names: list[str], kinds: tuple[str, ...]) -> dict[str, float]:
    rates: dict[str, list[float]] = {}
    with peers(folder, names) as found:
        for kind in kinds:
            if kind in BOTO:
                # do not measure what boto3 imports and builds at first
                next(peer for peer in found if _is_asked(peer, kind, 0)).heavy(kind, 0)
        for turn in range(rounds):
            for kind in kinds:
                for peer in found:
                    if _is_asked(peer, kind, turn):
                        rate = peer.heavy(kind, seconds) if kind in BOTO else peer.light(kind, seconds)
                        rates.setdefault(f"{peer.name}_{kind}", []).append(rate)
            found.append(found.pop(0))
    return {name: statistics.median(each) for name, each in rates.items()}


def main() -> None:
    place, *rest = sys.argv[1:]
    seconds, rounds = float(rest[0]) if rest else 3.0, int(rest[1]) if len(rest) > 1 else 3
    names = (rest[2] if len(rest) > 2 else SERVERS).split(",")
    kinds = tuple(rest[3].split(",")) if len(rest) > 3 else LIGHT + BOTO
    Path(place).mkdir(parents=True, exist_ok=True)
    print(json.dumps(measure(Path(place), seconds, rounds, names, kinds), indent=1))


if __name__ == "__main__":
    main()
