"""Copies of objects out of a directory that this machine shares with the server."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import sys
from pathlib import Path

from lakebed._direct.shared_directory import SharedDirectory
from lakebed._files import appearing
from lakebed.model import ObjectInfo

_CHUNK = 1 << 20
_MD5 = re.compile(r"[0-9a-f]{32}")
_FICLONE = 0x40049409  # linux/fs.h: share the blocks of another file
_NOT_HERE = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTTY, errno.EPERM)
"""What the kernel answers where it cannot copy between these two files by itself."""


def copy_object(directory: SharedDirectory, info: ObjectInfo, target: Path) -> bool:
    """Copy an object to a file, which appears when it is complete and its checksum is right.

    Returns False where the directory does not hold the object, or holds other bytes: the server has to give it.
    Raises OSError for the target.
    """
    source = directory.open(info.physical_address, info.size)
    if source is None:
        return False
    try:
        with appearing(target) as file:
            if _copied(source, file.fileno(), info) != info.checksum and _MD5.fullmatch(info.checksum):
                raise _OtherBytes
    except _OtherBytes:
        return False
    finally:
        os.close(source)
    return True


class _OtherBytes(Exception):
    pass


def _copied(source: int, target: int, info: ObjectInfo) -> str:
    """Copy a whole file. Returns the MD5 of what was copied."""
    shared = info.size > _CHUNK and (_cloned(source, target) or _copied_by_kernel(source, target, info.size))
    digest, done = hashlib.md5(usedforsecurity=False), 0
    while done < info.size and (block := os.pread(target if shared else source, _CHUNK, done)):
        digest.update(block)
        done += len(block)
        if not shared:
            _write(target, block)
    if done != info.size or os.fstat(source).st_size != info.size:
        raise _OtherBytes
    return digest.hexdigest()


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


def _write(target: int, block: bytes) -> None:
    view = memoryview(block)
    while view:
        view = view[os.write(target, view) :]
