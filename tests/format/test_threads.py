"""The end of a process waits for running threads, not for resting ones, and never for long."""

from __future__ import annotations

import hashlib
import threading
import time

from lakebed_format.threads import PATIENCE, await_threads


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
    await_threads()
    assert ended.is_set()
    before = time.monotonic()
    await_threads()
    assert time.monotonic() - before < 2 * PATIENCE
    rest.set()
    resting.join()
    running.join()
