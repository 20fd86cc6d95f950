"""A VFS that records what SQLite does to its files: writes, sizes, syncs, and the syncs of their directory.

The shared memory of the WAL goes past it. SQLite syncs a directory inside of its own VFS: it opens the directory by a
call that a VFS may replace, then syncs it. So that call is where the sync of a directory is noted.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from tests.power.recording.recorder import Recorder

_NAME = "recorded"
_OPEN_DIRECTORY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int))


@contextmanager
def recorded_sqlite(recorder: Recorder) -> Iterator[None]:
    """Let every connection that is opened inside the block use the VFS, unless it names another."""
    vfs = _Vfs(recorder)
    true = vfs.xGetSystemCall("openDirectory")
    assert true is not None
    open_directory = _OPEN_DIRECTORY(true)

    def seen(name: bytes, descriptor: object) -> int:
        with recorder.syncing(os.path.dirname(os.fsdecode(name))):
            return int(open_directory(name, descriptor))

    callback = _OPEN_DIRECTORY(seen)
    assert vfs.xSetSystemCall("openDirectory", ctypes.cast(callback, ctypes.c_void_p).value or 0)
    try:
        yield
    finally:
        vfs.xSetSystemCall("openDirectory", 0)
        vfs.unregister()


class _Vfs(apsw.VFS):
    def __init__(self, recorder: Recorder) -> None:
        super().__init__(_NAME, "unix", makedefault=True)
        self._recorder = recorder

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        with self._recorder.lock:
            file = _File(self._recorder, path, name, flags)
            if flags[0] & apsw.SQLITE_OPEN_CREATE:
                self._recorder.made(path)
            return file

    def xDelete(self, name: str, syncdir: bool) -> None:
        with self._recorder.lock:
            self._recorder.unlinked(name)  # before: the sync of the directory, which it does itself, covers it
            super().xDelete(name, syncdir)


class _File(apsw.VFSFile):
    def __init__(self, recorder: Recorder, path: str, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._recorder = recorder
        self._path = path

    def xWrite(self, data: bytes, offset: int) -> None:
        with self._recorder.lock:
            super().xWrite(data, offset)
            self._recorder.written(self._path, offset, data)

    def xTruncate(self, newsize: int) -> None:
        with self._recorder.lock:
            super().xTruncate(newsize)
            self._recorder.cut(self._path, newsize)

    def xSync(self, flags: int) -> None:
        with self._recorder.syncing(self._path):
            super().xSync(flags)
