"""Measure the object stores.

    python -m benchmarks.engine.objects [--memory | --s3] [--directory DIR] [--mib 256]

Prints durable small puts a second (32 tasks), small reads, and streams of 256 MiB both ways. `--s3` starts SeaweedFS on
this machine (see tests/support/services/s3.py): what is measured is that server as much as the adapter. Set PYTHONPATH
to server_stub where the project is not installed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from lakebed._process.exit import awaited_of_obstore
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.memory import MemoryObjects

TASKS = 32
SMALL = b"x" * 1024
PIECE = bytes(range(256)) * 1024
"""What an HTTP server hands over at a time: 256 KiB."""


async def pieces(mib: int) -> AsyncIterator[bytes]:
    for _ in range(mib * 4):
        yield PIECE


async def small_puts(store: ObjectStore, count: int, if_absent: bool) -> float:
    async def task(number: int) -> None:
        for n in range(count // TASKS):
            await store.put(f"data/{number % 4}/{if_absent}-{number}-{n}", SMALL, if_absent=if_absent)

    start = time.perf_counter()
    await asyncio.gather(*(task(number) for number in range(TASKS)))
    return count / (time.perf_counter() - start)


async def small_reads(store: ObjectStore, count: int) -> float:
    start = time.perf_counter()
    for n in range(count):
        await store.get(f"data/0/False-0-{n % 16}")
    return count / (time.perf_counter() - start)


async def put_stream(store: ObjectStore, mib: int) -> float:
    start = time.perf_counter()
    await store.put_stream("big", pieces(mib))
    return mib / (time.perf_counter() - start)


async def read_stream(store: ObjectStore, mib: int) -> float:
    start = time.perf_counter()
    async with store.open("big") as chunks:
        size = sum([len(chunk) async for chunk in chunks])
    assert size == mib << 20
    return mib / (time.perf_counter() - start)


async def listing(store: ObjectStore) -> float:
    start = time.perf_counter()
    count = len([blob async for blob in store.list("data/")])
    return count / (time.perf_counter() - start)


async def run(store: ObjectStore, mib: int, puts: int) -> None:
    await small_puts(store, TASKS, False)
    print(f"put 1 KiB, {TASKS} tasks            {await small_puts(store, puts, False):10,.0f} /s")
    print(f"put 1 KiB if absent, {TASKS} tasks  {await small_puts(store, puts, True):10,.0f} /s")
    print(f"get 1 KiB, one after another   {await small_reads(store, 5_000):10,.0f} /s")
    print(f"list                           {await listing(store):10,.0f} keys/s")
    print(f"put_stream {mib} MiB             {await put_stream(store, mib):10,.0f} MiB/s")
    print(f"open {mib} MiB                   {await read_stream(store, mib):10,.0f} MiB/s")


def on_s3(mib: int, puts: int) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.support.services.s3 import running_seaweedfs

    with running_seaweedfs() as server:
        store = CloudObjects(server.namespace(), server.options())
        asyncio.run(run(store, mib, puts))
        store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", action="store_true", help="measure mem:// instead of local://")
    parser.add_argument("--s3", action="store_true", help="measure s3:// on a SeaweedFS that is started for it")
    parser.add_argument("--directory", type=Path, help="folder of local://, on the disk to measure")
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--puts", type=int, default=6400)
    options = parser.parse_args()
    awaited_of_obstore()
    if options.memory:
        asyncio.run(run(MemoryObjects("mem://bench"), options.mib, options.puts))
        return
    if options.s3:
        on_s3(options.mib, options.puts)
        return
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        store = LocalObjects(Path(directory) / "bench", "local://bench")
        asyncio.run(run(store, options.mib, options.puts))
        store.close()


if __name__ == "__main__":
    main()
