"""Files of this machine: recognises a full disk, and refuses to replace devices and pipes.

The administrator of a machine could replace its /dev/null by a rename.
"""

from __future__ import annotations

import errno
import os
from stat import S_ISDIR, S_ISREG
from typing import TypeGuard

from lakebed.errors import InvalidRequestError, LakebedError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
"""EROFS too: a file system that met an error is read-only from then on, and the remedy is the same, another place."""


def is_full(error: BaseException) -> TypeGuard[OSError]:
    """Whether a disk of this machine has no room or is read-only. Errors of the SDK do not count: they may be about the
    server's disk.
    """
    return isinstance(error, OSError) and error.errno in _FULL and not isinstance(error, LakebedError)


def refuse_special(path: str | os.PathLike[str], remedy: str) -> None:
    """Raises InvalidRequestError if there is something that is neither a file nor a directory, also behind a link."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    if not (S_ISREG(mode) or S_ISDIR(mode)):
        shown = os.fspath(path)
        raise InvalidRequestError(
            f"cannot write the file {shown}: it is a device or a pipe, which would be replaced; {remedy}"
        )
