# Generated from sdk/lakebed/_async/objects/archive.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Writes a folder of a commit as one archive. The server makes it, and breaks off when it cannot read an object."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import IO, Any

from lakebed._compat.sync import run_in_thread
from lakebed._files import appearing
from lakebed._gateway.operations import objects
from lakebed._http.retry import Failed
from lakebed._sync.http.target import Target


def save_archive(target: Target, prefix: str, format: str, to: str | os.PathLike[str] | IO[bytes]) -> int:
    """Write the archive to a path, which appears when it is complete, or into a file. Returns its size in bytes."""
    if hasattr(to, "write"):
        return _write(target, prefix, format, to)
    final = Path(to)
    if run_in_thread(final.is_dir):  # raise before the transfer begins
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(final))
    with appearing(final) as file:
        return _write(target, prefix, format, file)


def _write(target: Target, prefix: str, format: str, file: Any) -> int:
    written = 0
    try:
        with target.transport.stream(objects.archive(target.repository, target.ref, prefix, format)) as opened:
            for chunk in opened[1]:
                run_in_thread(file.write, chunk)
                written += len(chunk)
    except Failed as failure:  # an archive cannot continue in the middle
        raise failure.error from None
    return written
