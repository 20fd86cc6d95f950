"""The processes that read tables: a hostile file can damage one of them, but not the server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import Any

import pyarrow as pa
import pytest
from lakebed_server.settings.schema import TableSettings
from lakebed_server.tables.messages import TableTooLarge, UnreadableTable
from lakebed_server.tables.pool import TablePool

from tests.server.tables.support import Files, asked, one, parquet, table_pool
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

FILES = one("a.parquet", parquet(pa.table({"id": [1, 2, 3]})))


async def page(pool: TablePool, files: Files = FILES, format: str = "parquet") -> Any:
    return json.loads(await pool.answer(asked(files, format), files.reads()))


async def never(start: int, length: int) -> bytes:
    await asyncio.Event().wait()
    raise AssertionError("it does not end")


async def fails(start: int, length: int) -> bytes:
    raise FileNotFoundError("the object is gone")


def pids(pool: TablePool) -> set[int]:
    return {one._process.pid for one in (*pool._idle, *pool._busy)}


async def test_a_process_serves_many_requests_and_ends_with_the_pool() -> None:
    async with table_pool() as pool:
        assert [(await page(pool))["rows"] for _ in range(3)] == [[[1], [2], [3]]] * 3
        (pid,) = pids(pool)
        environment = _environment(pid)
        assert not [name for name in environment if name.startswith(("LAKEBED_", "AWS_"))]
    assert not is_there(pid)


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _environment(pid: int) -> list[str]:
    with open(f"/proc/{pid}/environ", "rb") as file:
        return [entry.partition(b"=")[0].decode() for entry in file.read().split(b"\0")]


async def test_a_read_that_takes_too_long_ends_its_process_and_the_next_request_has_another() -> None:
    async with table_pool(TableSettings(time=1.0, processes=1)) as pool:
        with pytest.raises(TableTooLarge, match="it took longer than 1 s"):
            await pool.answer(asked(FILES, "parquet"), [never])
        assert pids(pool) == set()
    async with table_pool() as pool:
        assert (await page(pool))["total_rows"] == 3


async def test_the_error_of_a_read_is_that_of_the_request() -> None:
    async with table_pool() as pool:
        with pytest.raises(FileNotFoundError, match="the object is gone"):
            await pool.answer(asked(FILES, "parquet"), [fails])
        assert (await page(pool))["total_rows"] == 3


async def test_a_process_that_dies_is_an_unreadable_table() -> None:
    async with table_pool() as pool:

        async def kills(start: int, length: int) -> bytes:
            (pid,) = pids(pool)
            os.kill(pid, signal.SIGSEGV)
            return bytes(length)

        with pytest.raises(UnreadableTable):
            await pool.answer(asked(FILES, "parquet"), [kills])
        assert (await page(pool))["total_rows"] == 3


async def test_a_process_that_died_between_requests_is_replaced() -> None:
    async with table_pool() as pool:
        await page(pool)
        (process,) = pool._idle
        os.kill(process._process.pid, signal.SIGKILL)
        await asyncio.to_thread(wait_until, lambda: process._process.poll() is not None)
        assert (await page(pool))["total_rows"] == 3


async def test_a_request_that_is_cancelled_leaves_no_process() -> None:
    async with table_pool() as pool:
        asking = asyncio.create_task(pool.answer(asked(FILES, "parquet"), [never]))
        await asyncio.to_thread(wait_until, lambda: bool(pool._busy))
        (pid,) = pids(pool)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.to_thread(wait_until, lambda: not is_there(pid))


async def test_memory_is_bounded() -> None:
    """The rows of a file of 200 KB need 3 GiB. The limit of the process is lower, and the error says so."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 64, pa.int32()), pa.array(["x" * (48 << 20)]))
    files = one("bomb.parquet", parquet(pa.table({"a": texts}), compression="zstd"))
    async with table_pool(TableSettings(time=120.0, processes=1, memory=1 << 30)) as pool:
        with pytest.raises((TableTooLarge, UnreadableTable)):
            await page(pool, files)
        assert (await page(pool))["total_rows"] == 3


async def test_the_event_loop_goes_on_while_a_table_is_read() -> None:
    text = b"a,b\n" + b"1,2\n" * (4 << 20)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async with table_pool() as pool:
        await page(pool)
        ticking = asyncio.create_task(tick())
        assert (await page(pool, one("a.csv", text), "csv"))["total_rows"] == 4 << 20
        ticking.cancel()
    assert ticks > 3


async def test_the_number_of_processes_is_bounded() -> None:
    async with table_pool(TableSettings(time=60.0, processes=2)) as pool:
        found = await asyncio.gather(*(page(pool) for _ in range(8)))
        assert len(pids(pool)) <= 2
    assert [one["total_rows"] for one in found] == [3] * 8
