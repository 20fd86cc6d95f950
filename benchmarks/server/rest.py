"""The REST contract under load, at one server process: pages, deletions, an import, an ingest, logs. Prints JSON.

Run by benchmarks/run.py. The engine makes the history in a separate process, so the server starts without
any of it in memory. The first answer is measured, with spans as the server's maintenance leaves them.

    python -m benchmarks.server.rest FOLDER COMMITS      the history
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.requests import PublishRequest, UploadRequest

from benchmarks import servers
from benchmarks.server.load import five

COMMITTERS = 16
OFTEN = 500
"""One of this number of commits changes the path whose log is requested."""


async def history(data: Path, commits: int) -> None:
    """Create a repository whose main has `commits` commits, one path each."""
    kv = SqliteKV(data / "lakebed.db")
    engine = Engine(kv, Stores(data / "objects"))
    await engine.repositories.create("logs", "local://logs")
    numbers = iter(range(commits))

    async def committer() -> None:
        for number in numbers:
            path = "watched/path" if number % OFTEN == 0 else f"days/{number % 365:03d}/{number:06d}"
            request = PublishRequest(committer="bench", message=f"commit {number}")
            await engine.commits.publish_uploads("logs", "main", _one(path, b"%d" % number), request)

    await asyncio.gather(*(committer() for _ in range(COMMITTERS)))
    await engine.maintenance.compact()
    await engine.close()
    await kv.close()


async def _one(path: str, body: bytes) -> AsyncIterator[Any]:
    async def chunks() -> AsyncIterator[bytes]:
        yield body

    yield UploadRequest(path=path), chunks()


def asked(server: servers.Server, path: str, times: int) -> tuple[list[float], dict[str, Any]]:
    """How long a GET takes, again and again, in seconds, and its last answer."""
    import httpx

    endpoint, key, secret = server.credentials
    took: list[float] = []
    with httpx.Client(base_url=f"{endpoint}/api/v1", auth=(key, secret), timeout=120) as client:
        client.get("/config")  # opens the connection, and lets the server check the credentials
        for _ in range(times):
            start = time.perf_counter()
            answer = client.get(path)
            took.append(time.perf_counter() - start)
            answer.raise_for_status()
    return took, answer.json()


def logs(server: servers.Server, commits: int) -> dict[str, float]:
    """Of a server that was just started, over a history that it has not seen."""
    base = "/repositories/logs/refs/main/commits"
    first, found = asked(server, f"{base}?objects=watched/path&amount=1000", 4)
    assert len(found["results"]) == (commits + OFTEN - 1) // OFTEN, found["pagination"]
    page, found = asked(server, f"{base}?amount=1000", 6)
    assert len(found["results"]) == min(commits + 1, 1000)
    return {
        "log_path_first_s": first[0],
        "log_path_again_s": statistics.median(first[1:]),
        "log_first_s": page[0],
        "log_s": statistics.median(page),
    }


def sources(folder: Path, count: int) -> None:
    """Files that are imported: five in each folder."""
    for number in range(count):
        place = folder / five(number)
        if number % 5 == 0:
            place.parent.mkdir(parents=True)
        place.write_bytes(b"x")


def imported(server: servers.Server, uri: str, count: int) -> float:
    """Seconds from the request until an import is known to be committed."""
    import httpx
    import lakebed

    lakebed.connect(*server.credentials).repository("bench").create("local://bench")
    endpoint, key, secret = server.credentials
    body = {"paths": [{"type": "common_prefix", "path": uri, "destination": ""}], "commit": {"message": "import"}}
    with httpx.Client(base_url=f"{endpoint}/api/v1/repositories/bench", auth=(key, secret), timeout=120) as client:
        start = time.perf_counter()
        begun = client.post("/branches/main/import", json=body).raise_for_status().json()
        while True:
            found = client.get("/branches/main/import", params={"id": begun["id"]}).raise_for_status().json()
            if found["completed"]:
                break
            time.sleep(0.05)
        took = time.perf_counter() - start
    assert found.get("ingested_objects") == count, found
    return took


def ingested(server: servers.Server, uri: str, count: int) -> tuple[float, float]:
    """Seconds until an ingest by the SDK is committed, and until a second one knows that nothing has changed."""
    import lakebed

    took: list[float] = []
    with lakebed.connect(*server.credentials, timeout=120) as lake:
        main = lake.repository("ingest").create("local://ingest").branch("main")
        for added in (count, 0):
            start = time.perf_counter()
            report = main.ingest(uri)
            took.append(time.perf_counter() - start)
            assert (report.added, report.unchanged, report.commit is None) == (added, count - added, not added), report
    return took[0], took[1]


def main() -> None:
    data, commits = Path(sys.argv[1]), int(sys.argv[2])
    data.mkdir(parents=True)
    start = time.perf_counter()
    asyncio.run(history(data, commits))
    print(json.dumps({"history_s": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
