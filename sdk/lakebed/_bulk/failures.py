"""What went wrong with single files of a bulk transfer."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence

from lakebed._process.disk_full import is_full
from lakebed.errors import (
    CorruptDataError,
    CorruptTransferError,
    LakebedError,
    ObjectExistsError,
    ObjectFailure,
    ObjectGoneError,
    PartialFailureError,
)
from lakebed.model import ObjectInfo

_OF_ONE = (
    ObjectExistsError,
    ObjectGoneError,
    CorruptDataError,
    CorruptTransferError,
    FileNotFoundError,
    ValueError,
)

Finished = Callable[[str, ObjectInfo | Exception], None]
"""Called from any thread, with each path and its outcome. An exception from it ends the transfer."""


def of_one_file(error: Exception) -> bool:
    """Whether other files can still succeed: not when the server is unreachable, a key is wrong or a disk is full."""
    if isinstance(error, LakebedError):
        return isinstance(error, _OF_ONE)
    if not isinstance(error, OSError) or error.errno == errno.EMFILE:
        return False
    return error.errno == errno.EFBIG or not is_full(error)  # EFBIG: smaller files may fit


def failure(path: str, error: Exception) -> ObjectFailure:
    """Why one file could not be moved."""
    said = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return ObjectFailure(path, getattr(error, "status", None) or 0, said)


def partial_failure(what: str, failures: Sequence[ObjectFailure], of: int) -> PartialFailureError:
    """Some of many failed."""
    first = failures[0]
    error = PartialFailureError(
        f"{len(failures)} of {of} files {what}, the first {first.path!r}: {first.message}; the others are done; "
        "repeat the call to retry these"
    )
    error.failures = tuple(failures)
    return error
