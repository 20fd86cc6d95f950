"""Committers of one small object each on one branch, through HTTP. Prints JSON.

python -m benchmarks.sdk.workspaces PORT COMMITTERS SECONDS workspace|publish

With a workspace: create, one object, commit. Published: one request.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import time

import uvloop

from benchmarks.server.load import authorization

BASE = "/api/v1/repositories/bench"


class Client:
    """One connection, one request after another."""

    async def open(self, port: int) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)

    async def post(self, path: str, body: bytes, kind: str = "application/json") -> int:
        """The status."""
        head = f"POST {BASE}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{authorization()}Content-Type: {kind}\r\n"
        self._writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        at = answer.lower().find(b"content-length: ")
        await self._reader.readexactly(int(answer[at + 16 :].split(b"\r")[0]) if at >= 0 else 0)
        return int(answer[9:12])

    async def workspace(self, path: str) -> None:
        found_id = secrets.token_hex(16)
        await self._expect("/workspaces", json.dumps({"branch": "main", "id": found_id}).encode())
        await self._expect(f"/branches/main+{found_id}/objects?path={path}", b"x" * 1024, "application/octet-stream")
        await self._expect(f"/workspaces/{found_id}/commit", b'{"message":"m"}')

    async def publish(self, path: str) -> None:
        boundary = secrets.token_hex(16)
        disposition = f"--{boundary}\r\nContent-Disposition: form-data; name="
        commit = f'{disposition}"commit"\r\n\r\n{{"message":"m"}}\r\n'
        content = f'{disposition}"content"; filename="{path}"\r\n\r\n{"x" * 1024}\r\n'
        body = f"{commit}{content}--{boundary}--\r\n".encode()
        await self._expect("/branches/main/objects/batch", body, f"multipart/form-data; boundary={boundary}")

    async def _expect(self, path: str, body: bytes, kind: str = "application/json") -> None:
        status = await self.post(path, body, kind)
        if status != 201:
            raise SystemExit(f"{path}: {status}")


async def run(port: int, committers: int, seconds: float, way: str) -> dict[str, float]:
    start = time.perf_counter()
    latencies: list[float] = []

    async def committer(number: int) -> None:
        client = Client()
        await client.open(port)
        step = 0
        while time.perf_counter() < start + seconds:
            begun = time.perf_counter()
            await (client.publish if way == "publish" else client.workspace)(f"w/{number}/{step:06d}")
            latencies.append(time.perf_counter() - begun)
            step += 1

    await asyncio.gather(*map(committer, range(committers)))
    elapsed = time.perf_counter() - start
    latencies.sort()
    return {
        "commits_s": len(latencies) / elapsed,
        "p50_ms": latencies[len(latencies) // 2] * 1000,
        "p99_ms": latencies[len(latencies) * 99 // 100] * 1000,
    }


def main() -> None:
    port, committers, seconds, way = sys.argv[1:]
    print(json.dumps(uvloop.run(run(int(port), int(committers), float(seconds), way))))


if __name__ == "__main__":
    main()
