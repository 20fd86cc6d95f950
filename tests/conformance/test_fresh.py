"""`local://` writes fresh keys, which no other caller knows yet, under their own names, and as durably as others."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from lakebed_engine.stores.objects.base import PutResult
from lakebed_engine.stores.objects.local import syscalls
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.local.syscalls import SystemCalls
from lakebed_engine.vocabulary.errors import BlobExists, StoreFullError, StoreUnavailableError

from tests.conformance.objects import Recorder, cut, keys, partial, setup_root
from tests.support.waiting import PATIENCE, until

MIB = 1 << 20
Answers = list[OSError | None]


class Syncing(SystemCalls):
    """The true calls, but that `fsync_all` fails for files or for directories, or waits; it notes what it got."""

    def __init__(self, fails: str = "", gate: threading.Event | None = None) -> None:
        self.asked: list[list[str]] = []
        self.entered = threading.Event()
        self._fails = fails
        self._gate = gate
        setattr(self, "fsync_all", self._fsync_all)  # noqa: B010 - the true one is a static method

    def _fsync_all(self, fds: Sequence[int]) -> Answers:
        kinds = ["directory" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file" for fd in fds]
        self.asked.append(kinds)
        self.entered.set()
        if self._gate is not None:
            assert self._gate.wait(PATIENCE)
        reported = syscalls.fsync_all(fds)
        broken = OSError(errno.EIO, os.strerror(errno.EIO))
        return [broken if kind == self._fails else done for kind, done in zip(kinds, reported, strict=True)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


def put(store: LocalObjects, key: str, data: bytes = b"new") -> asyncio.Future[PutResult]:
    return asyncio.ensure_future(store.put_stream(key, cut(data, MIB), fresh=True))


async def test_file_and_directories_are_synced_by_one_call_before_the_answer(root: Path) -> None:
    calls = Recorder()
    local = LocalObjects(root, "local://t", calls=calls)
    await put(local, "data/2026112214/a")
    first = calls.log.copy()
    calls.log.clear()
    await asyncio.gather(*(put(local, f"data/2026112214/{n}") for n in range(3)))
    assert await keys(local) == [f"data/2026112214/{n}" for n in "012a"]
    assert await partial(local) == []
    folder = str(root / "data/2026112214")
    assert [one for one in calls.log if one[0] == "fsync"] == [
        *(("fsync", f"{folder}/{n}") for n in range(3)),
        ("fsync", folder),  # once for all of them, and its parents are known
    ]
    assert not [call for call, _ in [*first, *calls.log] if call in ("rename", "link", "unlink")]
    wrote = first.index(("write", f"{folder}/a"))
    synced = {path for call, path in first[wrote:] if call == "fsync"}
    assert synced >= {f"{folder}/a", folder, str(root / "data"), str(root)}
    local.close()


@pytest.mark.parametrize("fails", ["file", "directory"])
async def test_put_that_fails_to_sync_stores_nothing(root: Path, fails: str) -> None:
    calls = Syncing(fails)
    local = LocalObjects(root, "local://t", calls=calls)
    with pytest.raises(StoreUnavailableError, match=r"local://t/data/x: .*EIO"):
        await put(local, "data/x")
    assert await keys(local) == []
    assert await partial(local) == []
    local.close()
    assert "directory" in calls.asked[0]


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (errno.EACCES, StoreUnavailableError, "check the directory's owner, mode"),
        (errno.EROFS, StoreFullError, "make it writable"),
        (errno.ENOSPC, StoreFullError, "free space"),
    ],
)
async def test_a_file_that_cannot_be_made(root: Path, code: int, kind: type[Exception], said: str) -> None:
    def refusing(path: bytes, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT and path.endswith(b"/x"):
            raise OSError(code, os.strerror(code))
        return os.open(path, flags, mode)

    calls = SystemCalls()
    setattr(calls, "open", refusing)  # noqa: B010 - the true one is a static method
    local = LocalObjects(root, "local://t", calls=calls)
    with pytest.raises(kind, match=rf"local://t/data/x: .*{errno.errorcode[code]}.*{said}"):
        await put(local, "data/x")
    await put(local, "data/y")
    assert await keys(local) == ["data/y"]
    assert await partial(local) == []
    local.close()


async def test_a_disk_that_is_full_leaves_nothing(root: Path) -> None:
    local = LocalObjects(root, "local://t", calls=Recorder("write", errno.ENOSPC))
    with pytest.raises(StoreFullError, match=r"local://t/data/x: .*ENOSPC"):
        await put(local, "data/x")
    assert await keys(local) == []
    assert await partial(local) == []
    local.close()


async def test_put_cancelled_during_sync_leaves_no_file(root: Path) -> None:
    go_on = threading.Event()
    calls = Syncing(gate=go_on)
    local = LocalObjects(root, "local://t", calls=calls)
    task = put(local, "data/x")
    await until(calls.entered.is_set, "the sync has begun")
    task.cancel()
    await asyncio.sleep(0.01)  # time for the task to end too early
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await keys(local) == []
    local.close()


async def test_concurrent_fresh_and_known_puts_succeed_or_fail_alone(root: Path) -> None:
    """In one batch, a known key is synced and renamed over, and a fresh key that exists fails alone."""
    await setup_root(root)
    calls = Syncing()
    local = LocalObjects(root, "local://t", calls=calls)

    async def main() -> None:
        await local.put("data/taken", b"old")
        calls.asked.clear()
        done = await asyncio.gather(
            local.put("kept", b"over"), put(local, "data/a"), put(local, "data/taken"), local.put("plain", b"1"),
            return_exceptions=True,
        )  # fmt: skip
        assert [type(one) for one in done] == [type(None), PutResult, BlobExists, type(None)]
        found = {key: await local.get(key) for key in await keys(local)}
        assert found == {"kept": b"over", "data/a": b"new", "data/taken": b"old", "plain": b"1"}
        assert await partial(local) == []

    await main()
    local.close()
    assert calls.asked == [["file", "file", "file", "directory"]]


@pytest.mark.parametrize("key", ["a//b", "kept/below", "x" * 300, "data/../x"])
async def test_a_key_without_a_plain_path_is_encoded(root: Path, key: str) -> None:
    await setup_root(root)
    local = LocalObjects(root, "local://t")

    async def main() -> None:
        await put(local, key)
        assert await local.get(key) == b"new"
        assert await local.get("kept") == b"old"
        assert await keys(local) == sorted(["kept", key])
        assert await partial(local) == []

    await main()
    local.close()


async def test_a_directory_that_was_removed_is_made_and_synced_again(root: Path) -> None:
    calls = Recorder()
    local = LocalObjects(root, "local://t", calls=calls)
    await put(local, "data/hour/a")
    (root / "data/hour/a").unlink()
    (root / "data/hour").rmdir()
    calls.log.clear()
    await put(local, "data/hour/b")
    synced = {path for call, path in calls.log if call == "fsync"}
    assert synced >= {str(root / "data/hour/b"), str(root / "data/hour"), str(root / "data")}
    local.close()


# --- keys that follow from their content -----------------------------------------------------------------------


def named(store: LocalObjects, key: str, data: bytes = b"same") -> asyncio.Future[None]:
    return asyncio.ensure_future(store.put(key, data, by_content=True))


async def test_files_by_content_are_synced_with_their_directories_by_one_call(root: Path) -> None:
    calls = Recorder()
    local = LocalObjects(root, "local://t", calls=calls)
    await asyncio.gather(named(local, "trees/0"), named(local, "commits/0"))
    calls.log.clear()
    await asyncio.gather(named(local, "trees/1"), named(local, "trees/2"), named(local, "commits/1"))
    assert [path for call, path in calls.log if call == "fsync"] == [
        str(root / one) for one in ("trees/1", "trees/2", "commits/1", "trees", "commits")
    ]
    assert {call for call, _ in calls.log} == {"write", "fsync"}
    assert await keys(local) == [f"{folder}/{n}" for folder, top in (("commits", 2), ("trees", 3)) for n in range(top)]
    assert await partial(local) == []
    local.close()


async def test_partial_file_of_a_killed_put_is_replaced(root: Path) -> None:
    await setup_root(root)
    (root / "trees").mkdir()
    (root / "trees/x").write_bytes(b"sa")
    calls = Recorder()
    local = LocalObjects(root, "local://t", calls=calls)

    async def main() -> None:
        await asyncio.gather(named(local, "trees/x"), named(local, "trees/y"))
        assert [await local.get(f"trees/{one}") for one in "xy"] == [b"same", b"same"]
        assert await partial(local) == []

    await main()
    local.close()
    at = calls.log.index(("rename", str(root / "trees/x")))
    before, after = ([path for call, path in log if call == "fsync"] for log in (calls.log[:at], calls.log[at:]))
    assert any("/.lakebed-tmp/" in path for path in before)
    assert after == [str(root / "trees")]


async def test_the_same_twice_in_one_batch(root: Path) -> None:
    await setup_root(root)
    local = LocalObjects(root, "local://t")

    async def main() -> None:
        await asyncio.gather(*(named(local, "trees/x") for _ in range(4)), local.put("trees/y", b"1"))
        assert await local.get("trees/x") == b"same"
        assert await keys(local) == ["kept", "trees/x", "trees/y"]
        assert await partial(local) == []

    await main()
    local.close()


@pytest.mark.parametrize("fails", ["file", "directory"])
async def test_a_put_by_content_that_fails_to_sync_stores_nothing(root: Path, fails: str) -> None:
    await setup_root(root)
    local = LocalObjects(root, "local://t", calls=Syncing(fails))

    async def main() -> None:
        with pytest.raises(StoreUnavailableError, match=r"local://t/trees/x: .*EIO"):
            await named(local, "trees/x")
        assert await keys(local) == ["kept"]
        assert await partial(local) == []

    await main()
    local.close()


@pytest.mark.parametrize("how", ["fails", "cancelled"])
async def test_a_cancelled_put_keeps_the_file_of_another_put(root: Path, how: str) -> None:
    await setup_root(root)
    go_on = threading.Event()
    calls = Syncing("file" if how == "fails" else "", gate=go_on)
    local, other = LocalObjects(root, "local://t", calls=calls), LocalObjects(root, "local://t")

    async def main() -> None:
        task = named(local, "trees/x")
        await until(calls.entered.is_set, "the sync has begun")
        await named(other, "trees/x")
        if how == "cancelled":
            task.cancel()
            await asyncio.sleep(0.01)  # the task receives the cancellation
        go_on.set()
        with pytest.raises(StoreUnavailableError if how == "fails" else asyncio.CancelledError):
            await task
        assert await other.get("trees/x") == b"same"
        assert await partial(local) == []

    await main()
    local.close()
    other.close()


@pytest.mark.parametrize("key", ["a//b", "kept/below", "x" * 300])
async def test_by_content_without_a_plain_path(root: Path, key: str) -> None:
    await setup_root(root)
    local = LocalObjects(root, "local://t")

    async def main() -> None:
        await named(local, key)
        await named(local, key)
        assert await local.get(key) == b"same"
        assert await keys(local) == sorted(["kept", key])
        assert await partial(local) == []

    await main()
    local.close()


async def test_by_content_a_key_stays_in_the_tree_where_it_is(root: Path) -> None:
    """A file once blocked its plain path, so the key was encoded. It stays encoded when the path becomes free."""
    await setup_root(root)
    local = LocalObjects(root, "local://t")

    async def main() -> None:
        await named(local, "kept/x")
        await local.delete(["kept"])
        await named(local, "kept/x")
        assert await keys(local) == ["kept/x"]
        assert not (root / "kept").exists()

    await main()
    local.close()
