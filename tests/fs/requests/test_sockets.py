"""The sockets of the blocking client: closed when nothing refers to the file system, however that happens.

In processes of their own, which turn warnings into errors: Python warns of each socket that it had to close itself.
"""

from __future__ import annotations

import subprocess
import sys
from threading import Barrier, Thread
from typing import Any

import pytest

from tests.support.processes.server import RunningServer, clean_environment
from tests.support.waiting import PATIENCE

_OPEN = """
import gc, os, weakref, fsspec
fs = fsspec.filesystem("lakebed", skip_instance_cache=True)
assert fs.info("{path}")["size"] == 5
gone = weakref.ref(fs)
"""

_IN_A_CYCLE = """
cycle = [fs]
cycle.append(cycle)
del fs, cycle
gc.collect()
assert gone() is None
"""

_IN_A_CHILD = """
child = os.fork()
if not child:
    assert fs.info("{path}")["size"] == 5
del fs
gc.collect()
if not child:
    os._exit(0)  # as workers of multiprocessing end
_, status = os.waitpid(child, 0)
assert not status
"""

_TO_THE_END = "keep = [fs]; keep.append(keep)"


@pytest.mark.parametrize("end", [_IN_A_CYCLE, _IN_A_CHILD, _TO_THE_END], ids=["cycle", "fork", "exit"])
def test_no_socket_is_left_to_python(server: RunningServer, fs: Any, top: str, end: str) -> None:
    fs.pipe(f"{top}/here.txt", b"12345")
    script = (_OPEN + end).replace("{path}", f"{top}/here.txt")
    command = [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", script]
    environment = clean_environment(**server.environment)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")


def test_many_threads_ask_at_the_same_time(fs: Any, top: str) -> None:
    fs.pipe(f"{top}/here.txt", b"12345")
    sizes: list[int] = []
    together = Barrier(8)

    def ask() -> None:
        together.wait(PATIENCE)
        sizes.extend(fs.info(f"{top}/here.txt")["size"] for _ in range(20))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert sizes == [5] * 20 * 8
