"""Copies of objects out of a directory that this machine shares with the server."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import sys
from pathlib import Path

from lakebed._direct.shared_directory import SharedDirectory
from lakebed._files import appearing, write_all, write_file
from lakebed.model import ObjectInfo

_CHUNK = 1 << 20
_MD5 = re.compile(r"[0-9a-f]{32}")
_FICLONE = 0x40049409  # linux/fs.h: share the blocks of another file
_NOT_HERE = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTTY, errno.EPERM)
"""What the kernel answers where it cannot copy between these two files by itself."""


def copy_object(directory: SharedDirectory, info: ObjectInfo, target: Path, mtime_ns: int | None = None) -> bool:
    """Copy an object to a file, which appears when it is complete and its checksum is right.

    Makes missing directories. `mtime_ns` is the file's time of change. Returns False where the directory does not
    hold the object, or holds other bytes: the server has to give it. Raises OSError for the target.
    """
    source = directory.open(info.physical_address, info.size)
    if source is None:
        return False
    try:
        if info.size <= _CHUNK:
            write_file(target, _whole(source, info), mtime_ns)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            with appearing(target, mtime_ns) as file:
                _copy(source, file.fileno(), info)
    except _OtherBytes:
        return False
    finally:
        os.close(source)
    return True


class _OtherBytes(Exception):
    pass


def _verify(info: ObjectInfo, size: int, md5: str) -> None:
    if size != info.size or (md5 != info.checksum and _MD5.fullmatch(info.checksum)):
        raise _OtherBytes


def _whole(source: int, info: ObjectInfo) -> bytes:
    data = os.pread(source, info.size + 1, 0)  # one byte more finds a file that is longer
    _verify(info, len(data), hashlib.md5(data, usedforsecurity=False).hexdigest())
    return data


def _copy(source: int, target: int, info: ObjectInfo) -> None:
    """Copy a large file."""
    is_shared = _cloned(source, target) or _copied_by_kernel(source, target, info.size)
    digest, done = hashlib.md5(usedforsecurity=False), 0
    while done < info.size and (block := os.pread(target if is_shared else source, _CHUNK, done)):
        digest.update(block)
        done += len(block)
        if not is_shared:
            write_all(target, block)
    if os.fstat(source).st_size != info.size:
        raise _OtherBytes
    _verify(info, done, digest.hexdigest())


def _cloned(source: int, target: int) -> bool:
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError as error:
        if error.errno in _NOT_HERE:
            return False
        raise
    return True


def _copied_by_kernel(source: int, target: int, size: int) -> bool:
    if not hasattr(os, "copy_file_range"):
        return False
    done = 0
    while done < size:
        try:
            count = os.copy_file_range(source, target, size - done, done, done)
        except OSError as error:
            if done == 0 and error.errno in _NOT_HERE:
                return False
            raise
        if count == 0:
            return done > 0  # the file is shorter than it was, which the caller sees
        done += count
    return True
