"""Recognises a full disk of this machine."""

from __future__ import annotations

import errno
from typing import TypeGuard

from lakebed.errors import LakebedError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
"""EROFS too: a file system that met an error is read-only from then on, and the remedy is the same, another place."""


def is_full(error: BaseException) -> TypeGuard[OSError]:
    """Whether a disk of this machine has no room or is read-only. Errors of the SDK do not count: they may be about the
    server's disk.
    """
    return isinstance(error, OSError) and error.errno in _FULL and not isinstance(error, LakebedError)
