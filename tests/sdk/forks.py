"""Run a function in a forked process."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from tests.support.waiting import PATIENCE

FORK = multiprocessing.get_context("fork")


def in_a_fork(job: Callable[[], Any]) -> Any:
    """What a job returns, or the repr of what it raises, in a forked child."""
    here, there = FORK.Pipe(duplex=False)

    def run(pipe: Connection) -> None:
        try:
            pipe.send(job())
        except BaseException as error:
            pipe.send(repr(error))

    child = FORK.Process(target=run, args=(there,))
    child.start()
    there.close()
    try:
        assert here.poll(PATIENCE), "the child hangs"
        return here.recv()
    finally:
        child.join(0.1)
        child.kill()  # only a hanging child still runs
        child.join()
        here.close()
