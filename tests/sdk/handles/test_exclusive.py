"""Writes that refuse to replace (`x`, `if_absent`), and files of the async door, on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import lakebed
import lakebed.aio
import lakebed_testing
import pytest

from tests.sdk.doors import Door


@pytest.fixture(scope="module")
def server() -> Iterator[lakebed_testing.LakebedServer]:
    with lakebed_testing.server() as started:
        yield started


@pytest.fixture
def where(server: lakebed_testing.LakebedServer) -> Iterator[dict[str, Any]]:
    """How a door reaches an empty repository."""
    with server.connect() as lake:
        lake.repository("repo").create("mem://repo")
        pair = {"key": server.access_key_id, "secret": server.secret_access_key}
        yield {"endpoint": server.endpoint, "quick": False, **pair}
    server.reset()


async def writables(lake: Any) -> list[Any]:
    main = lake.repository("repo").branch("main")
    return [main, await main.workspace("work").create()]


def test_mode_x_creates_but_never_replaces(door: Door, where: dict[str, Any]) -> None:
    async def body(lake: Any) -> None:
        for target in await writables(lake):
            for mode, first, second in (("xb", b"1", b"2"), ("x", "1", "2")):
                path = f"{mode}.txt"
                async with target.open(path, mode) as file:
                    await file.write(first)
                assert await target.get(path) == b"1"
                with pytest.raises(lakebed.ObjectExistsError) as taken:
                    async with target.open(path, mode) as file:  # noticed before the work
                        raise AssertionError("the file must not open")
                assert taken.value.path == path
                assert isinstance(taken.value, FileExistsError)
                async with target.open(path, mode.replace("x", "w")) as file:
                    await file.write(second)
                assert await target.get(path) == b"2"
            await target.put("put.txt", b"1", if_absent=True)
            with pytest.raises(lakebed.ObjectExistsError):
                await target.put("put.txt", b"2", if_absent=True)
            assert await target.get("put.txt") == b"1"

    door.run(body, **where)


def test_one_of_two_exclusive_writers_succeeds(door: Door, where: dict[str, Any]) -> None:
    """Both find no object when they open. The server decides when they close."""

    async def body(lake: Any) -> None:
        for target in await writables(lake):
            async with target.open("race.txt", "xb") as one:
                with pytest.raises(lakebed.ObjectExistsError):
                    async with target.open("race.txt", "xb") as other:
                        await one.write(b"one")
                        await other.write(b"other")
                        await one.close()
            assert await target.get("race.txt") == b"one"

    door.run(body, **where)


@asynccontextmanager
async def main_branch(server: lakebed_testing.LakebedServer) -> AsyncIterator[lakebed.aio.Branch]:
    async with server.connect_async() as lake:
        yield lake.repository("repo").branch("main")


async def test_async_files_do_what_plain_ones_do(server: lakebed_testing.LakebedServer, where: dict[str, Any]) -> None:
    async with main_branch(server) as main:
        async with main.open("lines.txt", "w") as file:
            await file.writelines(["one\n", "two\n", "three\n"])
            await file.flush()
            assert not await main.exists("lines.txt")
            assert (file.writable(), file.readable(), file.closed) == (True, False, False)
            await file.close()
            assert file.closed
            assert await main.get("lines.txt") == b"one\ntwo\nthree\n"
        async with main.open("lines.txt", "r") as file:
            assert await file.readline() == "one\n"
            assert await file.readlines() == ["two\n", "three\n"]
        async with main.open("lines.txt") as file:
            assert (file.name, file.readable(), file.writable(), file.seekable()) == (
                "lines.txt",
                True,
                False,
                True,
            )
            buffer = bytearray(5)
            assert await file.readinto(buffer) == 5
            assert bytes(buffer) == b"one\nt"
            assert file.tell() == 5
            await file.seek(4)
            assert await file.readlines(1) == [b"two\n"]
        async with main.open("nothing.txt", "wb") as file:
            await file.write(b"x")
            file.discard()
        assert not await main.exists("nothing.txt")
        with pytest.raises(ValueError, match="not open"):
            _ = main.open("lines.txt").closed
