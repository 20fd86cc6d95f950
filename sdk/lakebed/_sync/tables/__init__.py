# Generated from sdk/lakebed/_async/tables/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Tables: read, write and compare them."""

from typing import TYPE_CHECKING

from lakebed._lazy import submodules

if TYPE_CHECKING:
    from lakebed._sync.tables import diff, read, scan, upload, write

__all__ = ["diff", "read", "scan", "upload", "write"]

__getattr__ = submodules(__name__)
