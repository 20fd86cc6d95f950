"""Overlapping writes of a batch: the next object arrives while one becomes durable, in order, few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator

import pytest
from lakebed_engine.operations.objects import concurrent_writes
from lakebed_engine.operations.objects.concurrent_writes import Overlapping
from lakebed_engine.operations.objects.stage import new_entry
from lakebed_engine.vocabulary.ports import AsyncioRuntime
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import UploadRequest

from tests.support.waiting import PATIENCE


class Disk:
    """Reads the content of objects without a wait, and holds each until it may become durable."""

    def __init__(self, *, opens: bool = False) -> None:
        self.waiting = 0
        self.most = 0
        self.gate = asyncio.Event()
        if opens:
            self.gate.set()

    async def write(self, request: UploadRequest, chunks: AsyncIterable[bytes]) -> Entry:
        size = sum([len(chunk) async for chunk in chunks])
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        try:
            if request.path != "quick":
                await self.gate.wait()
        finally:
            self.waiting -= 1
        if request.path == "broken":
            raise OSError("no space left")
        return new_entry(request.path, "", size, 0, "", {})


async def _content(size: int = 1) -> AsyncIterator[bytes]:
    yield b"x" * size


def _request(path: str) -> UploadRequest:
    return UploadRequest(path=path, content_type="", metadata={})


async def test_the_next_arrives_before_the_first_is_durable_and_entries_keep_their_order() -> None:
    disk = Disk()
    writes = Overlapping(AsyncioRuntime(), disk.write)
    for number, path in enumerate(["a", "quick", "b"]):
        async with asyncio.timeout(PATIENCE):  # a deadlock, if one waits for the other
            await writes.begin(_request(path), _content(number))
    assert disk.waiting == 2
    disk.gate.set()
    entries = await writes.entries()
    assert [(one.physical_address, one.size) for one in entries] == [("a", 0), ("quick", 1), ("b", 2)]


async def test_few_writes_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrent_writes, "AT_ONCE", 3)
    disk = Disk()
    writes = Overlapping(AsyncioRuntime(), disk.write)
    asyncio.get_running_loop().call_later(0.05, disk.gate.set)
    for number in range(20):
        await writes.begin(_request(str(number)), _content())
    assert len(await writes.entries()) == 20
    assert disk.most <= 4


async def test_failed_write_is_raised_and_stop_returns_written_entries() -> None:
    disk = Disk(opens=True)
    writes = Overlapping(AsyncioRuntime(), disk.write)
    await writes.begin(_request("a"), _content())
    with pytest.raises(OSError, match="no space"):
        await writes.begin(_request("broken"), _content())
        await writes.entries()
    assert [one.physical_address for one in await writes.stop()] == ["a"]
    assert disk.waiting == 0


async def test_interrupted_content_is_raised_without_delay() -> None:
    async def gone() -> AsyncIterator[bytes]:
        yield b"x"
        raise ConnectionResetError("the client left")

    disk = Disk()
    writes = Overlapping(AsyncioRuntime(), disk.write)
    await writes.begin(_request("a"), _content())
    with pytest.raises(ConnectionResetError):
        await writes.begin(_request("b"), gone())
    asyncio.get_running_loop().call_later(0.05, disk.gate.set)
    assert [one.physical_address for one in await writes.stop()] == ["a"]  # it had arrived: written to its end
    assert disk.waiting == 0
