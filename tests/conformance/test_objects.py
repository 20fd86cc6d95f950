"""What an object store is: the suite every adapter passes, and what `local://` promises on top."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import lakebed_engine
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lakebed_engine.stores.objects.base import ObjectStore, ObjectStores
from lakebed_engine.stores.objects.cloud.options import CloudOptions
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.local.syscalls import SystemCalls, UnsyncedCalls
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.errors import (
    BlobExists,
    BlobNotFound,
    CorruptDataError,
    InvalidNamespaceError,
    InvalidPathError,
    StoreFullError,
    StoreUnavailableError,
)
from lakebed_format.keys import REPOSITORY_MARKER, largest

from tests.conformance.objects import MIB, Recorder, cut, keys, partial, read, run, setup_root
from tests.support.azurite import shared_azurite
from tests.support.s3 import shared
from tests.support.waiting import PATIENCE, until

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


@contextmanager
def directory() -> Iterator[Path]:
    """A temporary directory. Not pytest's: removing 1,024 levels of directories exceeds shutil.rmtree's recursion."""
    path = tempfile.mkdtemp()
    try:
        yield Path(path)
    finally:
        subprocess.run(["rm", "-rf", path], check=True)


@pytest.fixture
def place() -> Iterator[Path]:
    with directory() as path:
        yield path


MORE = os.environ.get("LAKEBED_TEST_NAMESPACES", "").split()
"""Other cloud stores to run the suite on, for example `az://container`; docs/stores.md says how."""


ADAPTERS = ["memory", "local", "seaweedfs", "moto", "azurite", *MORE]


@pytest.fixture(params=["unsynced", *ADAPTERS])
def store(request: pytest.FixtureRequest, place: Path) -> Iterator[ObjectStore]:
    """Every adapter. `unsynced` is `local://` that waits for no disk.

    `s3://` runs on two servers: one lists out of byte order (SeaweedFS), one in order (moto).

    `az://` runs on Azurite, which lists in UTF-16 order.
    """
    if request.param == "memory":
        yield MemoryObjects("mem://t")
        return
    if request.param == "azurite":
        azure = shared_azurite()
        with azure.in_environment():
            cloud = CloudObjects(f"{azure.namespace()}/t", azure.options())
            yield cloud
            cloud.close()
        return
    if request.param not in ("local", "unsynced"):
        if request.param in MORE:
            cloud = CloudObjects(f"{request.param}/t-{uuid4().hex[:12]}/t", CloudOptions(allow_http=True))
        else:
            server = shared(request.param)
            cloud = CloudObjects(f"{server.namespace()}/t", server.options())
        yield cloud
        cloud.close()
        return
    local = LocalObjects(
        place / "root", "local://t", calls=SystemCalls() if request.param == "local" else UnsyncedCalls()
    )
    yield local
    local.close()


@pytest.fixture
def root(place: Path) -> Path:
    return place / "root"


@pytest.fixture
def local(root: Path) -> Iterator[LocalObjects]:
    store = LocalObjects(root, "local://t")
    yield store
    store.close()


def by_bytes(names: Sequence[str]) -> list[str]:
    return sorted(names, key=str.encode)


# --- every adapter ---------------------------------------------------------------------------------------------


async def test_any_key_is_none_only_in_an_empty_namespace(store: ObjectStore) -> None:
    """What the store wrote for itself, to probe a server, is no object."""
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


async def test_no_put_comes_between_the_look_and_the_removal(
    local: LocalObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process or another one: here a put that begins when the file was found to be old."""
    key, publisher = "_lakebed/ranges/a", local._writer.publisher
    began, look = threading.Event(), publisher.is_older

    def slow(raw: bytes, before: float) -> bool:
        found = look(raw, before)
        began.set()
        time.sleep(0.2)
        return found

    await local.put(key, b"x")
    monkeypatch.setattr(publisher, "is_older", slow)
    removal = asyncio.ensure_future(local.delete_older([key], 1e12))
    await asyncio.to_thread(began.wait)
    await local.put(key, b"x")
    assert await removal == [key]
    assert await keys(local) == [key], "what was put later is there"


@pytest.mark.slow
async def test_the_same_bytes_again_make_an_object_young_again(store: ObjectStore) -> None:
    """What keeps a sweep from deleting what a commit under way has found there and counts on."""
    await store.put("_lakebed/ranges/00ff.parquet", b"one")
    await store.put_stream("data/x", cut(b"one", 3))
    before = [(await store.head(key)).mtime for key in ("_lakebed/ranges/00ff.parquet", "data/x")]
    await asyncio.sleep(1.2)  # some stores tell whole seconds
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
    for prefix in ["", "a", "a/", "a/b", "a/b/", "a//", "b/1", "/", "é", "zz", "a/b/c", "a/b/c/", "\ud800"]:
        for after in ["", "a", "a/", "a/b", "a/b/", "a/b/c", "a/z", "b/1", "zz", "🪣", "🪣🪣", "\udfff"]:
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
async def test_what_is_no_key(store: ObjectStore, key: str) -> None:
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


@pytest.mark.parametrize("store", ADAPTERS, indirect=True)  # not `unsynced`: keys have nothing to do with syncs
@pytest.mark.parametrize("order", [1, -1])
async def test_weird_keys(store: ObjectStore, place: Path, order: int) -> None:
    """Those that a bucket cannot hold (their names would have over 1,024 bytes) each call refuses with the reason."""
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
SOME = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


class NoSync(SystemCalls):
    """Where durability is not the question, the disk is not asked."""

    fsync = staticmethod(lambda fd: None)

    @staticmethod
    def fsync_all(fds: Sequence[int]) -> list[OSError | None]:
        return [None for _ in fds]


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


async def test_plain_keys_are_plain_paths_for_other_tools(local: LocalObjects, root: Path) -> None:
    await local.put("orders/2026/a.parquet", b"ours")
    assert (root / "orders/2026/a.parquet").read_bytes() == b"ours"
    (root / "orders/2027").mkdir()
    (root / "orders/2027/Ünï b.parquet").write_bytes(b"theirs")
    os.mkfifo(root / "orders/pipe")
    (root / "orders/bad\nname").write_bytes(b"")
    Path(os.fsdecode(os.fsencode(root) + b"/orders/\xff")).write_bytes(b"")
    assert await keys(local) == ["orders/2026/a.parquet", "orders/2027/Ünï b.parquet"]
    assert await local.get("orders/2027/Ünï b.parquet") == b"theirs"
    for absent in ("orders/pipe", "orders", "orders/bad\nname"):
        with pytest.raises(BlobNotFound):
            await local.get(absent)


async def test_documented_names(local: LocalObjects, root: Path) -> None:
    for key, path in {
        "Ünï.csv": "Ünï.csv",
        "a//b": ".lakebed-keys/a%s/%s/b%o",
        "/x": ".lakebed-keys/%s/x%o",
        "x/": ".lakebed-keys/x%s/%o",
        "../../etc/passwd": ".lakebed-keys/..%s/..%s/etc%s/passwd%o",
        "tab\tx": ".lakebed-keys/tab%09x%o",
        ".lakebed-keys/a%o": ".lakebed-keys/.lakebed-keys%s/a%25o%o",
        "x" * 300: ".lakebed-keys/" + ("x" * 64 + "%m/") * 4 + "x" * 44 + "%o",
        "file": "file",
        "file/b": ".lakebed-keys/file%s/b%o",
        "dir/b": "dir/b",
        "dir": ".lakebed-keys/dir%o",
    }.items():
        await local.put(key, key.encode())
        assert (root / path).read_bytes() == key.encode()
    # A key stays where it is until it is deleted: never in two places.
    await local.delete(["file"])
    await local.put("file/b", b"again")
    assert (root / ".lakebed-keys/file%s/b%o").read_bytes() == b"again"
    await local.delete(["file/b"])
    await local.put("file/b", b"free")
    assert (root / "file/b").read_bytes() == b"free"
    assert not (root / ".lakebed-keys/file%s/b%o").exists()


def test_files_and_directories_race_for_names(root: Path) -> None:
    """Puts and deletes of a, a/b, a/b/c from threads and two stores, as of two processes: no object is lost."""
    stores = [LocalObjects(root, "local://t", calls=NoSync()) for _ in range(2)]
    names = ["a", "a/b", "a/b/c", "a/b/c/d"]

    async def owner(store: LocalObjects, key: str, seed: int) -> bytes | None:
        """The only one to write this key, so it always knows what must be there."""
        choice = random.Random(seed)
        value: bytes | None = None
        for n in range(60):
            if choice.random() < 0.4:
                await store.delete([key])
                value = None
            else:
                fresh = f"{key}{n}".encode()
                try:
                    await store.put(key, fresh, if_absent=choice.random() < 0.5)
                    value = fresh
                except BlobExists:
                    assert value is not None
            if value is None:
                with pytest.raises(BlobNotFound):
                    await store.get(key)
            else:
                assert await store.get(key) == value
        return value

    results: dict[str, bytes | None] = {}
    failures: list[BaseException] = []

    def thread(number: int, key: str) -> None:
        try:
            results[key] = run(owner(stores[number % 2], key, number))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=thread, args=(number, key)) for number, key in enumerate(names)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []
    assert run(keys(stores[0])) == [name for name in names if results[name] is not None]
    for store in stores:
        store.close()


async def test_if_absent_while_a_clash_goes_away(root: Path) -> None:
    """a/b may go to either of its paths while a is deleted: still only one put of it wins."""
    stores = [LocalObjects(root, "local://t", calls=NoSync()) for _ in range(3)]

    async def attempt(store: LocalObjects) -> bool:
        try:
            await store.put("a/b", b"x", if_absent=True)
        except BlobExists:
            return False
        return True

    for _ in range(150):
        await stores[0].delete(["a", "a/b"])
        for folder in (root / "a", root / ".lakebed-keys" / "a%s"):
            if folder.is_dir():
                folder.rmdir()
        await stores[0].put("a", b"file")
        *won, _ = await asyncio.gather(*(attempt(store) for store in stores for _ in range(3)), stores[0].delete(["a"]))
        assert won.count(True) == 1
        assert await keys(stores[0]) == ["a/b"]
    for store in stores:
        store.close()


async def test_of_twins_the_plain_one_counts(local: LocalObjects, root: Path) -> None:
    """Another tool has made a file where a directory was when the object was put."""
    for key in ("a/b", "a"):
        await local.put(key, b"of the store")
    subprocess.run(["rm", "-r", root / "a"], check=True)
    (root / "a").write_bytes(b"of a tool")
    assert await local.get("a") == b"of a tool"
    assert [(blob.key, blob.size) async for blob in local.list()] == [("a", 9)]


async def test_root_removed_meanwhile(local: LocalObjects, root: Path) -> None:
    await local.put("a/b", b"1")
    subprocess.run(["rm", "-rf", root], check=True)
    assert await keys(local) == await partial(local) == []
    await local.delete(["a/b"])
    await local.put("a/b", b"2")
    assert await local.get("a/b") == b"2"


async def test_nothing_is_made_in_the_place_of_a_directory_that_is_gone(place: Path) -> None:
    """A disk that is not mounted: what lies on it is not "absent", and what is written now would be hidden by it."""
    base = place / "disk"
    base.mkdir()
    store = LocalObjects(base / "t", "local://t", base=base)
    await store.put("a", b"1")
    base.rename(place / "away")
    calls: list[Callable[[], Coroutine[Any, Any, object]]] = [
        lambda: store.get("a"), lambda: store.get("never"), lambda: store.head("a"), lambda: read(store, "a"),
        lambda: store.put("b", b""), lambda: store.put("b", b"", if_absent=True), lambda: keys(store),
        lambda: store.put_stream("b", cut(bytes(3 * MIB), MIB)), lambda: store.delete(["a"]),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(StoreUnavailableError, match="directory of local:// namespaces is gone; mount it"):
            await call()
    assert not base.exists()
    (place / "away").rename(base)
    assert await store.get("a") == b"1"
    assert await keys(store) == ["a"]
    with pytest.raises(BlobNotFound):
        await store.get("b")
    store.close()


@pytest.mark.parametrize("if_absent", [False, True])
@pytest.mark.parametrize("size", [10, 2 * MIB])
@pytest.mark.parametrize("key", ["a/b/c", "a//c"])
async def test_file_then_name_then_directories_are_synced(root: Path, size: int, if_absent: bool, key: str) -> None:
    calls = Recorder()
    local = LocalObjects(root, "local://t", calls=calls)
    folder = str(root / ("a/b" if key == "a/b/c" else ".lakebed-keys/a%s/%s"))

    async def main() -> None:
        await local.put_stream("first", cut(b"", 1))
        calls.log.clear()
        await local.put_stream(key, cut(bytes(size), MIB), if_absent=if_absent)

    await main()
    local.close()
    done = calls.log
    name = next(n for n, (call, _) in enumerate(done) if call in ("rename", "link"))
    temp = next(path for call, path in done if call in ("write", "writev"))
    wrote = max(n for n, (call, path) in enumerate(done) if call in ("write", "writev"))
    assert ".lakebed-tmp" in temp
    assert wrote < done.index(("fsync", temp)) < name
    synced = [path for call, path in done[name:] if call == "fsync"]
    while folder != str(root):  # the new directories, each in a parent that is synced as well
        assert folder in synced
        folder = os.path.dirname(folder)
    assert str(root) in synced

    calls.log.clear()
    local = LocalObjects(root, "local://t", calls=calls)

    async def again() -> None:
        await local.put(key, b"2")
        before = len(calls.log)
        await local.put(key, b"3")
        assert sum(call == "fsync" for call, _ in calls.log[before:]) == 2  # the file and its directory: no more

    await again()
    local.close()


async def test_puts_at_once_are_all_synced_before_the_first_has_its_name(root: Path) -> None:
    await setup_root(root)
    calls = Recorder()
    local = LocalObjects(root, "local://t", calls=calls)
    names = [f"a/{n}" for n in range(12)]

    async def main() -> None:
        await asyncio.gather(*(local.put_stream(name, cut(name.encode(), 1)) for name in names))
        assert [await local.get(name) for name in names] == [name.encode() for name in names]

    await main()
    local.close()
    done = calls.log
    written = [path for call, path in done if call == "write"]
    first = next(n for n, (call, _) in enumerate(done) if call == "rename")
    assert len(set(written)) == len(names)
    assert sorted(path for call, path in done[:first] if call == "fsync") == sorted(written)
    renamed = max(n for n, (call, _) in enumerate(done) if call == "rename")
    assert ("fsync", str(root / "a")) in done[renamed:]
    synced = [path for call, path in done if call == "fsync"]
    assert len(synced) == len(set(synced))  # a directory once for all of them


async def test_of_puts_at_once_the_one_that_cannot_be_synced_fails_alone(root: Path) -> None:
    await setup_root(root)
    asked: list[int] = []

    def fsync_all(fds: Sequence[int]) -> list[OSError | None]:
        asked.append(len(fds))
        return [OSError(errno.EIO, os.strerror(errno.EIO)) if n == 1 else None for n, _ in enumerate(fds)]

    calls = SystemCalls()
    setattr(calls, "fsync_all", fsync_all)  # noqa: B010 - the true one is a static method
    local = LocalObjects(root, "local://t", calls=calls)

    async def main() -> None:
        puts = (local.put(f"k{n}", b"new") for n in range(4))
        done = await asyncio.gather(*puts, return_exceptions=True)
        assert [type(one) for one in done] == [type(None), StoreUnavailableError, type(None), type(None)]
        assert await keys(local) == ["k0", "k2", "k3", "kept"]
        assert await partial(local) == []

    await main()
    local.close()
    assert asked == [4]


async def test_a_second_batch_begins_when_it_is_full(root: Path) -> None:
    """Two small ones at a time would cost the disk twice what one does; a full one need not wait."""
    await setup_root(root)
    entered, go_on = threading.Event(), threading.Event()
    sizes: list[int] = []

    def fsync(fd: int) -> None:
        if not entered.is_set():  # the first file; what comes later are directories
            entered.set()
            assert go_on.wait(PATIENCE)

    def fsync_all(fds: Sequence[int]) -> list[OSError | None]:
        sizes.append(len(fds))
        return [None for _ in fds]

    calls = SystemCalls()
    setattr(calls, "fsync", fsync)  # noqa: B010 - the true one is a static method
    setattr(calls, "fsync_all", fsync_all)  # noqa: B010
    local = LocalObjects(root, "local://t", calls=calls)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        first = asyncio.ensure_future(local.put("first", b"1"))
        assert await loop.run_in_executor(None, entered.wait, PATIENCE)
        few = [asyncio.ensure_future(local.put(f"few{n}", b"1")) for n in range(15)]
        await asyncio.sleep(0.05)
        assert sizes == []  # they wait for the first
        more = asyncio.ensure_future(local.put("sixteenth", b"1"))
        await asyncio.gather(more, *few)
        assert sizes == [16]
        assert not first.done()
        go_on.set()
        await first

    await main()
    local.close()


@pytest.mark.parametrize("size", [10, 2 * MIB])
@pytest.mark.parametrize(
    ("call", "code", "wanted"),
    [
        ("write*", errno.ENOSPC, StoreFullError),
        ("write*", errno.EDQUOT, StoreFullError),
        ("fsync", errno.EIO, StoreUnavailableError),
        ("rename", errno.EROFS, StoreFullError),
        ("rename", errno.EXDEV, StoreUnavailableError),
    ],
)
async def test_failing_calls(root: Path, size: int, call: str, code: int, wanted: type[Exception]) -> None:
    await setup_root(root)
    calls = Recorder(call.replace("*", "v" if size > MIB else ""), code)
    local = LocalObjects(root, "local://t", calls=calls)

    async def main() -> None:
        with pytest.raises(wanted, match=rf"local://t/kept: .*{errno.errorcode[code]}"):
            await local.put_stream("kept", cut(bytes(size), MIB))
        assert await local.get("kept") == b"old"
        assert await partial(local) == []

    await main()
    local.close()


@pytest.mark.parametrize("size", [10, 2 * MIB])
async def test_cancelled_before_its_name_is_written(root: Path, size: int) -> None:
    """The thread is at work in fsync when the cancel comes: the file is whole, and still gets no name."""
    await setup_root(root)
    entered, go_on = threading.Event(), threading.Event()

    def fsync(fd: int) -> None:
        entered.set()
        assert go_on.wait(PATIENCE)

    calls = SystemCalls()
    setattr(calls, "fsync", fsync)  # noqa: B010 - the true one is a static method
    local = LocalObjects(root, "local://t", calls=calls)

    async def main() -> None:
        task = asyncio.ensure_future(local.put_stream("new", cut(bytes(size), MIB)))
        while not entered.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.sleep(0.01)
        task.cancel()
        assert not task.done()  # it waits for the thread: nothing works on the file once it has ended
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await keys(local) == ["kept"]
        assert await partial(local) == []

    await main()
    local.close()


CHILD_HEAD = """
    import asyncio, os, resource, sys
    from pathlib import Path
    from lakebed_engine.stores.objects.local.store import LocalObjects
    from lakebed_engine.vocabulary.errors import StoreFullError
    store = LocalObjects(Path(sys.argv[1]), "local://t")
"""


def child(root: Path, code: str) -> subprocess.Popen[str]:
    source = textwrap.dedent(CHILD_HEAD) + textwrap.dedent(code)
    path = os.path.dirname(next(iter(lakebed_engine.__path__)))
    return subprocess.Popen(
        [sys.executable, "-c", source, str(root)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


async def test_killed_in_mid_stream(local: LocalObjects, root: Path) -> None:
    process = child(
        root,
        """
        async def chunks():
            for _ in range(12):  # more than may wait for the disk
                yield bytes(1 << 20)
            print("ready", flush=True)
            await asyncio.sleep(60)
        asyncio.run(store.put_stream("big", chunks()))
        """,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
    assert await keys(local) == []
    left = [blob async for blob in local.list_partial()]
    assert [blob.size >= MIB for blob in left] == [True]
    await local.delete_partial(left[0].key)
    await local.delete_partial(left[0].key)
    assert await partial(local) == []
    with pytest.raises(InvalidPathError):
        await local.delete_partial("../kept")


def test_no_permission(root: Path) -> None:
    """A child without root's powers: root may do anything."""
    process = child(
        root,
        """
        from lakebed_engine.vocabulary.errors import StoreUnavailableError
        root = Path(sys.argv[1])
        root.parent.chmod(0o711)
        async def listed():
            return [blob async for blob in store.list()]
        async def main():
            await store.put("a/b", b"1")
            (root / "a").chmod(0)
            if os.geteuid() == 0:
                for folder, _, files in os.walk(root):
                    for path in (folder, *(os.path.join(folder, file) for file in files)):
                        os.chown(path, 65534, 65534)
                os.seteuid(65534)
            for call in (store.get("a/b"), store.put("a/c", b""), store.delete(["a/b"]), listed()):
                try:
                    await call
                except StoreUnavailableError as error:
                    print("EACCES" in str(error), flush=True)
            os._exit(0)
        asyncio.run(main())
        """,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.read().split() == ["True"] * 4


async def test_no_room(local: LocalObjects, root: Path) -> None:
    """A true limit of the operating system: files of at most 1.5 MiB. Python ignores SIGXFSZ, so writes get EFBIG."""
    process = child(
        root,
        """
        resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 19, 3 << 19))
        async def chunks():
            for _ in range(3):
                yield bytes(1 << 20)
        async def main():
            for put in (store.put_stream("big", chunks()), store.put("big", bytes(2 << 20))):
                try:
                    await put
                except StoreFullError as error:
                    print("EFBIG" in str(error))
            await store.put("small", bytes(1 << 20))
        asyncio.run(main())
        """,
    )
    output, _ = process.communicate(timeout=PATIENCE)
    assert (output, process.returncode) == ("True\nTrue\n", 0)
    assert await keys(local) == ["small"]
    assert await partial(local) == []


async def test_a_fork_makes_its_own_threads(local: LocalObjects, root: Path) -> None:
    process = child(
        root,
        """
        asyncio.run(store.put("parent", b"1"))
        import warnings
        warnings.simplefilter("ignore")  # a fork beside threads: what a pre-forking server does, on purpose here
        pid = os.fork()
        if pid == 0:
            asyncio.run(store.put("child", b"2"))
            os._exit(0)
        print(os.waitpid(pid, 0)[1])
        """,
    )
    output, _ = process.communicate(timeout=PATIENCE)
    assert output == "0\n"
    assert await keys(local) == ["child", "parent"]


async def test_a_fork_in_the_middle_of_a_put_leaves_it_to_the_parent(local: LocalObjects, root: Path) -> None:
    process = child(
        root,
        """
        import threading, warnings
        warnings.simplefilter("ignore")
        begun, go_on = threading.Event(), threading.Event()
        fsync = store._writer.calls.fsync
        def slow(fd):
            begun.set()
            go_on.wait()
            fsync(fd)
        store._writer.calls.fsync = slow
        work = threading.Thread(target=lambda: asyncio.run(store.put("parent", b"1")))
        work.start()
        begun.wait()
        pid = os.fork()
        if pid == 0:
            store._writer.calls.fsync = fsync
            asyncio.run(store.put("child", b"2"))
            os._exit(0)
        print(os.waitpid(pid, 0)[1])
        go_on.set()
        work.join()
        """,
    )
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert output == "0\n"
    assert await keys(local) == ["child", "parent"]


# --- the registry ----------------------------------------------------------------------------------------------


@pytest.fixture
def stores(place: Path) -> Iterator[Stores]:
    stores = Stores(place / "root")
    yield stores
    stores.close()


async def test_registry_opens_and_remembers(stores: Stores, root: Path) -> None:
    registry: ObjectStores = stores
    sales = registry.open("local://sales/eu-1/")
    assert sales.uri == "local://sales/eu-1"
    assert registry.open("local://sales/eu-1") is sales
    assert registry.open("mem://x") is registry.open("mem://x/")
    assert registry.open("mem://x") is not registry.open("mem://y")
    await sales.put("a", b"1")
    await registry.open("mem://x").put("a", b"2")
    assert (root / "sales/eu-1/a").read_bytes() == b"1"


@pytest.mark.parametrize(
    ("uri", "rule"),
    [
        ("local://", "no empty name"), ("local:///", "no empty name"), ("local:///etc", "no absolute path"),
        ("local://..", "no `..`"), ("local://../x", "no `..`"), ("local://a/../../b", "no `..`"),
        ("local://.", "begins"),
        ("local://a//b", "no empty part"), ("local://%2e%2e/x", "no %-escapes"), ("local://a/%2e%2e", "no %-escapes"),
        ("local://a\\..\\b", "characters"), ("local://a\x00", "characters"), ("local://a\n", "characters"),
        ("local://.lakebed-tmp", "begins"), ("local://~/x", "characters"), ("local://é", "characters"),
        ("local://" + "a/" * 300, "at most 500"), ("local://" + "a" * 101, "1 to 100"), ("mem://../x", "no `..`"),
        ("mem://", "no empty name"), ("s3://bucket", "switched off"), ("gs://b", "switched off"),
        ("az://b", "switched off"), ("s3://", "no empty name"), ("s3://b/../c", "no `..`"), ("gcs://b", "no adapter"),
        ("file:///etc", "no adapter is configured for file://"), ("sales", "is a URI"), ("", "is a URI"),
        ("LOCAL://a", "is a URI"), ("local:/etc", "is a URI"), (" local://a", "is a URI"),
    ],
)  # fmt: skip
def test_registry_refuses(stores: Stores, place: Path, uri: str, rule: str) -> None:
    with pytest.raises(InvalidNamespaceError, match=rule):
        stores.open(uri)
    assert list(place.iterdir()) == []


def test_registry_without_adapters() -> None:
    stores = Stores(None, memory=False)
    with pytest.raises(InvalidNamespaceError, match="not configured"):
        stores.open("local://a")
    with pytest.raises(InvalidNamespaceError, match="switched off"):
        stores.open("mem://a")
    stores.close()


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
