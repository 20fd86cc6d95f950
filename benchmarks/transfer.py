"""256 MiB up and down over loopback: through Lakebed, and as a plain file copy over a socket, in one run.

The plain copy does what any copy that is to last must do: one process sends the file, the other receives it in
1 MiB pieces, writes it and syncs it. Up counts until the data is durable; down until the last byte is in a file.
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


def _receive(listener: socket.socket, target: Path, *, sync: bool) -> None:
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


def plain_copy(source: Path, target: Path, *, sync: bool) -> float:
    """Seconds to send a file over loopback into another file. The two ends are threads; sockets let go of the GIL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_receive, args=(listener, target), kwargs={"sync": sync})
        thread.start()
        start = time.perf_counter()
        _send(listener.getsockname()[1], source)
        thread.join()
        return time.perf_counter() - start


def _headers(server: Server) -> dict[str, str]:
    pair = f"{server.env['LAKEBED_ACCESS_KEY_ID']}:{server.env['LAKEBED_SECRET_ACCESS_KEY']}"
    return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}", "Content-Type": "application/octet-stream"}


def upload(server: Server, source: Path, name: str) -> float:
    """Seconds to upload a file, until it is durable and staged."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, blocksize=CHUNK)
    start = time.perf_counter()
    with source.open("rb") as file:
        headers = {**_headers(server), "Content-Length": str(SIZE)}
        connection.request("POST", f"/api/v1/repositories/bench/branches/main/objects?path={name}", file, headers)
        answer = connection.getresponse()
        answer.read()
    seconds = time.perf_counter() - start
    if answer.status != 201:
        raise SystemExit(f"upload of {name}: {answer.status}")
    return seconds


def download(server: Server, name: str, target: Path) -> float:
    """Seconds to download an object into a file."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    buffer = memoryview(bytearray(CHUNK))
    start = time.perf_counter()
    connection.request("GET", f"/api/v1/repositories/bench/refs/main/objects?path={name}", headers=_headers(server))
    answer = connection.getresponse()
    total = 0
    with target.open("wb", buffering=0) as file:
        while count := answer.readinto(buffer):
            file.write(buffer[:count])
            total += count
    if total != SIZE:
        raise SystemExit(f"download of {name}: {total} bytes")
    return time.perf_counter() - start


def measure(server: Server, folder: Path, rounds: int = 5) -> dict[str, float]:
    """MiB/s of both ways, and of the plain copy before each; medians, alternating so that noise hits both alike."""
    source = folder / "source.bin"
    with source.open("wb") as file:
        for _ in range(SIZE // CHUNK):
            file.write(os.urandom(CHUNK))
    times: dict[str, list[float]] = {"plain_up": [], "up": [], "plain_down": [], "down": []}
    for number in range(rounds):
        times["plain_up"].append(plain_copy(source, folder / "copy.bin", sync=True))
        (folder / "copy.bin").unlink()
        times["up"].append(upload(server, source, f"big/{number}.bin"))
        times["plain_down"].append(plain_copy(source, folder / "copy.bin", sync=False))
        (folder / "copy.bin").unlink()
        times["down"].append(download(server, f"big/{number}.bin", folder / "copy.bin"))
        (folder / "copy.bin").unlink()
    return {name: SIZE / (1 << 20) / statistics.median(seconds) for name, seconds in times.items()}
