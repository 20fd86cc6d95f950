"""Stores that wait for no disk (`durability: process`): the same stores, and not one sync in them.

What else they do is in the suites of `test_objects.py` and `test_kv.py`, which they pass too.
"""

from __future__ import annotations

import asyncio
import collections
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.local import stream
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.local.syscalls import SystemCalls, UnsyncedCalls
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.stores.objects.threads import Threads

from tests.conformance.objects import MIB, cut, keys

SYNCS = ("fsync", "fsync_all", "fdatasync", "writeback")


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> collections.Counter[str]:
    """How often each call of `local://` that syncs reached the system."""
    counted: collections.Counter[str] = collections.Counter()

    def counting(name: str, true: Callable[..., Any]) -> Any:
        def call(*arguments: Any) -> Any:
            counted[name] += 1
            return true(*arguments)

        return staticmethod(call)

    for name in SYNCS:
        monkeypatch.setattr(SystemCalls, name, counting(name, getattr(SystemCalls, name)))
    return counted


def work_on_objects(root: Path, *, durable: bool) -> None:
    """Every call that syncs: single and concurrent puts, fresh keys, streams, joins, conditions and deletes."""
    stores = Stores(root, durable=durable)
    store = stores.open("local://t")
    assert isinstance(store, LocalObjects)

    async def main() -> None:
        await store.put("a/b", b"1")
        await store.put("a/b", b"2")
        await asyncio.gather(*(store.put(f"many/{n}", b"x") for n in range(5)))
        await asyncio.gather(*(store.put_stream(f"data/{n}", cut(b"x", 1), fresh=True) for n in range(5)))
        await store.put_stream("large", cut(bytes(5 * MIB), MIB))
        await store.put_stream("once//odd", cut(bytes(2 * MIB), MIB), if_absent=True)
        await store.concat(["large", "a/b"], "joined")
        await store.copy("large", "copied")
        await store.delete(["many/0", "copied"])
        assert await store.delete_older(["many/1"], 1e12) == ["many/1"]
        assert await store.get("joined") == bytes(5 * MIB) + b"2"
        assert len(await keys(store)) == 12

    asyncio.run(main())
    stores.close()


def test_objects_sync_in_every_way(
    tmp_path: Path, syncs: collections.Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_SYNC_EVERY", MIB)
    work_on_objects(tmp_path, durable=True)
    assert {name for name in SYNCS if syncs[name]} == set(SYNCS), "else the next test looks at too little"


def test_objects_without_durability_are_never_synced(
    tmp_path: Path, syncs: collections.Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_SYNC_EVERY", MIB)
    work_on_objects(tmp_path, durable=False)
    assert dict(syncs) == {}


class CountingThreads(Threads):
    """Counts the batches of small writes that a thread is woken for."""

    def __init__(self) -> None:
        super().__init__()
        self.woken = 0

    def write(self, job: Callable[[], None]) -> None:
        self.woken += 1
        super().write(job)


@pytest.mark.parametrize(
    ("calls", "size", "key", "woken"),
    [
        (UnsyncedCalls, 1000, "fresh", False),
        (UnsyncedCalls, 64 << 10, "fresh", False),
        (UnsyncedCalls, (64 << 10) + 1, "fresh", True),  # it would hold the event loop up
        (UnsyncedCalls, 1000, "any", True),  # the lock for its name may have to be waited for
        (UnsyncedCalls, 1000, "by content", True),  # and for this one as well
        (SystemCalls, 1000, "fresh", True),
    ],
)
async def test_small_unsynced_puts_wake_no_thread(
    tmp_path: Path, calls: type[SystemCalls], size: int, key: str, woken: bool
) -> None:
    threads = CountingThreads()
    store = LocalObjects(tmp_path, "local://t", calls=calls(), threads=threads)
    data = bytes(size)

    async def put(name: str) -> None:
        if key == "by content":
            await store.put(name, data, by_content=True)
        else:
            await store.put_stream(name, cut(data, size), fresh=key == "fresh")

    await asyncio.gather(*(put(f"data/{n}") for n in range(8)))
    assert [len(await store.get(name)) for name in await keys(store)] == [size] * 8
    threads.close()
    assert bool(threads.woken) == woken


async def test_more_concurrent_puts_than_one_batch_are_stored(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path, "local://t", calls=UnsyncedCalls())
    await asyncio.gather(*(store.put_stream(f"data/{n:03}", cut(b"%d" % n, 9), fresh=True) for n in range(300)))
    assert [await store.get(key) for key in await keys(store)] == [b"%d" % n for n in range(300)]
    store.close()


class CountingDisk(apsw.VFS):
    """The real file system, which counts the syncs of every file of SQLite."""

    def __init__(self) -> None:
        self.syncs = 0
        super().__init__("counting-disk", "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _File(self, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, disk: CountingDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("", name, flags)

    def xSync(self, flags: int) -> None:
        self._disk.syncs += 1
        super().xSync(flags)


@pytest.fixture
def disk() -> Iterator[CountingDisk]:
    disk = CountingDisk()
    yield disk
    disk.unregister()


async def work_on_rows(path: Path, *, durable: bool) -> None:
    """Make a store, write past a checkpoint, read in a thread, close; then open it again and find all there."""
    rows = [Put("p", b"%03d" % number, bytes(100_000)) for number in range(20)]
    kv = SqliteKV(path, vfs="counting-disk", durable=durable)
    for _ in range(40):  # 80 MB of pages: a checkpoint comes after 64
        await kv.apply(Batch(puts=rows))
    await kv.drop_partition("none")
    assert len(await kv.scan("p", limit=10_000)) == 20
    await kv.close()
    again = SqliteKV(path, vfs="counting-disk", durable=durable)
    assert [row.key for row in await again.scan("p")] == [row.key for row in rows]
    await again.close()


async def test_rows_without_durability_are_never_synced(tmp_path: Path, disk: CountingDisk) -> None:
    await work_on_rows(tmp_path / "unsynced.sqlite", durable=False)
    assert disk.syncs == 0
    await work_on_rows(tmp_path / "synced.sqlite", durable=True)
    assert disk.syncs > 40
