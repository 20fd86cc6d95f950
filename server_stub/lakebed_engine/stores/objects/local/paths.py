"""File operations of `local://` that follow no symbolic link, at any depth.

Other accounts may write into the directory of a workspace, and the server must not follow a link there. Each function
takes an absolute path without `..`. A link anywhere in it is an error, ELOOP or ENOTDIR. The directory of a name is
opened first and stays open, so a link that is swapped in later has no effect.

Linux does this in one call, `openat2` with RESOLVE_NO_SYMLINKS, which Python lacks. If the kernel or a sandbox does not
have this call, the path is opened one directory at a time with O_NOFOLLOW.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import itertools
import operator
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

_OPENAT2: Final = 437
"""The number of the system call. It is the same on every architecture that Python supports."""

_AT_FDCWD: Final = -100
_RESOLVE_NO_SYMLINKS: Final = 0x04
_PATH_ONLY: Final = getattr(os, "O_PATH", os.O_RDONLY)
_DIRECTORY: Final = _PATH_ONLY | os.O_DIRECTORY | os.O_CLOEXEC

UNREACHED: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP})
"""The errors of a path that does not exist, or that leads through a file or a link."""

Opener = Callable[[bytes, int, int], int]


class _How(ctypes.Structure):
    """struct open_how."""

    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


@functools.cache
def _how(flags: int, mode: int) -> _How:
    return _How(flags, mode if flags & os.O_CREAT else 0, _RESOLVE_NO_SYMLINKS)


def openat2() -> Opener | None:
    """An `open` that refuses every link in the path, by one system call. None if the system lacks the call."""
    if sys.platform != "linux":
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_How), ctypes.c_size_t]

    def open_directly(path: bytes, flags: int, mode: int) -> int:
        if b"\0" in path:
            raise ValueError("embedded null byte")
        how = _how(flags | os.O_CLOEXEC, mode)
        while True:
            fd = int(call(_OPENAT2, _AT_FDCWD, path, how, ctypes.sizeof(_How)))
            if fd >= 0:
                return fd
            code = ctypes.get_errno()
            if code != errno.EINTR:
                raise OSError(code, os.strerror(code), path)

    try:
        os.close(open_directly(b"/", _DIRECTORY, 0))
    except OSError:  # an old kernel, or a sandbox without this call
        return None
    return open_directly


def open_stepwise(path: bytes, flags: int, mode: int) -> int:
    """Like `openat2`, but opens one directory at a time."""
    *directories, name = path.split(b"/")[1:]
    here = os.open(b"/", _DIRECTORY)
    try:
        for directory in directories:
            above, here = here, os.open(directory, _DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(above)
        return os.open(name or b".", flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=here)
    finally:
        os.close(here)


_open: Opener = openat2() or open_stepwise


def open_file(path: bytes, flags: int, mode: int = 0o666) -> int:
    """Like `os.open`."""
    return _open(path, flags, mode)


def look(path: bytes) -> os.stat_result | None:
    """Like `os.lstat`. None if the path does not exist, or leads through a file or a link."""
    directory, _, name = path.rpartition(b"/")
    try:
        if _PATH_ONLY:  # the file itself, or the link, without opening it for reading
            fd = _open(path, _PATH_ONLY | os.O_NOFOLLOW, 0)
            try:
                return os.fstat(fd)
            finally:
                os.close(fd)
        fd = _open(directory or b"/", _DIRECTORY, 0)
        try:
            return _look_in(fd, name or b".")
        finally:
            os.close(fd)
    except OSError as error:
        if error.errno in UNREACHED:
            return None
        raise


def look_all(places: Sequence[tuple[bytes, bytes]]) -> list[os.stat_result | None]:
    """Call `look` for many names. A directory is opened once for consecutive names in it."""
    found: list[os.stat_result | None] = []
    for directory, group in itertools.groupby(places, operator.itemgetter(0)):
        try:
            fd = _open(directory, _DIRECTORY, 0)
        except OSError as error:
            if error.errno not in UNREACHED:
                raise
            found += [None for _ in group]
            continue
        try:
            found += [_look_in(fd, name) for _, name in group]
        finally:
            os.close(fd)
    return found


def _look_in(directory: int, name: bytes) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError as error:
        if error.errno in UNREACHED:
            return None
        raise


def names(directory: bytes) -> list[tuple[bytes, bool]]:
    """The names in a directory, and whether each is a directory. Empty if `look` would return None."""
    try:
        fd = _open(directory, os.O_RDONLY | os.O_DIRECTORY, 0)
    except OSError as error:
        if error.errno in UNREACHED:
            return []
        raise
    try:
        with os.scandir(fd) as entries:
            return [(os.fsencode(entry.name), entry.is_dir(follow_symlinks=False)) for entry in entries]
    finally:
        os.close(fd)


def mkdir(path: bytes) -> None:
    """Like `os.mkdir`."""
    directory, name = _split(path)
    try:
        os.mkdir(name, dir_fd=directory)
    finally:
        os.close(directory)


def unlink(path: bytes) -> None:
    """Like `os.unlink`."""
    directory, name = _split(path)
    try:
        os.unlink(name, dir_fd=directory)
    finally:
        os.close(directory)


def rename(source: bytes, target: bytes) -> None:
    """Like `os.rename`."""
    old, name = _split(source)
    try:
        new, new_name = _split(target)
        try:
            os.rename(name, new_name, src_dir_fd=old, dst_dir_fd=new)
        finally:
            os.close(new)
    finally:
        os.close(old)


def link(source: bytes, target: bytes) -> None:
    """Like `os.link`, for the file itself."""
    old, name = _split(source)
    try:
        new, new_name = _split(target)
        try:
            os.link(name, new_name, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
        finally:
            os.close(new)
    finally:
        os.close(old)


def _split(path: bytes) -> tuple[int, bytes]:
    """A descriptor of the directory, and the name in it."""
    directory, _, name = path.rpartition(b"/")
    return _open(directory or b"/", _DIRECTORY, 0), name
