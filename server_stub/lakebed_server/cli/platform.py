"""The systems on which the server and its maintenance commands run."""

from __future__ import annotations

import sys

from lakebed_server.vocabulary import StartError


def check_platform() -> None:
    """Raise StartError on a system without the file locks that the stores need, such as Windows."""
    try:
        import fcntl  # noqa: F401 - only whether it is there
    except ImportError:
        raise StartError(
            f"the Lakebed server runs on Linux and macOS, not on this system ({sys.platform}): use WSL or a container; "
            "the Python package and the other commands work here"
        ) from None
