"""The SQLite KV store: gets/s, rows scanned/s, and durable puts/s at 1 and at 64 callers. Prints JSON.

    python -m benchmarks.kv [rows] [directory]

The directory decides what an fsync costs, and with it the puts; the default is a temporary one.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.sqlite import SqliteKV

PARTITION = "repo/0123456789abcdef0123456789abcdef"
VALUE = bytes(200)
GETS = 50_000
SCAN_INLINE = 1_000
SCAN_THREAD = 100_000
PUT_SECONDS = 2.0


def key_of(number: int) -> bytes:
    return b"row/%010d" % number


async def fill(kv: SqliteKV, rows: int) -> None:
    for start in range(0, rows, 5_000):
        batch = [Put(PARTITION, key_of(number), VALUE) for number in range(start, min(start + 5_000, rows))]
        await kv.apply(Batch(puts=batch))


async def gets(kv: SqliteKV, rows: int) -> float:
    chance = random.Random(1)
    wanted = [key_of(chance.randrange(rows)) for _ in range(GETS)]
    begun = time.perf_counter()
    for key in wanted:
        await kv.get(PARTITION, key)
    return GETS / (time.perf_counter() - begun)


async def scanned(kv: SqliteKV, limit: int) -> float:
    times = max(1, 200_000 // limit)
    begun = time.perf_counter()
    rows = sum([len(await kv.scan(PARTITION, limit=limit)) for _ in range(times)])
    return rows / (time.perf_counter() - begun)


async def puts(kv: SqliteKV, rows: int, callers: int) -> float:
    chance = random.Random(2)
    end = time.perf_counter() + PUT_SECONDS

    async def caller() -> int:
        done = 0
        while time.perf_counter() < end:
            await kv.apply(Batch(puts=[Put(PARTITION, key_of(chance.randrange(rows)), VALUE)]))
            done += 1
        return done

    return sum(await asyncio.gather(*(caller() for _ in range(callers)))) / PUT_SECONDS


def sync_microseconds(directory: Path) -> float:
    """What the disk itself needs to make 4 KiB durable: the floor under every put."""
    file = os.open(directory / "sync", os.O_RDWR | os.O_CREAT)
    begun = time.perf_counter()
    for _ in range(200):
        os.pwrite(file, VALUE * 20, 0)
        os.fsync(file)
    took = time.perf_counter() - begun
    os.close(file)
    return took / 200 * 1e6


async def measure(directory: Path, rows: int) -> dict[str, float]:
    kv = SqliteKV(directory / "kv.sqlite")
    await fill(kv, rows)
    found = {
        "rows": rows,
        "fsync_us": sync_microseconds(directory),
        "gets_per_s": await gets(kv, rows),
        "scan_inline_rows_per_s": await scanned(kv, SCAN_INLINE),
        "scan_thread_rows_per_s": await scanned(kv, min(SCAN_THREAD, rows)),
        "puts_per_s_1_caller": await puts(kv, rows, 1),
        "puts_per_s_64_callers": await puts(kv, rows, 64),
    }
    begun = time.perf_counter()
    await kv.drop_partition(PARTITION)
    found["rows_dropped_per_s"] = rows / (time.perf_counter() - begun)
    await kv.close()
    return {name: round(value) for name, value in found.items()}


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as directory:
        print(json.dumps(asyncio.run(measure(Path(directory), rows)), indent=2))


if __name__ == "__main__":
    main()
