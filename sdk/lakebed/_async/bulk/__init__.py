"""Many objects: bulk transfers, checkouts and ingest."""

from typing import TYPE_CHECKING

from lakebed._lazy import submodules

if TYPE_CHECKING:
    from lakebed._async.bulk import download, ingest, ranges, upload

__all__ = ["download", "ingest", "ranges", "upload"]

__getattr__ = submodules(__name__)
