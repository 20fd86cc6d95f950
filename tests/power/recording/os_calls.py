"""The system calls of Python and of `local://`. Each does its usual work and reports it to the recorder."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from lakebed_engine.stores.objects.local.syscalls import SystemCalls

from tests.power.recording.recorder import Recorder


class _Raw(io.RawIOBase):
    """A file object whose writes are calls of `os.write`, which are seen."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any) -> int:
        return os.write(self._descriptor, data)

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Record what this process does below the recorder's directory."""
    calls = _Calls(recorder)
    with ExitStack() as stack:
        for name, call in calls.of_os().items():
            stack.enter_context(patch.object(os, name, call))
            true = calls.true[name]
            for attribute, value in list(vars(SystemCalls).items()):
                if isinstance(value, staticmethod) and value.__func__ is true:
                    stack.enter_context(patch.object(SystemCalls, attribute, staticmethod(call)))
        stack.enter_context(patch.object(SystemCalls, "open", staticmethod(calls.open_in_store)))
        stack.enter_context(patch.object(os, "fdopen", calls.fdopen))
        stack.enter_context(patch.object(builtins, "open", calls.open_file))
        stack.enter_context(patch.object(io, "open", calls.open_file))
        yield


class _Calls:
    """The functions of `os`, each of which does what it did and notes it."""

    def __init__(self, recorder: Recorder) -> None:
        self._to = recorder
        self.true: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in self.of_os()}
        self._open_in_store = SystemCalls.open
        self._fdopen = os.fdopen
        self._open_file = builtins.open

    def of_os(self) -> dict[str, Callable[..., Any]]:
        """The functions by their names in `os`."""
        return {
            "open": self.open,
            "write": self.write,
            "writev": self.writev,
            "pwrite": self.pwrite,
            "copy_file_range": self.copy_file_range,
            "truncate": self.truncate,
            "ftruncate": self.truncate,
            "fsync": self.fsync,
            "fdatasync": self.fdatasync,
            "rename": self.rename,
            "replace": self.rename,
            "link": self.link,
            "unlink": self.unlink,
            "remove": self.unlink,
            "rmdir": self.unlink,
            "mkdir": self.mkdir,
        }

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        with self._to.lock:
            return self._opened(self.true["open"](path, flags, mode, dir_fd=dir_fd), flags)

    def open_in_store(self, path: bytes, flags: int, mode: int = 0o666) -> int:
        """That of `local://`, which is a system call that `os` does not have."""
        with self._to.lock:
            return self._opened(self._open_in_store(path, flags, mode), flags)

    def _opened(self, descriptor: int, flags: int) -> int:
        if flags & os.O_CREAT:
            self._to.made(self._to.path_of(descriptor))
        if flags & os.O_TRUNC:
            self._to.cut(self._to.path_of(descriptor), 0)
        return descriptor

    def write(self, descriptor: int, data: Any) -> int:
        with self._to.lock:
            path = self._path(descriptor)
            if path is None:
                return int(self.true["write"](descriptor, data))
            done = int(self.true["write"](descriptor, data))
            end = os.lseek(descriptor, 0, os.SEEK_CUR)
            self._to.written(path, end - done, bytes(memoryview(data)[:done]))
            return done

    def writev(self, descriptor: int, buffers: Sequence[Any]) -> int:
        return self.write(descriptor, b"".join(buffers))

    def pwrite(self, descriptor: int, data: Any, offset: int) -> int:
        with self._to.lock:
            done = int(self.true["pwrite"](descriptor, data, offset))
            if path := self._path(descriptor):
                self._to.written(path, offset, bytes(memoryview(data)[:done]))
            return done

    def copy_file_range(self, source: int, target: int, count: int, start: int, *more: int) -> int:
        with self._to.lock:
            done = int(self.true["copy_file_range"](source, target, count, start, *more))
            if path := self._path(target):
                self._to.written(path, os.lseek(target, 0, os.SEEK_CUR) - done, os.pread(source, done, start))
            return done

    def truncate(self, path: Any, size: int) -> None:
        with self._to.lock:
            self.true["truncate"](path, size)
            self._to.cut(self._to.path_of(path), size)

    def fsync(self, descriptor: int) -> None:
        with self._to.syncing(self._to.path_of(descriptor)):
            self.true["fsync"](descriptor)

    def fdatasync(self, descriptor: int) -> None:
        with self._to.syncing(self._to.path_of(descriptor)):
            self.true["fdatasync"](descriptor)

    def rename(self, source: Any, target: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        with self._to.lock:
            old, new = self._to.path_of(source, src_dir_fd), self._to.path_of(target, dst_dir_fd)
            self.true["rename"](source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
            self._to.renamed(old, new)

    def link(
        self, source: Any, target: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None, **more: Any
    ) -> None:
        with self._to.lock:
            old, new = self._to.path_of(source, src_dir_fd), self._to.path_of(target, dst_dir_fd)
            self.true["link"](source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, **more)
            self._to.linked(old, new)

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        with self._to.lock:
            name = self._to.path_of(path, dir_fd)
            is_directory = os.path.isdir(name) and not os.path.islink(name)
            self.true["rmdir" if is_directory else "unlink"](path, dir_fd=dir_fd)
            self._to.unlinked(name)

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        with self._to.lock:
            name = self._to.path_of(path, dir_fd)
            self.true["mkdir"](path, mode, dir_fd=dir_fd)
            self._to.made(name, is_directory=True)

    def fdopen(self, descriptor: int, mode: str = "r", *more: Any, **options: Any) -> Any:
        if "r" in mode or self._path(descriptor) is None:
            return self._fdopen(descriptor, mode, *more, **options)
        binary = io.BufferedWriter(_Raw(descriptor))
        return binary if "b" in mode else io.TextIOWrapper(binary, encoding="utf-8")

    def open_file(self, file: Any, mode: str = "r", *more: Any, **options: Any) -> Any:
        is_read = not set(mode) & set("wxa+")
        if is_read or isinstance(file, int) or not self._is_below(os.path.abspath(os.fsdecode(file))):
            return self._open_file(file, mode, *more, **options)
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
        flags |= {"w": os.O_TRUNC, "x": os.O_EXCL, "a": os.O_APPEND}[mode[0]]
        return self.fdopen(os.open(file, flags, 0o666), mode.replace("+", ""))

    def _path(self, descriptor: int) -> str | None:
        try:
            path = self._to.path_of(descriptor)
        except OSError:
            return None
        return path if self._to.number_of(path) is not None else None

    def _is_below(self, path: str) -> bool:
        return path.startswith(self._to.top + "/")
