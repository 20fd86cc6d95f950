"""Objects: download and upload, through the server or past it."""

from typing import TYPE_CHECKING

from lakebed._lazy import submodules

if TYPE_CHECKING:
    from lakebed._async.objects import batch, download, read_many, shared_directory, upload

__all__ = ["batch", "download", "read_many", "shared_directory", "upload"]

__getattr__ = submodules(__name__)
