"""Uploads without an end: files that are dropped, and writes that are cancelled."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import lakebed
import pytest
from lakebed._fsspec.files import BLOCK
from lakebed._fsspec.uploads import Upload
from lakebed.fsspec import LakebedFileSystem

from tests.support.waiting import PATIENCE


def listening() -> list[dict[str, Any]]:
    """What asyncio will log of errors that were never retrieved."""
    logged: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: logged.append(context))
    return logged


async def until_done(upload: Upload | None) -> None:
    assert upload is not None
    assert upload._task is not None
    await asyncio.wait([upload._task], timeout=PATIENCE)
    assert upload._task.done()


async def test_a_dropped_file_that_the_server_refused_leaves_no_unseen_error(repo: lakebed.Repository) -> None:
    logged = listening()
    fs = LakebedFileSystem(asynchronous=True, skip_instance_cache=True)
    file = await fs.open_async(f"{repo.id}/no-such-branch/a", "wb")
    await file.write(bytes(BLOCK))
    await until_done(file._upload)
    del file
    gc.collect()
    await asyncio.sleep(0)
    await fs._lake.close()
    assert logged == []


async def test_a_dropped_file_ends_its_request_and_stores_nothing(repo: lakebed.Repository) -> None:
    logged = listening()
    fs = LakebedFileSystem(asynchronous=True, skip_instance_cache=True)
    file = await fs.open_async(f"{repo.id}/main/a", "wb")
    await file.write(bytes(BLOCK))
    upload = file._upload
    del file
    gc.collect()
    await until_done(upload)
    assert not await fs._exists(f"{repo.id}/main/a")
    await fs._lake.close()
    assert logged == []


class Store:
    """A server that takes the first block, and no other before `go_on`."""

    def __init__(self) -> None:
        self.stored: bytes | None = None
        self.go_on = asyncio.Event()

    async def send(self, content: AsyncIterator[bytes]) -> Any:
        taken = [await anext(content)]
        await self.go_on.wait()
        taken += [block async for block in content]
        self.stored = b"".join(taken)


@pytest.mark.parametrize("what", ["feed", "finish"])
async def test_after_a_cancelled_write_no_object_with_a_hole_is_stored(what: str) -> None:
    store = Store()
    upload = Upload(store.send, "sales/main/a")
    for block in (b"1", b"2", b"3"):  # one is taken, two wait
        await upload.feed(block)
        await asyncio.sleep(0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await getattr(upload, what)(b"4")
    store.go_on.set()
    with pytest.raises(
        lakebed.InvalidRequestError,
        match="sales/main/a was not stored, because a write to it was cancelled",
    ):
        await upload.finish(b"5")
    await until_done(upload)
    assert store.stored is None
