"""The order of writes, syncs and names in local://, and calls that are interrupted."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.local.syscalls import SystemCalls
from lakebed_engine.vocabulary.errors import (
    InvalidPathError,
    StoreFullError,
    StoreUnavailableError,
)

from tests.conformance.objects import (
    MIB,
    Recorder,
    child,
    cut,
    keys,
    partial,
    setup_root,
)
from tests.support.waiting import PATIENCE, until


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


async def test_concurrent_puts_are_synced_before_any_rename(root: Path) -> None:
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


async def test_failed_sync_fails_only_its_own_put(root: Path) -> None:
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
    """Two small batches would take the disk twice as long as one. A full batch does not wait."""
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
        await asyncio.sleep(0.05)  # time for them to be synced too early
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
    """The cancellation arrives while the thread runs fsync: the file is complete, but gets no name."""
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
        await until(entered.is_set, "the sync has begun")
        task.cancel()
        await asyncio.sleep(0.01)  # the task receives the first cancellation
        task.cancel()
        assert not task.done()  # it waits for the thread: nothing works on the file once it has ended
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await keys(local) == ["kept"]
        assert await partial(local) == []

    await main()
    local.close()


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
