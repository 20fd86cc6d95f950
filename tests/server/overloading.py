"""Clients that ask for more than a server can do, in processes of their own: well-behaved ones and hostile ones."""

from __future__ import annotations

import asyncio
import base64
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.synchronize import Event

_APART = get_context("forkserver")
_APART.set_forkserver_preload(["pytest", __name__])
REPO = "/api/v1/repositories/lake"
KINDS = {"put": 5, "stat": 4, "log": 1}
"""What the clients ask for, and how often."""


@dataclass
class Seen:
    """What clients saw: seconds of answered requests by kind, and what became of each path that was put."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    stored: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    refusals: int = 0
    others: list[str] = field(default_factory=list)

    def add(self, other: Seen) -> None:
        """Take in what clients of another process saw."""
        for kind, some in other.seconds.items():
            self.seconds[kind] += some
        self.stored += other.stored
        self.refused += other.refused
        self.refusals += other.refusals
        self.others += other.others

    def median(self, kind: str) -> float:
        """The median of answered requests, in seconds."""
        return statistics.median(self.seconds[kind])


def load(port: int, pair: tuple[str, str], clients: int, seconds: float, processes: int = 1) -> Seen:
    """Run closed-loop clients: each asks again when it is answered, and after `Retry-After` when it is refused."""
    seen = Seen()
    shares = [(port, pair, clients // processes, seconds, number) for number in range(processes)]
    with _APART.Pool(processes) as pool:
        for one in pool.starmap(_run, shares):
            seen.add(one)
    return seen


def _run(port: int, pair: tuple[str, str], clients: int, seconds: float, number: int) -> Seen:
    seen = Seen()

    async def main() -> None:
        ends = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            for one in range(clients):
                group.create_task(_client(port, pair, ends, f"{number}-{one}-{time.time_ns()}", seen))

    asyncio.run(main())
    return seen


async def _client(port: int, pair: tuple[str, str], ends: float, name: str, seen: Seen) -> None:
    dice = random.Random(name)
    basic = base64.b64encode(":".join(pair).encode()).decode()
    link: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    count = 0
    while time.monotonic() < ends:
        if link is None:
            link = await asyncio.open_connection("127.0.0.1", port)
        kind = dice.choices(list(KINDS), list(KINDS.values()))[0]
        count += 1
        path = f"{name}-{count}" if kind == "put" else "known"
        began = time.perf_counter()
        try:
            status, after, closes = await _ask(link, kind, path, basic)
        except (OSError, asyncio.IncompleteReadError) as error:
            seen.others.append(f"{kind}: {error!r}")
            link = None
            continue
        if status == 503:
            seen.refusals += 1
            seen.refused += [path] if kind == "put" else []
        elif status in (200, 201):
            seen.seconds[kind].append(time.perf_counter() - began)
            seen.stored += [path] if kind == "put" else []
        else:
            seen.others.append(f"{kind}: {status}")
        if closes:
            link[1].close()
            link = None
        if after:
            await asyncio.sleep(after)
    if link is not None:
        link[1].close()


async def _ask(
    link: tuple[asyncio.StreamReader, asyncio.StreamWriter], kind: str, path: str, basic: str
) -> tuple[int, float, bool]:
    reader, writer = link
    line, body = {
        "put": (f"POST {REPO}/branches/main/objects?path={path}", path.encode() * 20),
        "stat": (f"GET {REPO}/refs/main/objects/stat?path={path}", b""),
        "log": (f"GET {REPO}/refs/main/commits?amount=100", b""),
    }[kind]
    head = f"{line} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {basic}\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    fields = dict(row.split(": ", 1) for row in answer.split("\r\n")[1:] if row)
    await reader.readexactly(int(fields.get("content-length", 0)))
    return int(answer.split()[1]), float(fields.get("retry-after", 0)), fields.get("connection") == "close"


@contextmanager
def hostile(port: int, connections: int) -> Iterator[None]:
    """Keep `connections` open that never send a whole request: a third silent, a third within a head, a third
    within a body without a valid key. A closed connection is opened again.
    """
    stop = _APART.Event()
    process = _APART.Process(target=_besiege, args=(port, connections, stop))
    process.start()
    try:
        yield
    finally:
        stop.set()
        process.join()


_BEGUN = (
    b"",
    b"GET / HTTP/1.1\r\nX-A: " + b"a" * (60 << 10),
    b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + b"{" * 50_000,
)


def _besiege(port: int, connections: int, stop: Event) -> None:
    async def one(number: int) -> None:
        await asyncio.sleep(number * 0.002)
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(_BEGUN[number % len(_BEGUN)])
                await reader.read()  # until the server closes it
                writer.close()
            await asyncio.sleep(3)

    async def main() -> None:
        tasks = [asyncio.ensure_future(one(number)) for number in range(connections)]
        while not stop.is_set():
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
