"""A process that ends while a thread of Arrow or obstore holds an object of ours: it ends well.

Without the waiting of `_process.exit`, or the leaving of `cli/main.py`, each of these scripts is aborted.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
import time

import pytest
from lakebed._process import exit as leaving

pytestmark = pytest.mark.slow

_READS = """
import io, os, sys, threading, time
import pyarrow as pa, pyarrow.parquet as pq
from fsspec.implementations.memory import MemoryFileSystem
from lakebed._process import exit as leaving

stream = io.BytesIO()
pq.write_table(pa.table({"x": range(1000)}), stream, row_group_size=100)
begun = threading.Event()

def late():
    if threading.current_thread() is threading.main_thread():
        return
    begun.set()
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        time.sleep(0.01)
    os.write(1, b"let go")

class File(io.BytesIO):
    def __del__(self):
        late()

class Files(MemoryFileSystem):
    protocol = "late"
    cachable = False
    def info(self, path, **_):
        return {"name": path, "size": len(stream.getvalue()), "type": "file"}
    def isfile(self, path):
        return True
    def open(self, path, mode="rb", **_):
        file = File(stream.getvalue())
        leaving.held_by_arrow(file)
        return file

while not begun.wait(0.02):  # whichever thread is last lets go: until it is one of Arrow's
    rows = pq.read_table("/t.parquet", filesystem=Files()).num_rows
os.write(1, b"%d rows, " % rows)
"""


def test_a_process_that_ends_waits_for_arrows_threads() -> None:
    done = subprocess.run([sys.executable, "-c", _READS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "1000 rows, let go"


def test_a_file_that_is_still_open_at_the_end_is_not_waited_for_long() -> None:
    script = """
import io, time
from lakebed._process import exit as leaving
held, closed = io.BytesIO(b"x"), io.BytesIO(b"x")
closed.close()
leaving.held_by_arrow(closed)
begun = time.monotonic()
leaving._await_arrow()
assert time.monotonic() - begun < leaving.PATIENCE
leaving.held_by_arrow(held)
leaving._await_arrow()
assert time.monotonic() - begun < leaving.PATIENCE * 4
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_running_thread_is_awaited_and_a_resting_one_is_not() -> None:
    rest, ended = threading.Event(), threading.Event()
    resting = threading.Thread(target=rest.wait)

    def run() -> None:
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            hashlib.sha256(bytes(1 << 20))  # without the lock of the interpreter, as a thread of Arrow
        ended.set()

    resting.start()
    running = threading.Thread(target=run)
    running.start()
    leaving._await_arrow()
    assert ended.is_set()
    before = time.monotonic()
    leaving._await_arrow()
    assert time.monotonic() - before < 2 * leaving.PATIENCE
    rest.set()
    resting.join()
    running.join()


_AWAITS = """
import asyncio, os, threading, time
import obstore
from obstore.store import MemoryStore

class Loop(asyncio.SelectorEventLoop):
    def call_soon_threadsafe(self, *args, **options):
        handle = super().call_soon_threadsafe(*args, **options)
        if threading.current_thread() is not threading.main_thread():
            until = time.monotonic() + 0.3
            while time.monotonic() < until:
                pass
            os.write(1, b"let go")
        return handle

async def put():
    await obstore.put_async(MemoryStore(), "a", b"x")

def job():
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(put())
"""


def test_a_process_with_a_server_in_it_waits_for_obstores_threads() -> None:
    script = f"""{_AWAITS.replace("0.3", "0.03")}
import lakebed_testing
with lakebed_testing.server({{"objects.cloud": True}}):
    pass
job()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "let go"


@pytest.mark.parametrize("code", [0, 7])
def test_command_exits_without_waiting_for_pool_threads(code: int) -> None:
    script = f"""{_AWAITS}
import atexit
from concurrent.futures import ThreadPoolExecutor
from lakebed.cli import main
pool = ThreadPoolExecutor()
has_run = threading.Event()

def run(arguments):
    atexit.register(print, "and what was to be done at the end")
    pool.submit(lambda: (has_run.wait(), time.sleep(0.1))).add_done_callback(lambda _: print("what is under way,"))
    job()
    print("reported,")
    has_run.set()
    return {code}

main.run = run
main.main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.splitlines() == ["reported,", "what is under way,", "and what was to be done at the end"]
