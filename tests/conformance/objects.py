"""What the tests of object stores share."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import lakebed_engine
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.local import syscalls
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.local.syscalls import SystemCalls
from lakebed_engine.vocabulary.streams import CHUNK

T = TypeVar("T")


MIB = 1 << 20


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


async def keys(store: ObjectStore, prefix: str = "", start_after: str = "") -> list[str]:
    return [blob.key async for blob in store.list(prefix, start_after)]


async def partial(store: ObjectStore) -> list[str]:
    return [blob.key async for blob in store.list_partial()]


async def read(store: ObjectStore, key: str, start: int = 0, length: int | None = None) -> bytes:
    async with store.open(key, start, length) as chunks:
        parts = [chunk async for chunk in chunks]
    assert all(0 < len(part) <= CHUNK for part in parts)
    return b"".join(parts)


async def cut(data: bytes, size: int) -> AsyncIterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


class Recorder(SystemCalls):
    """The calls in order, as (call, path); optionally one of them fails."""

    def __init__(self, fail: str = "", error: int = 0) -> None:
        self.log: list[tuple[str, str]] = []
        self._paths: dict[int, str] = {}
        self._fail, self._error = fail, error
        for name in ("write", "writev", "fsync", "fdatasync"):
            setattr(self, name, self._on_fd(name, getattr(os, name)))
        for name in ("rename", "link", "unlink", "mkdir"):
            setattr(self, name, self._on_path(name, getattr(SystemCalls, name)))
        setattr(self, "open", self._open)  # noqa: B010 - the true one is a static method
        setattr(self, "fsync_all", self._fsync_all)  # noqa: B010

    def _fsync_all(self, fds: Sequence[int]) -> list[OSError | None]:
        answers = syscalls.fsync_all(fds)
        self.log += [("fsync", self._paths[fd]) for fd in fds]
        return answers

    def _note(self, name: str, path: str) -> None:
        self.log.append((name, path))
        if name == self._fail:
            raise OSError(self._error, os.strerror(self._error))

    def _open(self, path: bytes, flags: int, mode: int = 0o777) -> int:
        fd = SystemCalls.open(path, flags, mode)
        self._paths[fd] = os.fsdecode(path)
        return fd

    def _on_fd(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(fd: int, *args: Any) -> Any:
            self._note(name, self._paths[fd])
            return call(fd, *args)

        return recorded

    def _on_path(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*paths: bytes) -> Any:
            self._note(name, os.fsdecode(paths[-1]))
            return call(*paths)

        return recorded


async def setup_root(root: Path) -> None:
    local = LocalObjects(root, "local://t")
    await local.put("kept", b"old")
    local.close()


@contextmanager
def directory() -> Iterator[Path]:
    """A temporary directory. Not pytest's: removing 1,024 levels of directories exceeds shutil.rmtree's recursion."""
    path = tempfile.mkdtemp()
    try:
        yield Path(path)
    finally:
        try:
            shutil.rmtree(path)
        except RecursionError:
            subprocess.run(["rm", "-rf", path], check=True)


MORE = os.environ.get("LAKEBED_TEST_NAMESPACES", "").split()
"""Other cloud stores to run the suite on, for example `az://container`; docs/stores.md says how."""


ADAPTERS = ["memory", "local", "seaweedfs", "moto", "azurite", *MORE]


class NoSync(SystemCalls):
    """Where durability is not the question, the disk is not asked."""

    fsync = staticmethod(lambda fd: None)

    @staticmethod
    def fsync_all(fds: Sequence[int]) -> list[OSError | None]:
        return [None for _ in fds]


CHILD_HEAD = """
    import asyncio, os, resource, sys
    from pathlib import Path
    from lakebed_engine.stores.objects.local.store import LocalObjects
    from lakebed_engine.vocabulary.errors import StoreFullError
    store = LocalObjects(Path(sys.argv[1]), "local://t")
"""


def child(root: Path, code: str) -> subprocess.Popen[str]:
    source = textwrap.dedent(CHILD_HEAD) + textwrap.dedent(code)
    path = os.path.dirname(next(iter(lakebed_engine.__path__)))
    return subprocess.Popen(
        [sys.executable, "-c", source, str(root)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
