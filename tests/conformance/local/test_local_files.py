"""Names of files in local://, and file systems that change or refuse below it."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.vocabulary.errors import (
    BlobExists,
    BlobNotFound,
    StoreUnavailableError,
)

from tests.conformance.objects import (
    MIB,
    NoSync,
    child,
    cut,
    keys,
    partial,
    read,
    run,
)
from tests.support.waiting import PATIENCE


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


@pytest.mark.slow
async def test_a_plain_file_hides_an_encoded_one(local: LocalObjects, root: Path) -> None:
    """Another tool has made a file where a directory was when the object was put."""
    for key in ("a/b", "a"):
        await local.put(key, b"of the store")
    subprocess.run(["rm", "-r", root / "a"], check=True)
    (root / "a").write_bytes(b"of a tool")
    assert await local.get("a") == b"of a tool"
    assert [(blob.key, blob.size) async for blob in local.list()] == [("a", 9)]


@pytest.mark.slow
async def test_root_removed_while_store_is_open(local: LocalObjects, root: Path) -> None:
    await local.put("a/b", b"1")
    subprocess.run(["rm", "-rf", root], check=True)
    assert await keys(local) == await partial(local) == []
    await local.delete(["a/b"])
    await local.put("a/b", b"2")
    assert await local.get("a/b") == b"2"


async def test_store_does_not_recreate_a_deleted_directory(place: Path) -> None:
    """When a disk is not mounted, its files are not "absent", and the mount would hide new files."""
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
        with pytest.raises(StoreUnavailableError, match="directory of local:// namespaces is gone; mount"):
            await call()
    assert not base.exists()
    (place / "away").rename(base)
    assert await store.get("a") == b"1"
    assert await keys(store) == ["a"]
    with pytest.raises(BlobNotFound):
        await store.get("b")
    store.close()


@pytest.mark.slow
def test_no_permission(root: Path) -> None:
    """A child process drops the rights of root, because root may do anything."""
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


@pytest.mark.slow
async def test_no_room(local: LocalObjects, root: Path) -> None:
    """The operating system limits files to 1.5 MiB. Python ignores SIGXFSZ, so writes get EFBIG."""
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
