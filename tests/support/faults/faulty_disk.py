"""A real `lakebed serve` whose disk fails on demand: run as a script, with the command's arguments.

    with faulty_disk(data_dir) as (server, disk), disk.failing(objects=errno.ENOSPC):
        ...                                      # every write of an object's bytes: no space left on device

A test cannot fill a disk, and permissions do not bind root. So the faults are injected at the engine's interfaces
to the disk: `SystemCalls` of `local://`, and a VFS under SQLite. They come and go with a file, while the server runs.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
from lakebed_engine.stores.objects.local import syscalls
from lakebed_engine.stores.objects.local.syscalls import SystemCalls

CONTROL = "TEST_FAULTY_DISK"
"""The variable that names the file with the faults, JSON: `objects` an errno, `kv` a word."""

_CALLS = {
    errno.ENOSPC: ("write", "writev"),
    errno.EIO: ("fsync", "fdatasync"),
    errno.EROFS: ("mkdir", "rename", "link", "unlink", "write", "writev"),
}


class FaultyDisk:
    """Says what fails from now on."""

    def __init__(self, control: Path) -> None:
        self._control = control

    @contextmanager
    def failing(self, **faults: int | str) -> Iterator[None]:
        """`objects`: ENOSPC, EROFS or EIO. `kv`: full, read-only or sync."""
        fresh = self._control.with_suffix(".new")
        fresh.write_text(json.dumps(faults))
        fresh.rename(self._control)
        try:
            yield
        finally:
            self._control.unlink()


def _fault(of: str) -> Any:
    try:
        with open(os.environ[CONTROL]) as file:
            return json.load(file).get(of)
    except FileNotFoundError:
        return None


def _faulty(name: str, true: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        code = _fault("objects")
        makes = name == "open" and arguments[1] & os.O_CREAT and code == errno.EROFS
        if code is not None and (makes or name in _CALLS[code]):
            raise OSError(code, os.strerror(code))
        return true(*arguments)

    return call


def _faulty_fsync_all(fds: Sequence[int]) -> list[OSError | None]:
    code = _fault("objects")
    if code is not None and "fsync" in _CALLS[code]:
        return [OSError(code, os.strerror(code)) for _ in fds]
    return syscalls.fsync_all(fds)


class _Vfs(apsw.VFS):
    def __init__(self) -> None:
        super().__init__("faulty", "unix", makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _File("unix", name, flags)


class _File(apsw.VFSFile):
    def xWrite(self, data: bytes, offset: int) -> None:
        match _fault("kv"):
            case "full":
                raise apsw.FullError("database or disk is full")
            case "read-only":
                raise apsw.ReadOnlyError("attempt to write a readonly database")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if _fault("kv") == "sync":
            raise apsw.IOError("disk I/O error")
        super().xSync(flags)


def _main() -> None:
    from lakebed.cli.main import main

    for name in ("open", "write", "writev", "fsync", "fdatasync", "mkdir", "rename", "link", "unlink"):
        setattr(SystemCalls, name, staticmethod(_faulty(name, getattr(SystemCalls, name))))
    SystemCalls.fsync_all = staticmethod(_faulty_fsync_all)
    vfs = _Vfs()
    try:
        main()
    finally:
        vfs.unregister()


if __name__ == "__main__":
    _main()
