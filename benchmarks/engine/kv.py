"""The KV stores: gets/s, rows scanned/s, and durable puts/s, by 1 and by 64 callers. Prints JSON.

    python -m benchmarks.engine.kv [rows] [directory]             SQLite
    python -m benchmarks.engine.kv postgres [rows]                PostgreSQL, started for it on this machine, fsync on

The directory decides what an fsync costs, and with it the puts; the default is a temporary one. `staged` is the hot
path of a server: one check, of the same branch record in all batches, and one new row.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from lakebed_engine.stores.kv.base import Batch, Check, KVStore, Put
from lakebed_engine.stores.kv.postgres.store import PostgresKV
from lakebed_engine.stores.kv.sqlite.store import SqliteKV

from tests.support.services.postgres import running_postgres

PARTITION = "repo/0123456789abcdef0123456789abcdef"
VALUE = bytes(200)
GETS = 50_000
SCAN_INLINE = 1_000
SCAN_THREAD = 100_000
PUT_SECONDS = 2.0


def key_of(number: int) -> bytes:
    return b"row/%010d" % number


async def fill(kv: KVStore, rows: int) -> None:
    for start in range(0, rows, 5_000):
        batch = [Put(PARTITION, key_of(number), VALUE) for number in range(start, min(start + 5_000, rows))]
        await kv.apply(Batch(puts=batch))


async def gets(kv: KVStore, rows: int, callers: int = 1) -> float:
    chance = random.Random(1)
    wanted = [key_of(chance.randrange(rows)) for _ in range(GETS if callers > 1 else GETS // 5)]

    async def caller(first: int) -> None:
        for key in wanted[first::callers]:
            await kv.get(PARTITION, key)

    begun = time.perf_counter()
    await asyncio.gather(*(caller(number) for number in range(callers)))
    return len(wanted) / (time.perf_counter() - begun)


async def scanned(kv: KVStore, limit: int) -> float:
    times = max(1, 200_000 // limit)
    begun = time.perf_counter()
    rows = sum([len(await kv.scan(PARTITION, limit=limit)) for _ in range(times)])
    return rows / (time.perf_counter() - begun)


async def staged(kv: KVStore, callers: int) -> float:
    check = Check("repo", b"branch/main", await kv.apply(Batch(puts=[Put("repo", b"branch/main", VALUE)])))
    end = time.perf_counter() + PUT_SECONDS

    async def caller(number: int) -> int:
        done = 0
        while time.perf_counter() < end:
            await kv.apply(Batch([check], [Put("stage", b"%d/%d" % (number, done), VALUE)]))
            done += 1
        return done

    return sum(await asyncio.gather(*(caller(number) for number in range(callers)))) / PUT_SECONDS


async def puts(kv: KVStore, rows: int, callers: int) -> float:
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


async def measure(kv: KVStore, directory: Path, rows: int) -> dict[str, float]:
    begun = time.perf_counter()
    await fill(kv, rows)
    filled = time.perf_counter() - begun
    found = {
        "rows": rows,
        "fsync_us": sync_microseconds(directory),
        "rows_filled_per_s": rows / filled,
        "gets_per_s": await gets(kv, rows),
        "gets_per_s_64_callers": await gets(kv, rows, 64),
        "scan_inline_rows_per_s": await scanned(kv, SCAN_INLINE),
        "scan_thread_rows_per_s": await scanned(kv, min(SCAN_THREAD, rows)),
        "puts_per_s_1_caller": await puts(kv, rows, 1),
        "puts_per_s_64_callers": await puts(kv, rows, 64),
        "staged_per_s_64_callers": await staged(kv, 64),
    }
    begun = time.perf_counter()
    await kv.drop_partition(PARTITION)
    found["rows_dropped_per_s"] = rows / (time.perf_counter() - begun)
    await kv.close()
    return {name: round(value) for name, value in found.items()}


def main() -> None:
    arguments = sys.argv[1:]
    postgres = arguments[:1] == ["postgres"]
    rows, place = ([*arguments[postgres:], "", ""])[:2]
    with tempfile.TemporaryDirectory(dir=place or None) as directory, ExitStack() as stack:
        kv: KVStore
        if postgres:
            kv = PostgresKV(stack.enter_context(running_postgres(durable=True)).dsn)
        else:
            kv = SqliteKV(Path(directory) / "kv.sqlite")
        print(json.dumps(asyncio.run(measure(kv, Path(directory), int(rows or 100_000))), indent=2))


if __name__ == "__main__":
    main()
