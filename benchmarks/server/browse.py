"""What the web page asks for at its full scale: long lists, the size of a repository, and idle listeners of a feed.

The engine makes the repositories in a separate process, so the server starts without any of it in memory.

    python -m benchmarks.server.browse FOLDER ENTRIES      the repositories
"""

from __future__ import annotations

import asyncio
import json
import socket
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.requests import CommitRequest

from benchmarks import servers
from benchmarks.engine.scale import entry, path_of, stage_all
from benchmarks.figures import Figure, measured
from benchmarks.server import rest
from benchmarks.server.load import authorization

SLOWEST = 300.0
"""Milliseconds that no request may take."""
_STEEPEST = 1.5
"""The largest ratio of the time of page 1,000 to the time of page 1."""
_LISTENERS = 1000
_TIMES = 15


def browsing(folder: Path, entries: int) -> Iterator[Figure]:
    """`entries`: of the largest repository. One folder has a tenth of them. A hundredth: branches, and commits."""
    data = folder / "browse"
    measured("server.browse", data, entries)
    few = entries // 10
    with servers.lakebed(data) as server:
        yield from _sizes(server, entries)
        every = few // 1000
        paths = [f"all/f{number:06d}" for number in range(few)]
        base = "/repositories/folder/refs"
        where = f"{base}/main/objects/ls?amount={every}&prefix=all/&delimiter=/"
        yield from _pages(server, f"{few:,} entries in one folder", where, paths[every - 1 :: every])
        where = f"{base}/main~1/diff/main?amount={every}&type=two_dot"
        yield from _pages(server, f"diff of {few:,} entries", where, paths[every - 1 :: every])
        count = max(entries // 100, 1000)
        every = count // 1000
        names = [f"b{number:05d}" for number in range(count)]
        where = f"/repositories/branches/branches?amount={every}"
        yield from _pages(server, f"{count:,} branches", where, names[every - 1 :: every])
        where = "/repositories/logs/refs/main/commits"
        ids = _commits(server, where, count)
        yield from _pages(server, f"log of {count:,} commits", f"{where}?amount={every}", ids[every - 1 :: every])
        yield _listeners(server)


def _sizes(server: servers.Server, entries: int) -> Iterator[Figure]:
    took, found = rest.asked(server, "/repositories/large/statistics", 1)
    asked = [took[0]]
    while "bytes" not in found:
        took, found = rest.asked(server, "/repositories/large/statistics", 1)
        asked += took
    assert found["objects"] == entries, found
    note = f"the slowest of {len(asked)} requests until the bytes are known, caches empty"
    yield Figure(f"size of a repository of {entries:,} entries", max(asked) * 1000, "ms", "at most", SLOWEST, note)
    took, _ = rest.asked(server, "/repositories/large/statistics", 5)
    yield Figure("the same size again", statistics.median(took) * 1000, "ms")


def _pages(server: servers.Server, what: str, where: str, lasts: Sequence[str]) -> Iterator[Figure]:
    """`lasts` are the last items of the pages: what the next page comes after."""
    first, _ = rest.asked(server, where, _TIMES)
    late, found = rest.asked(server, f"{where}&after={lasts[998]}", _TIMES)
    assert found["results"], found["pagination"]
    for name, took in (("page 1", first), ("page 1,000", late)):
        note = f"{found['pagination']['results']} items; the slowest of {_TIMES}, the first one included"
        yield Figure(f"{what}: {name}", max(took) * 1000, "ms", "at most", SLOWEST, note)
    ratio = statistics.median(late) / statistics.median(first)
    yield Figure(f"{what}: page 1,000 / page 1", ratio, "ratio", "at most", _STEEPEST, f"medians of {_TIMES}")


def _commits(server: servers.Server, where: str, count: int) -> list[str]:
    ids: list[str] = []
    while len(ids) < count:
        _, found = rest.asked(server, f"{where}?amount=1000" + (f"&after={ids[-1]}" if ids else ""), 1)
        ids += [one["id"] for one in found["results"]]
    return ids


def _listeners(server: servers.Server) -> Figure:
    """The memory of listeners of one feed that has no events."""
    request = (
        f"GET /api/v1/repositories/folder/events HTTP/1.1\r\nHost: 127.0.0.1\r\n{authorization(server.env)}"
        "Accept: text/event-stream\r\n\r\n"
    ).encode()
    before = _resident(server.pid)
    with ExitStack() as stack:
        for _ in range(_LISTENERS):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            connection.sendall(request)
            assert b" 200 " in connection.recv(4096).partition(b"\r\n")[0]
        time.sleep(20)  # longer than the pause between two comments
        used = _resident(server.pid) - before
    return Figure(f"{_LISTENERS:,} idle listeners of a feed", used, "MiB", "at most", 50, "resident memory")


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / (1 << 20)


async def make(data: Path, entries: int) -> None:
    """The repositories: one large, one with a large folder that changed as a whole, one with many branches."""
    kv = SqliteKV(data / "lakebed.db")
    engine = Engine(kv, Stores(data / "objects"))
    for name in ("large", "folder", "branches"):
        await engine.repositories.create(name, f"local://{name}")
    for start in range(0, entries, 100_000):
        numbers = range(start, min(entries, start + 100_000))
        await stage_all(engine, "main", [(path_of(one), entry(path_of(one))) for one in numbers], "large")
    request = CommitRequest(message="m", committer="bench")
    await engine.commits.create("large", "main", request)
    paths = [f"all/f{number:06d}" for number in range(entries // 10)]
    for version in (1, 2):
        await stage_all(engine, "main", [(path, entry(path, version)) for path in paths], "folder")
        await engine.commits.create("folder", "main", request)
    for number in range(max(entries // 100, 1000)):
        await engine.branches.create("branches", f"b{number:05d}", "main")
    await engine.close()
    await kv.close()


def main() -> None:
    data, entries = Path(sys.argv[1]), int(sys.argv[2])
    data.mkdir(parents=True)
    start = time.perf_counter()
    asyncio.run(make(data, entries))
    asyncio.run(rest.history(data, max(entries // 100, 1000)))
    print(json.dumps({"made_s": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
