"""Open files: how many the system allows, and how many of them connections may use."""

from __future__ import annotations

import logging
import sys
from typing import Final

log = logging.getLogger("lakebed.server")

_RESERVED: Final = 64
"""Descriptors reserved for the stores, the log and the listeners."""

_FEW: Final = 4096
"""The server warns when the limit is below this number."""


def raise_limit() -> None:
    """Raise the limit of open files as far as this account may."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError):  # macOS reports no limit, but refuses to set that
            pass


def connections(wanted: int) -> int:
    """The number of connections: `wanted`, or fewer if they would leave no room for files. Warns then."""
    if sys.platform == "win32":
        return wanted
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return wanted
    # each may need a second descriptor, for the file or the store that its request reads
    allowed = max(1, (limit - _RESERVED) // 2)
    if allowed < wanted and limit < _FEW:
        log.warning(
            "the limit of open files is %d: the server takes at most %d connections, not limits.connections (%d); "
            "raise it (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of Docker)",
            limit,
            allowed,
            wanted,
        )
    return min(wanted, allowed)
