"""256 MiB up and down over loopback: through Lakebed, and as a plain file copy, in one run.

The baseline is the barest copy there is: a loopback socket between two threads, 1 MiB at a time, into a new file. For
information there is also a copy over the same HTTP stack and client without hash or version. Up counts until the data
is synced; down until the last byte is in a file. Every file is a new one: writing into blocks that a deleted file left
behind is several times faster on some disks, and would favour the second measurement.
"""

from __future__ import annotations

import http.client
import os
import socket
import statistics
import threading
import time
from base64 import b64encode
from pathlib import Path

from benchmarks.servers import Server

SIZE = 256 << 20
CHUNK = 1 << 20
NAMES = ("socket_up", "plain_up", "up", "socket_down", "plain_down", "down")


def _receive(listener: socket.socket, target: Path, sync: bool) -> None:
    connection, _ = listener.accept()
    with connection, target.open("wb", buffering=0) as file:
        while data := connection.recv(CHUNK):
            file.write(data)
        if sync:
            os.fsync(file.fileno())
        connection.sendall(b"!")


def _send(port: int, source: Path) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection, source.open("rb", buffering=0) as file:
        while data := file.read(CHUNK):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)


def socket_copy(source: Path, target: Path, *, sync: bool) -> float:
    """Seconds to send a file over a loopback socket into another file."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_receive, args=(listener, target, sync))
        thread.start()
        start = time.perf_counter()
        _send(listener.getsockname()[1], source)
        thread.join()
        return time.perf_counter() - start


def _headers(server: Server) -> dict[str, str]:
    pair = f"{server.env.get('LAKEBED_ACCESS_KEY_ID')}:{server.env.get('LAKEBED_SECRET_ACCESS_KEY')}"
    return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}", "Content-Type": "application/octet-stream"}


def upload(server: Server, source: Path, path: str) -> float:
    """Seconds to upload a file, until the server says that it is durable."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, blocksize=CHUNK)
    start = time.perf_counter()
    with source.open("rb") as file:
        headers = {**_headers(server), "Content-Length": str(SIZE)}
        connection.request("POST", path, file, headers)
        answer = connection.getresponse()
        answer.read()
    seconds = time.perf_counter() - start
    if answer.status != 201:
        raise SystemExit(f"upload to {path}: {answer.status}")
    return seconds


def download(server: Server, path: str, target: Path) -> float:
    """Seconds to download an object into a file."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    buffer = memoryview(bytearray(CHUNK))
    start = time.perf_counter()
    connection.request("GET", path, headers=_headers(server))
    answer = connection.getresponse()
    total = 0
    with target.open("wb", buffering=0) as file:
        while count := answer.readinto(buffer):
            file.write(buffer[:count])
            total += count
    if total != SIZE:
        raise SystemExit(f"download of {path}: {total} bytes")
    return time.perf_counter() - start


def measure(server: Server, plain: Server, folder: Path, rounds: int = 5) -> dict[str, float]:
    """Return MiB/s of both ways and of the plain copies: medians, taken in turns so that noise affects all alike."""
    source = folder / "source.bin"
    with source.open("wb") as file:
        for _ in range(SIZE // CHUNK):
            file.write(os.urandom(CHUNK))
    base = "/api/v1/repositories/bench"
    times: dict[str, list[float]] = {name: [] for name in NAMES}
    for n in range(rounds):
        times["socket_up"].append(socket_copy(source, folder / f"socket-up-{n}", sync=True))
        times["plain_up"].append(upload(plain, source, f"/plain-{n}"))
        times["up"].append(upload(server, source, f"{base}/branches/main/objects?path=big/{n}"))
        times["socket_down"].append(socket_copy(source, folder / f"socket-down-{n}", sync=False))
        times["plain_down"].append(download(plain, f"/plain-{n}", folder / f"plain-down-{n}"))
        times["down"].append(download(server, f"{base}/refs/main/objects?path=big/{n}", folder / f"down-{n}"))
    return {name: SIZE / (1 << 20) / statistics.median(seconds) for name, seconds in times.items()}
