"""A process that has imported everything and does nothing: it forks one child for each operation to be killed.

Starting Python costs a second, a fork some milliseconds, and only a process without threads may fork. It reads one job
a line and answers each with one line, both JSON.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import msgspec

from tests.crash.scenarios import KILLED, SCENARIOS, Place, opened
from tests.crash.store_calls import Doom
from tests.support.waiting import PATIENCE


class Job(msgspec.Struct, frozen=True):
    """Do scenario `name` in the lake at `directory` (and `dsn`), and die at store call `number`."""

    name: str
    directory: str
    dsn: str
    number: int
    after: bool


class End(msgspec.Struct, frozen=True):
    """How a child ended: minus the signal that killed it, or its exit code; and the call at which it was killed."""

    code: int
    call: str


class Zygote:
    """The process, as the tests see it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def kill_at(self, place: Place, name: str, number: int, *, after: bool) -> str:
        """Do it in a child that dies before or after store call `number`: which call that was, "" for none."""
        job = Job(name, str(place.directory), place.dsn, number, after)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(job) + b"\n")
        self._process.stdin.flush()
        end = msgspec.json.decode(self._process.stdout.readline(), type=End)
        assert end.code in (0, -signal.SIGKILL), f"{job} ended with {end.code}; what it said stands on stderr"
        assert (end.code == 0) == (end.call == ""), f"{job}: {end}"
        return end.call


@contextmanager
def running_zygote() -> Iterator[Zygote]:
    """A zygote that waits for jobs and ends with the block."""
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.zygote"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root
    )
    try:
        yield Zygote(process)
    finally:
        process.communicate()  # the end of its input ends it
        assert process.returncode == 0


def _main() -> None:
    for line in sys.stdin.buffer:
        job = msgspec.json.decode(line, type=Job)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            _live(job, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as said:
            call = said.read().decode()
        _, status = os.waitpid(child, 0)
        sys.stdout.buffer.write(msgspec.json.encode(End(os.waitstatus_to_exitcode(status), call)) + b"\n")
        sys.stdout.buffer.flush()


def _live(job: Job, say: int) -> NoReturn:
    """The child's whole life."""
    signal.alarm(int(PATIENCE))  # which is not the signal that is waited for
    code = 1
    try:
        doom = Doom(job.number, after=job.after, say=lambda call: _say(say, call))
        asyncio.run(_act(job, doom))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _say(pipe: int, text: str) -> None:
    os.write(pipe, text.encode())


async def _act(job: Job, doom: Doom) -> None:
    scenario = SCENARIOS[job.name]
    place = Place(Path(job.directory), job.dsn)
    async with opened(place, KILLED, doom, snapshots=scenario.snapshots, limits=scenario.limits) as engine:
        await scenario.act(engine)


if __name__ == "__main__":
    _main()
