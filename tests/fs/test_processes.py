"""File systems and open readers in other processes: fork, forkserver and spawn, as data loaders and Dask use them.

PyTorch itself is not installed for this: its DataLoader does what the pools here do, which is to pickle the data set to
workers that it starts, or to fork them with everything open.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.forkserver
import os
import pickle
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import fsspec
import lakebed
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.fs import workers
from tests.support.sizes import sized
from tests.support.waiting import PATIENCE

CONTENT = bytes(range(256)) * 2000
SLOW, SOAK = pytest.mark.slow, pytest.mark.soak
PAIRS = [
    *(("direct", "fork"), ("proxied", "fork")),
    pytest.param("direct", "forkserver", marks=SLOW),
    pytest.param("proxied", "spawn", marks=SLOW),
    *(pytest.param(*pair, marks=SOAK) for pair in (("direct", "spawn"), ("proxied", "forkserver"))),
]
"""How bytes travel, and how a process starts. Neither depends on the other."""


def pool(method: str) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method))


@pytest.fixture(autouse=True)
def _fresh_forkserver() -> None:
    """A running fork server has the environment of the test that started it."""
    multiprocessing.forkserver._forkserver._stop()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("way", "method"), PAIRS, indirect=["way"])
def test_workers_read_and_write(way: str, fs: Any, top: str, method: str) -> None:
    path = f"{top}/data.bin"
    fs.pipe(path, CONTENT)
    reader = fs.open(path)
    assert reader.read(100) == CONTENT[:100]
    with pool(method) as processes:
        jobs = [(fs, path, start, start + 64_000) for start in range(0, len(CONTENT), 64_000)]
        pieces = list(processes.map(workers.read_shard, jobs))
        assert processes.submit(workers.go_on_reading, reader).result(PATIENCE) == CONTENT[100:]
        writers = set(processes.map(workers.write_one, [(fs, f"{top}/out/{n}", bytes([n])) for n in range(6)]))
        assert processes.submit(workers.by_the_environment, path).result(PATIENCE) == CONTENT
    assert b"".join(data for _, data in pieces) == CONTENT
    assert os.getpid() not in {pid for pid, _ in pieces} | writers
    assert [fs.cat(f"{top}/out/{n}") for n in range(6)] == [bytes([n]) for n in range(6)]
    assert reader.read() == CONTENT[100:]  # this process's own is where it was
    reader.close()


@pytest.mark.parametrize(("way", "method"), PAIRS, indirect=["way"])
def test_a_map_style_data_set_in_the_workers_of_a_loader(
    way: str, fs: Any, top: str, repo: lakebed.Repository, method: str
) -> None:
    """A process for each worker, the data set among its arguments: pickled, or inherited by a fork. Two epochs."""
    for number in range(3):
        pq.write_table(
            pa.table({"x": range(number * 10, number * 10 + 10)}), f"{top}/t/{number}.parquet", filesystem=fs
        )
    dataset = workers.Rows(fs, f"{top}/t", repo.branch("main"), "t", 10)
    assert dataset[29] == (29, 29, 29)  # the parent has read: pyarrow's threads and our connections are there
    context: Any = multiprocessing.get_context(method)
    results, queues = context.Queue(), [context.Queue() for _ in range(2)]
    started = [context.Process(target=workers.load, args=(dataset, one, results), daemon=True) for one in queues]
    for process in started:
        process.start()
    try:
        for _ in range(2):
            batches = [list(range(start, start + 5)) for start in range(0, len(dataset), 5)]
            for number, batch in enumerate(batches):
                queues[number % 2].put((number, batch))
            found = {number: (pid, rows) for number, pid, rows in (results.get(timeout=PATIENCE) for _ in batches)}
            assert [found[n][1] for n in range(6)] == [[(row, row, row) for row in batch] for batch in batches]
            assert {found[n][0] for n in range(6)} == {process.pid for process in started}
    finally:
        for one in queues:
            one.put(None)
        for process in started:
            process.join(PATIENCE)
            process.kill()
    assert [process.exitcode for process in started] == [0, 0]
    assert dataset[0] == (0, 0, 0)  # and this process goes on


def in_a_fork(work: Any) -> Any:
    """What a forked child makes of `work`, with everything of this process open in it. Fails when it hangs."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(int(PATIENCE))
            done = pickle.dumps(work())
        except BaseException as error:
            done = pickle.dumps(repr(error))
        with os.fdopen(theirs, "wb") as out:
            out.write(done)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return pickle.loads(said) if said else "it hung"


def test_a_fork_in_the_middle_of_everything(way: str, fs: Any, top: str, repo: lakebed.Repository) -> None:
    path = f"{top}/data.bin"
    fs.pipe(path, CONTENT)
    reader = fs.open(path, cache_type="none")
    assert reader.read(10) == CONTENT[:10]
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            fs._wait(fs._info, path)

    busy = [threading.Thread(target=ask) for _ in range(4)]
    for thread in busy:
        thread.start()
    try:
        for _ in range(sized(10)):
            assert in_a_fork(lambda: (fs.cat(path), reader.read(), fs.find(top))) == (CONTENT, CONTENT[10:], [path])
            assert in_a_fork(lambda: fsspec.filesystem("lakebed").info(path)["size"]) == len(CONTENT)
    finally:
        stop.set()
        for thread in busy:
            thread.join()
    assert reader.read() == CONTENT[10:]
    assert fs.cat(path) == CONTENT


def test_a_fork_inside_a_transaction_writes_into_it(fs: Any, top: str, repo: lakebed.Repository) -> None:
    with fs.transaction:
        fs.pipe(f"{top}/a", b"a")
        assert in_a_fork(lambda: (fs.pipe(f"{top}/b", b"b"), fs.find(top))[1]) == [f"{top}/a", f"{top}/b"]
        assert fs.cat(f"{top}/b") == b"b"
    assert [one.path for one in repo.ref("main@").list()] == ["a", "b"]


def test_a_writer_belongs_to_its_process(fs: Any, top: str) -> None:
    with fs.open(f"{top}/x", "wb") as file:
        file.write(CONTENT)
        assert "opened for writing in another process" in in_a_fork(lambda: workers.refused_close(file))
        with pytest.raises(lakebed.InvalidRequestError, match="cannot move to another process"):
            pickle.dumps(file)
    assert fs.cat(f"{top}/x") == CONTENT
