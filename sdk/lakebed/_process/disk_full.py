"""What a disk of this machine says that is full."""

from __future__ import annotations

import errno
from typing import TypeGuard

from lakebed.errors import LakebedError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
"""EROFS too: a file system that met an error is read-only from then on, and what helps is the same, another place."""


def is_full(error: BaseException) -> TypeGuard[OSError]:
    """Whether a disk here has no room, or takes no writes. An error of ours is none: it may tell of the server's."""
    return isinstance(error, OSError) and error.errno in _FULL and not isinstance(error, LakebedError)
