"""Refuses to replace devices and pipes. The administrator of a machine could replace its /dev/null by a rename."""

from __future__ import annotations

import os
from stat import S_ISDIR, S_ISREG

from lakebed.errors import InvalidRequestError


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
