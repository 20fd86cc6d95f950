"""Many files synced by one call: what it answers, with the kernel's help and without."""

from __future__ import annotations

import errno
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.stores.objects.local import async_io

linux = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="the kernel has no such call"
)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[list[int]]:
    opened = [os.open(tmp_path / str(number), os.O_CREAT | os.O_WRONLY) for number in range(150)]
    for fd in opened:
        os.write(fd, b"x" * 100)
    yield opened
    for fd in opened:
        os.close(fd)


@pytest.fixture(params=["kernel", "loop"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the kernel's queue, and as on a system that has none."""
    monkeypatch.setattr(async_io, "_idle", [])
    if request.param == "loop":
        monkeypatch.setattr(async_io, "_NUMBERS", {})


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("count", [0, 1, 64, 150])
def test_every_file_has_an_answer(files: list[int], count: int) -> None:
    assert async_io.fsync_all(files[:count]) == [None] * count


@pytest.mark.usefixtures("way")
def test_what_cannot_be_synced_is_told_of_that_one(files: list[int], tmp_path: Path) -> None:
    reader, writer = os.pipe()  # a pipe takes no fsync
    closed = os.open(tmp_path / "closed", os.O_CREAT | os.O_WRONLY)
    os.close(closed)
    try:
        asked = [files[0], writer, files[1], closed, files[2]]
        answers = [None if error is None else error.errno for error in async_io.fsync_all(asked)]
    finally:
        os.close(reader)
        os.close(writer)
    assert answers == [None, errno.EINVAL, None, errno.EBADF, None]


@linux
def test_the_kernel_is_asked_once_for_all(files: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(async_io, "_idle", [])
    async_io.fsync_all(files[:2])
    [queue] = async_io._idle
    assert queue.sync(files[:5]) == [0] * 5
    async_io.fsync_all(files)
    assert async_io._idle == [queue]


class _Answering(async_io._Queue):
    """The kernel takes every file, and answers in another order: the last one first, and that with an I/O error."""

    def __init__(self, *, lost: bool) -> None:
        super().__init__()
        self._lost = lost

    def _ask(self, *arguments: Any) -> int:
        if arguments[0] == self._submit:
            return int(arguments[2].value)
        if arguments[0] == self._events:
            if self._lost:
                raise OSError(errno.EINVAL, "Invalid argument")
            count = int(arguments[3].value)
            for place in range(count):
                arguments[4][place].data = count - 1 - place
                arguments[4][place].result[0] = 0 if place else -errno.EIO
            return count
        return super()._ask(*arguments)


@linux
def test_an_answer_is_told_of_the_file_that_it_is_for(files: list[int]) -> None:
    assert _Answering(lost=False).sync(files[:3]) == [0, 0, errno.EIO]


@linux
def test_files_without_an_answer_are_not_on_disk(files: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked again, the kernel might say no error: it tells one once."""
    queue = _Answering(lost=True)
    monkeypatch.setattr(async_io, "_idle", [queue])
    answers = async_io.fsync_all(files[:2])
    assert [None if error is None else error.errno for error in answers] == [errno.EIO, errno.EIO]
    assert async_io._idle == []


def test_a_queue_that_takes_nothing_is_kept_and_the_files_are_synced_one_by_one(
    files: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing(async_io._Queue):
        def __init__(self) -> None:
            self.lost = False

        def sync(self, fds: Sequence[int]) -> list[int]:
            raise OSError(errno.EAGAIN, "all taken")

    queue = Refusing()
    synced: list[int] = []
    monkeypatch.setattr(async_io, "_idle", [queue])
    monkeypatch.setattr(os, "fsync", synced.append)
    assert async_io.fsync_all(files[:3]) == [None] * 3
    assert synced == files[:3]
    assert async_io._idle == [queue], "each refusal would leave a queue in the kernel"


def test_a_forked_child_has_a_queue_of_its_own(files: list[int]) -> None:
    async_io.fsync_all(files[:2])
    child = os.fork()
    if not child:
        fine = not async_io._idle and async_io.fsync_all(files[:3]) == [None] * 3
        os._exit(0 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
