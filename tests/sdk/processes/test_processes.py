"""Clients, handles and open files in other processes: pickled, forked, and forked at the worst moment."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import lakebed
import lakebed.aio
import lakebed_testing
import pytest
from lakebed._process.forks import ForkLock

from tests.sdk.forks import FORK, in_a_fork
from tests.support.waiting import PATIENCE

METHODS = ["fork", pytest.param("forkserver", marks=pytest.mark.slow), pytest.param("spawn", marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def server() -> Iterator[lakebed_testing.LakebedServer]:
    with lakebed_testing.server() as started:
        yield started


@pytest.fixture
def main(server: lakebed_testing.LakebedServer) -> Iterator[lakebed.Branch]:
    with server.connect() as lake:
        branch = lake.repository("repo").create("mem://repo").branch("main")
        branch.put("here.txt", b"first line\nsecond line\n")
        yield branch
    server.reset()


def read_and_write(main: lakebed.Branch, name: str) -> tuple[bytes, str]:
    main.put(name, name.encode())
    main.put_many({f"{name}-{number}": b"x" for number in range(3)})
    return main.get("here.txt"), main.stat(name).path


def read_and_write_async(main: lakebed.aio.Branch, name: str) -> tuple[bytes, str]:
    async def go() -> tuple[bytes, str]:
        try:
            await asyncio.gather(*(main.put(f"{name}-{number}", b"x") for number in range(3)))
            await main.put(name, name.encode())
            return await main.get("here.txt"), (await main.stat(name)).path
        finally:
            await main._transport.close()

    return asyncio.run(go())


@pytest.mark.parametrize("method", METHODS)
def test_pickled_into_workers(server: lakebed_testing.LakebedServer, main: lakebed.Branch, method: str) -> None:
    also = server.connect_async().repository("repo").branch("main")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        jobs = [pool.submit(read_and_write, main, f"{method}.txt"), pool.submit(read_and_write_async, also, "aio.txt")]
        for job, name in zip(jobs, (f"{method}.txt", "aio.txt"), strict=True):
            assert job.result(PATIENCE) == (b"first line\nsecond line\n", name)
    assert len(main.list().all()) == 9
    assert main.commit("from three processes").message == "from three processes"


async def test_forked_child_reuses_existing_clients(
    server: lakebed_testing.LakebedServer, main: lakebed.Branch
) -> None:
    assert main.get("here.txt")  # connections are open
    seen = [in_a_fork(lambda: read_and_write(main, "child.txt")) for _ in range(2)]
    assert seen == [(b"first line\nsecond line\n", "child.txt")] * 2
    async with server.connect_async() as lake:
        branch = lake.repository("repo").branch("main")
        assert await branch.get("here.txt")
        # a child that is forked inside of a running loop begins one of its own
        forked = await asyncio.to_thread(in_a_fork, lambda: read_and_write_async(branch, "aio.txt"))
        assert forked == (b"first line\nsecond line\n", "aio.txt")
        assert await branch.get("aio.txt") == b"aio.txt"
    assert main.get("child.txt") == b"child.txt"  # the parent's connections were left alone


def test_a_fork_while_another_thread_connects(main: lakebed.Branch) -> None:
    """A copy of a held lock would never be released."""
    main.get("here.txt")
    transport = main._transport
    held, enough = threading.Event(), threading.Event()

    def hold() -> None:
        with transport._clients._lock, transport.addresses._lock:
            held.set()
            enough.wait(PATIENCE)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(PATIENCE)
        assert in_a_fork(lambda: main.get("here.txt")) == b"first line\nsecond line\n"
    finally:
        enough.set()
        holder.join()
    assert main.get("here.txt") == b"first line\nsecond line\n"


def test_lock_excludes_other_threads() -> None:
    lock = ForkLock()
    order: list[str] = []

    def take() -> None:
        with lock:
            order.append("other")

    other = threading.Thread(target=take)
    with lock:
        other.start()
        order.append("mine")
    other.join()
    assert order == ["mine", "other"]


@pytest.mark.parametrize("mode", ["rb", "r"])
def test_pickled_open_file_keeps_its_position(main: lakebed.Branch, mode: str) -> None:
    with main.open("here.txt", mode) as file:
        assert file.readline()
        with pickle.loads(pickle.dumps(file)) as again:
            assert type(again) is type(file)
            assert again.read() == (b"second line\n" if mode == "rb" else "second line\n")
    with pytest.raises(ValueError, match="closed file"):
        pickle.dumps(file)


def test_an_open_file_in_a_worker(main: lakebed.Branch) -> None:
    with main.open("here.txt") as file, ProcessPoolExecutor(1, mp_context=FORK) as pool:
        file.seek(6)
        assert pool.submit(_rest, file).result(PATIENCE) == b"line\nsecond line\n"
        main.put("here.txt", b"replaced")
        with pytest.raises(lakebed.PreconditionFailedError):  # the same content, or an error: never another one
            pool.submit(_rest, file).result(PATIENCE)


def _rest(file: Any) -> Any:
    return file.read()
