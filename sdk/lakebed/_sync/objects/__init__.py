# Generated from sdk/lakebed/_async/objects/__init__.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Objects: download and upload, through the server or past it."""

from typing import TYPE_CHECKING

from lakebed._lazy import submodules

if TYPE_CHECKING:
    from lakebed._sync.objects import batch, download, read_many, shared_directory, upload

__all__ = ["batch", "download", "read_many", "shared_directory", "upload"]

__getattr__ = submodules(__name__)
