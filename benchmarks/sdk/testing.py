"""Measures the server inside the test process: start, reset and answers, compared with moto's. Prints JSON.

benchmarks/run.py runs it in a separate process. Each server shares its process, and the interpreter's lock, with the
client, as in a test. The same client, Python's `http.client`, calls both, over the API that each has. So the figures
measure the servers, not what boto3 or httpx add. For information it also measures each server's usual client.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable

import lakebed
import lakebed_testing

BODY = os.urandom(1024)
COUNT = 300
ROUNDS = 5

COLD = """
import time
{loaded}
begun = time.perf_counter()
import lakebed_testing
with lakebed_testing.server() as server:
    print(time.perf_counter() - begun)
"""
PLUGIN = """
import pytest, time
begun = time.perf_counter()
import lakebed_testing.plugin
print(time.perf_counter() - begun)
"""


def seconds(code: str, times: int = 5) -> float:
    """The last line that a program prints, the median of some runs; bytecode is kept, as it is for users."""
    found = []
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as bytecode:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = bytecode
        for _ in range(times + 1):
            command = [sys.executable, "-c", code]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
            found.append(float(done.stdout.splitlines()[-1]))
    return statistics.median(found[1:])  # the first one compiles


def rate(job: Callable[[int], None], count: int) -> float:
    """Calls a second."""
    begun = time.perf_counter()
    for number in range(count):
        job(number)
    return count / (time.perf_counter() - begun)


def asker(address: str, headers: dict[str, str]) -> Callable[[str, str, bytes | None], bytes]:
    """Sends one request at a time, over one connection where the server keeps it."""
    connection = http.client.HTTPConnection(address)

    def ask(method: str, path: str, body: bytes | None) -> bytes:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        if not 200 <= answer.status < 300:
            raise SystemExit(f"{method} {path}: {answer.status} {data[:200]!r}")
        return data

    return ask


def one_round(ask: Callable[[str, str, bytes | None], bytes], put: tuple[str, str], get: str) -> dict[str, float]:
    """The rates of one server."""

    def read(number: int) -> None:
        if ask("GET", get.format(number), None) != BODY:
            raise SystemExit("other bytes came back")

    return {
        "put": rate(lambda number: void(ask(put[0], put[1].format(number), BODY)), COUNT),
        "get": rate(read, COUNT),
    }


def void(_: object) -> None:
    """Nothing."""


def resets(server: lakebed_testing.LakebedServer, lake: lakebed.Lake) -> dict[str, float]:
    """Milliseconds of a reset, and of a whole small test with one: repository, put, commit, reset."""
    alone, whole = [], []
    for _ in range(50):
        begun = time.perf_counter()
        main = lake.repository("repo").create("mem://repo").branch("main")
        main.put("a.txt", BODY)
        main.commit("c")
        middle = time.perf_counter()
        server.reset()
        alone.append(time.perf_counter() - middle)
        whole.append(time.perf_counter() - begun)
    return {"reset_ms": statistics.median(alone) * 1000, "test_ms": statistics.median(whole) * 1000}


def usual(put: Callable[[str], object], get: Callable[[str], object]) -> dict[str, float]:
    """The rates of one round through the client that people use."""
    return {
        "put": rate(lambda number: void(put(f"k{number}")), COUNT // 3),
        "get": rate(lambda number: void(get(f"k{number}")), COUNT // 3),
    }


def rates(server: lakebed_testing.LakebedServer, lake: lakebed.Lake) -> dict[str, float]:
    """Ours and moto's in turn, in one process; the best round of each, since the machine is shared."""
    import boto3  # type: ignore[import-untyped]
    from moto.server import ThreadedMotoServer

    logging.disable(logging.CRITICAL)
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    with contextlib.redirect_stdout(io.StringIO()):
        moto.start()
    host, port = moto.get_host_and_port()
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "y", "region_name": "us-east-1"}
    s3 = boto3.client("s3", endpoint_url=f"http://{host}:{port}", **keys)
    s3.create_bucket(Bucket="bench")
    signed = "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
    theirs = asker(f"{host}:{port}", {"Authorization": signed})

    main = lake.repository("repo").create("mem://repo").branch("main")
    pair = b64encode(f"{server.access_key_id}:{server.secret_access_key}".encode()).decode()
    headers = {"Authorization": f"Basic {pair}", "Content-Type": "application/octet-stream"}
    ours = asker(server.endpoint.removeprefix("http://"), headers)
    base = "/api/v1/repositories/repo"
    put = ("POST", f"{base}/branches/main/objects?path=k{{}}")

    def put_s3(key: str) -> None:
        s3.put_object(Bucket="bench", Key=key, Body=BODY)

    def get_s3(key: str) -> None:
        s3.get_object(Bucket="bench", Key=key)["Body"].read()

    found: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, got in (
            ("ours", one_round(ours, put, f"{base}/refs/main/objects?path=k{{}}")),
            ("moto", one_round(theirs, ("PUT", "/bench/k{}"), "/bench/k{}")),
            ("sdk", usual(lambda key: main.put(key, BODY), main.get)),
            ("boto3", usual(put_s3, get_s3)),
        ):
            found |= {f"{name}_{way}_s": max(value, found.get(f"{name}_{way}_s", 0)) for way, value in got.items()}
    moto.stop()
    return found


def main() -> None:
    with lakebed_testing.server() as server, server.connect() as lake:
        found = resets(server, lake) | rates(server, lake)
    starts = []
    for _ in range(5):
        begun = time.perf_counter()
        with lakebed_testing.server():
            starts.append(time.perf_counter() - begun)
    found["warm_ms"] = statistics.median(starts) * 1000
    found["cold_s"] = seconds(COLD.format(loaded="import pandas, pyarrow"))
    found["bare_s"] = seconds(COLD.format(loaded=""))
    found["plugin_ms"] = 1000 * seconds(PLUGIN)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
