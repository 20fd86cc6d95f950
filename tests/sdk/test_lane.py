"""The sockets of the short way: closed when nobody has the lane any more, wherever that comes about.

In processes of their own, which turn warnings into errors: Python says of each socket that it closed it itself.
"""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from threading import Barrier, Thread

import lakebed_testing
import pytest
from lakebed._gateway.operations import objects
from lakebed._http.thread_client import _KEPT, Lane, Lanes
from lakebed._settings import config

from tests.sdk.forks import in_a_fork
from tests.support.server import clean_environment
from tests.support.steady import steady
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

_OPEN = """
import gc, os, weakref
from lakebed._settings import config
from lakebed._gateway.operations import objects
from lakebed._http.thread_client import Lane, Lanes

question = objects.stat("repo", "main", "here.txt")
lane = Lane(config.resolve(None, None, None))
assert lane.call(question).size == 5
[(_, connection)] = lane._idle
"""

_IN_A_CYCLE = """
cycle = [lane]
cycle.append(cycle)
socket, gone = connection._socket, weakref.ref(lane)
del lane, connection
gc.collect()  # held from here, the socket moves before its lane: so it is finalized first
del cycle, socket
gc.collect()
assert gone() is None
"""

_IN_A_CHILD = """
del connection
child = os.fork()
del lane
gc.collect()
if child:
    _, status = os.waitpid(child, 0)
    assert not status
"""

_TO_THE_END = "keep = [lane]; keep.append(keep)"


@pytest.fixture(scope="module")
def server() -> Iterator[lakebed_testing.LakebedServer]:
    with lakebed_testing.server() as started:
        with started.connect() as lake:
            lake.repository("repo").create("mem://repo").branch("main").put("here.txt", b"12345")
        yield started


@pytest.fixture
def settings(server: lakebed_testing.LakebedServer) -> config.Settings:
    return config.resolve(server.endpoint, server.access_key_id, server.secret_access_key)


@pytest.mark.parametrize("end", [_IN_A_CYCLE, _IN_A_CHILD, _TO_THE_END], ids=["cycle", "fork", "exit"])
def test_no_socket_is_left_to_python(server: lakebed_testing.LakebedServer, end: str) -> None:
    command = [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", _OPEN + end]
    environment = clean_environment(**server.environment)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")


@steady()  # the lane keeps what is idle for 3 s
def test_a_child_has_its_own_and_the_parents_goes_on(settings: config.Settings) -> None:
    lanes = Lanes(settings)
    question = objects.stat("repo", "main", "here.txt")
    assert lanes.get().call(question).size == 5
    [(_, connection)] = lanes.get()._idle
    before = connection._socket.getsockname()

    def in_child() -> tuple[int, bool]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            size = lanes.get().call(question).size
            gc.collect()
            [(_, own)] = lanes.get()._idle
            return size, own._socket.getsockname() == before

    assert in_a_fork(in_child) == (5, False)
    assert lanes.get().call(question).size == 5
    assert [kept for _, kept in lanes.get()._idle] == [connection]
    lanes.close()
    assert connection._socket.fileno() == -1


def test_threads_share_what_is_idle(settings: config.Settings) -> None:
    lane = Lane(settings)
    question = objects.stat("repo", "main", "here.txt")
    sizes: list[int] = []
    together = Barrier(_KEPT // 2)

    def ask() -> None:
        together.wait(PATIENCE)
        sizes.extend(lane.call(question).size for _ in range(20))

    threads = [Thread(target=ask) for _ in range(_KEPT // 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert sizes == [5] * 20 * len(threads)
    assert 1 <= len(lane._idle) <= len(threads), "a connection that nobody uses is used again"
    lane.close()
    assert not lane._idle


def test_it_stays_in_its_process(settings: config.Settings) -> None:
    with pytest.raises(TypeError, match="another process makes its own"):
        pickle.dumps(Lane(settings))
