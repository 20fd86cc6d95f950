"""Tables: read, write and compare them."""

from typing import TYPE_CHECKING

from lakebed._lazy import submodules

if TYPE_CHECKING:
    from lakebed._async.tables import diff, read, scan, upload, write

__all__ = ["diff", "read", "scan", "upload", "write"]

__getattr__ = submodules(__name__)
