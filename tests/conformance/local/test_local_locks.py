"""The wait for the lock of a `local://` store is limited: no process can block a put or delete without end."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.local.syscalls import UnsyncedCalls
from lakebed_engine.vocabulary.errors import StoreUnavailableError

from tests.conformance.objects import MIB, cut, keys, partial


@contextmanager
def held(root: Path, kind: int) -> Iterator[None]:
    """Hold the lock with another open file, as another process does."""
    with (root / ".lakebed-lock").open() as lock:
        fcntl.flock(lock, kind)
        yield


WORK: dict[str, Callable[[LocalObjects], Coroutine[Any, Any, object]]] = {
    "put": lambda store: store.put("new", b"1"),
    "put if absent": lambda store: store.put("new", b"1", if_absent=True),
    "put by content": lambda store: store.put("new", b"1", by_content=True),
    "stream": lambda store: store.put_stream("new", cut(bytes(2 * MIB), MIB)),
    "delete": lambda store: store.delete(["old"]),
    "delete older": lambda store: store.delete_older(["old"], 1e12),
}


@pytest.mark.parametrize("work", WORK)
async def test_lock_held_too_long_raises_store_unavailable(tmp_path: Path, work: str) -> None:
    store = LocalObjects(tmp_path, "local://t", calls=UnsyncedCalls(), lock_seconds=0.3)
    await store.put("old", b"0")
    with held(tmp_path, fcntl.LOCK_EX):
        started = time.monotonic()
        said = r"local://t/(new|old): another process has held the store's lock for 0\.3 seconds .*lslocks"
        with pytest.raises(StoreUnavailableError, match=said) as caught:
            await WORK[work](store)
        assert 0.3 <= time.monotonic() - started < 5
        assert not caught.value.lasting
        assert str(tmp_path) not in str(caught.value)
        assert await store.get("old") == b"0"
        await store.put_stream("fresh", cut(b"2", 1), fresh=True)  # needs no lock
    assert await keys(store) == ["fresh", "old"]
    assert await partial(store) == []
    await WORK[work](store)
    store.close()


@pytest.mark.slow
async def test_a_put_waits_for_a_lock_that_is_released_in_time(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path, "local://t", calls=UnsyncedCalls())
    await store.put("old", b"0")
    holder = os.fork()
    if not holder:
        with held(tmp_path, fcntl.LOCK_EX):
            (tmp_path / "held").touch()
            time.sleep(0.3)  # the put finds the lock held, and waits for it
        os._exit(0)
    while not (tmp_path / "held").exists():
        time.sleep(0.001)
    await store.put("new", b"1")
    os.waitpid(holder, 0)
    assert await keys(store) == ["held", "new", "old"]
    store.close()


async def test_the_lock_is_the_servers_own(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path, "local://t", calls=UnsyncedCalls())
    await store.put("a", b"0")
    assert (tmp_path / ".lakebed-lock").stat().st_mode & 0o777 == 0o600
    store.close()
