# Generated from sdk/lakebed/_async/bulk/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Many objects: bulk transfers, checkouts and ingest."""

from typing import TYPE_CHECKING

from lakebed._lazy import submodules

if TYPE_CHECKING:
    from lakebed._sync.bulk import download, ingest, ranges, upload

__all__ = ["download", "ingest", "ranges", "upload"]

__getattr__ = submodules(__name__)
