"""The conformance suite of object stores, which every adapter passes, and additional tests of `local://`."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
import random
import threading
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.vocabulary.errors import (
    BlobExists,
    BlobNotFound,
    CorruptDataError,
    InvalidPathError,
)
from lakebed_format.keys import REPOSITORY_MARKER, largest

from tests.conformance.objects import (
    ADAPTERS,
    MIB,
    NoSync,
    cut,
    directory,
    keys,
    partial,
    read,
    run,
)
from tests.support.sampling import drawn
from tests.support.sizes import examples, sized
from tests.support.waiting import until

Pair = tuple[ObjectStore, Path]

# Keys that a file system cannot hold, or that look like what the adapter makes of them.
WEIRD = [
    "a", "a/b", "a/b/c", "a/", "a//", "a//b", "a/b/", "/", "//", "/x", "/a/b", ".", "..", "./a", "a/.", "a/..",
    "../../etc/passwd", "..%s/x", "%", "%%", "%o", "a%o", "a%s/b%o", "a%2Fb", "%61", "🪣", "🪣/é", "é", "e\u0301",
    "A", "a!", "a0", "a.b", "a-", "x\x00y", "\x00", "tab\tx", "new\nline", "end\n", "\x7f", "\x85", "\u2028", " ",
    ".lakebed-tmp", ".lakebed-tmp/x", ".lakebed-keys", ".lakebed-keys/a%o", ".lakebed-lock", "d/.lakebed-keys/a%s",
    "CON", "back\\slash", "x" * 63, "x" * 64, "x" * 64 + "/y", "x" * 64 + "!", "x" * 65, "x" * 128, "x" * 255,
    "x" * 256, "x" * 1024, "\x01" * 1024, "/" * 1024, "é" * 512, "y/" * 512, "\U0010ffff", "\ue000",
]  # fmt: skip


def by_bytes(names: Sequence[str]) -> list[str]:
    return sorted(names, key=str.encode)


# --- every adapter ---------------------------------------------------------------------------------------------


async def test_any_key_is_none_only_in_an_empty_namespace(store: ObjectStore) -> None:
    """Files that the store wrote to probe a server are not objects."""
    assert await store.any_key() is None
    await store.put("once", b"", if_absent=True)
    assert [blob.key async for blob in store.list()] == ["once"]
    await store.delete(["once"])
    for key in ("a//b", "deep/er/x", "z"):
        assert await store.any_key() is None
        await store.put(key, b"x")
        assert await store.any_key() == key
        await store.delete([key])
    await store.put("a", b"x")
    await store.put("b", b"x")
    assert await store.any_key() in ("a", "b")


async def test_put_get_head_overwrite_delete(store: ObjectStore) -> None:
    with pytest.raises(BlobNotFound, match="t/a/b"):
        await store.get("a/b")
    assert await keys(store) == []
    await store.delete(["a/b"])
    await store.put("a/b", b"one")
    await store.put("a/b", b"three")
    stat = await store.head("a/b")
    assert (stat.key, stat.size) == ("a/b", 5)
    assert stat.mtime > 1_600_000_000
    assert await store.get("a/b") == b"three"
    await store.put("a/c", b"")
    assert await store.get("a/c") == await read(store, "a/c") == b""
    await store.delete(["a/b", "absent", "a", "a/b/c", "a/c"])
    assert await keys(store) == []
    for reading in (store.get("a/b"), store.head("a/b"), store.get_range("a/b", 0, 1), read(store, "a/b")):
        with pytest.raises(BlobNotFound):
            await reading


async def test_delete_older(store: ObjectStore) -> None:
    names = ["_lakebed/ranges/a", "data/b", "data//c", "never"]
    assert await store.delete_older(names, 1e12) == []
    for name in names[:3]:
        await store.put(name, b"x")
    written = min([blob.mtime async for blob in store.list()])
    assert await store.delete_older(names, written) == []
    assert await keys(store) == by_bytes(names[:3])
    assert await store.delete_older(["data//c", "never", "data/b"], written + 3600) == ["data//c", "data/b"]
    assert await keys(store) == names[:1]
    many = [f"many/{number:02d}" for number in range(40)]
    for name in many:
        await store.put(name, b"x")
    assert await store.delete_older(many, written + 3600) == many
    assert await keys(store) == names[:1]


async def test_put_during_delete_if_older_waits_for_the_delete(
    local: LocalObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The put begins after the delete has found that the file is old, in this process or another one."""
    key, publisher = "_lakebed/ranges/a", local._writer.publisher
    began, look = threading.Event(), publisher.is_older

    def slow(raw: bytes, before: float) -> bool:
        found = look(raw, before)
        began.set()
        time.sleep(0.2)  # time for the put to overtake the delete, which it must not
        return found

    await local.put(key, b"x")
    monkeypatch.setattr(publisher, "is_older", slow)
    removal = asyncio.ensure_future(local.delete_older([key], 1e12))
    await asyncio.to_thread(began.wait)
    await local.put(key, b"x")
    assert await removal == [key]
    assert await keys(local) == [key], "what was put later is there"


@pytest.mark.slow
async def test_a_repeated_upload_renews_the_age_of_an_object(store: ObjectStore) -> None:
    """So a sweep does not delete a file that a running commit has found and relies on."""
    await store.put("_lakebed/ranges/00ff.parquet", b"one")
    await store.put_stream("data/x", cut(b"one", 3))
    before = [(await store.head(key)).mtime for key in ("_lakebed/ranges/00ff.parquet", "data/x")]
    await asyncio.sleep(1.2)  # some stores report whole seconds
    await store.put("_lakebed/ranges/00ff.parquet", b"one")
    await store.put_stream("data/x", cut(b"one", 3))
    after = [blob.mtime async for blob in store.list()]
    assert all(new >= old + 1 for old, new in zip(before, after, strict=True)), (before, after)


async def test_ranges(store: ObjectStore) -> None:
    data = random.Random(1).randbytes(2 * MIB + 7)
    await store.put("k", data)
    for start, length in [(0, 0), (0, 5), (3, MIB), (MIB - 1, 2), (2 * MIB, 100), (2 * MIB + 7, 1), (1 << 40, 9)]:
        wanted = data[start : start + length]
        assert await store.get_range("k", start, length) == wanted
        assert await read(store, "k", start, length) == wanted
    assert await read(store, "k", 5) == data[5:]
    assert await store.get("k") == data
    for start, length in [(-1, 2), (0, -1)]:
        with pytest.raises(ValueError, match="range"):
            await store.get_range("k", start, length)
        with pytest.raises(ValueError, match="range"):
            store.open("k", start, length)


async def test_list_in_byte_order_with_prefix_and_start(store: ObjectStore) -> None:
    names = ["a", "a!", "a/b", "a/b!", "a/b/c", "a/b0", "a0", "b", "b/1", "b/10", "b/2", "é", "🪣", "\ue000/x", "a//z"]
    for name in names:
        await store.put(name, name.encode())
    ordered = by_bytes(names)
    assert await keys(store) == ordered
    prefixes = ["", "a", "a/", "a/b", "a/b/", "a//", "b/1", "/", "é", "zz", "a/b/c", "a/b/c/", "\ud800"]
    starts = ["", "a", "a/", "a/b", "a/b/", "a/b/c", "a/z", "b/1", "zz", "🪣", "🪣🪣", "\udfff"]
    pairs = list(itertools.product(prefixes, starts))
    if isinstance(store, CloudObjects):  # each listing takes some requests
        pairs = drawn(pairs, sized(len(pairs)))
    for prefix, after in pairs:
        wanted = [name for name in ordered if name.startswith(prefix) and name > after]
        assert await keys(store, prefix, after) == wanted, (prefix, after)


async def test_long_listing_in_pages(store: ObjectStore) -> None:
    names = [f"d{n % 7}/{n:05}" for n in range(1010)]
    await asyncio.gather(*(store.put(name, b"") for name in names))
    assert await keys(store) == sorted(names)
    await store.delete(names[100:])
    assert await keys(store) == sorted(names[:100])


@pytest.mark.parametrize("names", [["k"], ["a", "a/b"], ["a//b"]])
def test_if_absent_has_one_winner(store: ObjectStore, names: list[str], request: pytest.FixtureRequest) -> None:
    """Tasks and threads, small puts and streams, also where file and directory want one name.

    SeaweedFS has directories: it refuses `a` if absent where `a/b` is (`test_cloud.py`), so there only one of them.
    """
    if request.node.callspec.params["store"] == "seaweedfs":
        names = names[-1:]
    won: dict[str, list[bytes]] = {name: [] for name in names}

    async def attempt(name: str, mine: bytes) -> None:
        try:
            if len(mine) > 9:
                await store.put_stream(name, cut(mine, MIB), if_absent=True)
            else:
                await store.put(name, mine, if_absent=True)
        except BlobExists:
            return
        won[name].append(mine)

    async def crowd(number: int) -> None:
        puts = 1 if isinstance(store, CloudObjects) else 12  # SeaweedFS makes contenders wait a second each
        values = [f"{number}-{n}".encode() for n in range(puts)] + [bytes([number]) * MIB]
        await asyncio.gather(*(attempt(name, value) for value in values for name in names))

    threads = [threading.Thread(target=lambda n=n: run(crowd(n))) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def after() -> None:
        for name in names:
            assert len(won[name]) == 1
            assert await store.get(name) == won[name][0]
        assert await partial(store) == []

    run(after())


@pytest.mark.parametrize(
    ("size", "piece"),
    [(0, 1), (1, 1), (999, 1), (MIB - 1, 65_536), (MIB, MIB), (MIB + 1, 70_001), (5 * MIB + 3, 333_333),
     (5 * MIB + 3, 5 * MIB + 3), (MIB + 5, 1021)],
)  # fmt: skip
async def test_put_stream(store: ObjectStore, size: int, piece: int) -> None:
    data = random.Random(size).randbytes(size)
    result = await store.put_stream("s", cut(data, piece))
    assert (result.size, result.md5) == (size, hashlib.md5(data).hexdigest())
    assert await store.get("s") == await read(store, "s") == data
    with pytest.raises(BlobExists):
        await store.put_stream("s", cut(data, piece), if_absent=True)
    assert await store.put_stream("data/new", cut(data, piece), fresh=True) == result
    assert await store.get("data/new") == data
    assert await partial(store) == []


@pytest.mark.parametrize("size", [0, 1000, MIB, 3 * MIB + 1])
@pytest.mark.parametrize("ending", ["error", "cancel"])
async def test_interrupted_stream_leaves_nothing(store: ObjectStore, size: int, ending: str) -> None:
    stuck = asyncio.Event()

    async def broken() -> AsyncIterator[bytes]:
        async for chunk in cut(bytes(size), 100_000):
            yield chunk
        if ending == "error":
            raise ConnectionResetError("the client went away")
        stuck.set()
        await asyncio.sleep(60)

    await store.put("kept", b"old")
    for key in ("new", "kept"):
        task = asyncio.ensure_future(store.put_stream(key, broken(), fresh=key == "new"))
        if ending == "cancel":
            await stuck.wait()
            task.cancel()
        with pytest.raises(ConnectionResetError if ending == "error" else asyncio.CancelledError):
            await task
    assert await keys(store) == ["kept"]
    assert await store.get("kept") == b"old"
    assert await partial(store) == []


async def test_cancelled_puts_are_whole_or_absent(store: ObjectStore) -> None:
    for n in range(40):
        streamed = cut(b"x" * (2 * MIB), MIB) if n % 8 == 0 else cut(b"x", 1)
        task = asyncio.ensure_future(store.put_stream(f"k{n}", streamed, fresh=n % 2 == 1))
        await asyncio.sleep(n * 0.00005)
        task.cancel()
        outcome = (await asyncio.gather(task, return_exceptions=True))[0]
        if not isinstance(outcome, asyncio.CancelledError):
            assert len(await store.get(f"k{n}")) == outcome.size  # type: ignore[union-attr]
        assert await partial(store) == []


async def test_open_stream_survives_delete_and_overwrite(store: ObjectStore) -> None:
    for size in (1000, 3 * MIB):
        data = random.Random(size).randbytes(size)
        await store.put("k", data)
        async with store.open("k") as chunks:
            await store.put("k", b"other")
            await store.delete(["k"])
            assert b"".join([chunk async for chunk in chunks]) == data
        with pytest.raises(BlobNotFound):
            await store.get("k")


async def test_leaving_a_stream_early(store: ObjectStore) -> None:
    await store.put("k", bytes(4 * MIB))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        async with store.open("k") as chunks:
            async for _ in chunks:
                break
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0), store.open("k") as chunks:
                async for _ in chunks:
                    await asyncio.sleep(0)
        async with store.open("k"):
            pass
    # a cloud store keeps a pool of connections, which the answers left early do not fill
    pooled = 25 if isinstance(store, CloudObjects) else 0
    await until(lambda: len(os.listdir("/proc/self/fd")) <= before + pooled, "the answers left early are closed")


async def test_copy(store: ObjectStore) -> None:
    for size in (0, 10, 2 * MIB):
        await store.put("from", bytes(size))
        await store.copy("from", "to/x")
        await store.put("from", b"changed")
        assert await store.get("to/x") == bytes(size)
    with pytest.raises(BlobNotFound):
        await store.copy("absent", "to/y")
    with pytest.raises(BlobNotFound):
        await store.get("to/y")


@pytest.mark.parametrize("key", ["", "x" * 1025, "é" * 513, "\ud800"])
async def test_invalid_keys_are_refused(store: ObjectStore, key: str) -> None:
    for call in (
        store.put(key, b""),
        store.put_stream(key, cut(b"", 1)),
        store.get(key),
        store.head(key),
        store.delete([key]),
        store.copy("a", key),
    ):
        with pytest.raises(InvalidPathError):
            await call


NO_FOLDERS = ("moto", "azurite")
"""Stores where no key is in the way of another one, in whatever order they come."""


async def agrees_with_model(store: ObjectStore, names: Sequence[str]) -> None:
    model: dict[str, bytes] = {}
    for n, name in enumerate(names):
        await store.put(name, str(n).encode())
        model[name] = str(n).encode()
    ordered = by_bytes(list(model))
    assert await keys(store) == ordered
    for name, data in model.items():
        assert await store.get(name) == data
        assert (await store.head(name)).size == len(data)
        with pytest.raises(BlobExists):
            await store.put(name, b"lost", if_absent=True)
        wanted = [other for other in ordered if other.startswith(name[:-1]) and other > name]
        assert await keys(store, name[:-1], name) == wanted
    for gone in ordered[::2]:
        await store.delete([gone])
        with pytest.raises(BlobNotFound):
            await store.get(gone)
    assert await keys(store) == ordered[1::2]
    for n, name in enumerate(reversed(ordered)):  # back again, in another order: clashes the other way round
        await store.put(name, f"again{n}".encode())
    assert await keys(store) == ordered
    for n, name in enumerate(reversed(ordered)):
        assert await store.get(name) == f"again{n}".encode()


@pytest.mark.slow
@pytest.mark.parametrize(  # not `unsynced`: keys have nothing to do with syncs
    ("store", "order"),
    [
        pytest.param(one, order, marks=pytest.mark.soak if order < 0 and one in NO_FOLDERS else ())
        for one in ADAPTERS
        for order in (1, -1)
    ],
    indirect=["store"],
)
async def test_weird_keys(store: ObjectStore, place: Path, order: int) -> None:
    """Each call refuses keys that a bucket cannot store (names over 1,024 bytes) and gives the reason."""
    too_long = [name for name in WEIRD if len(name.encode()) == 1024] if isinstance(store, CloudObjects) else []
    await agrees_with_model(store, [name for name in WEIRD[::order] if name not in too_long])
    for name in too_long:
        for call in (store.put(name, b""), store.get(name), store.delete([name]), store.copy("a", name)):
            with pytest.raises(InvalidPathError, match="at most 1,024 fit"):
                await call
    assert {path.name for path in place.iterdir()} <= {"root"}


PIECE = st.sampled_from(
    ["a", "b", "/", "/", "//", ".", "..", "%", "%o", "%s", "%m", "%2F", "🪣", "\n", "x" * 64, "y" * 250]
)
KEY = st.one_of(
    st.lists(PIECE, min_size=1, max_size=6).map("".join),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=40),
    st.sampled_from(WEIRD),
).filter(lambda key: 1 <= len(key.encode()) <= 1024)
SOME = examples(40, suppress_health_check=list(HealthCheck), derandomize=True)


@SOME
@given(names=st.lists(KEY, min_size=1, max_size=12))
@pytest.mark.parametrize("kind", ["memory", "local"])
async def test_any_key(kind: str, names: list[str]) -> None:
    if kind == "memory":
        await agrees_with_model(MemoryObjects("mem://t"), names)
        return
    with directory() as outside:
        local = LocalObjects(outside / "root", "local://t", calls=NoSync())
        try:
            await agrees_with_model(local, names)
        finally:
            local.close()
        assert os.listdir(outside) == ["root"]


# --- local:// --------------------------------------------------------------------------------------------------


# --- the registry ----------------------------------------------------------------------------------------------


def test_a_metadata_file_of_more_bytes_than_its_kind_has_is_not_read(store: ObjectStore) -> None:
    async def job() -> None:
        most = largest(REPOSITORY_MARKER)
        await store.put(REPOSITORY_MARKER, bytes(most))
        assert await store.get(REPOSITORY_MARKER) == bytes(most)
        await store.put(REPOSITORY_MARKER, bytes(most + 1))
        with pytest.raises(CorruptDataError, match=f"{REPOSITORY_MARKER}: corrupt: it has {most + 1:,} bytes"):
            await store.get(REPOSITORY_MARKER)
        assert await store.get_range(REPOSITORY_MARKER, most, 5) == b"\0"

    run(job())
