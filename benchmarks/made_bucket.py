"""A bucket that is made up: a listing of any length, in a module of its own so that Spark's workers find it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import attrs
from lakebed_spark.pipelines._sources.bucket import CloudFolder, row_of

PER_FOLDER = 10_000
_PAGE = 1000
_WRITTEN = datetime(2026, 11, 1, tzinfo=UTC)


@attrs.frozen
class MadeBucket(CloudFolder):
    """A bucket with `objects` made-up objects that answers without delay."""

    objects: int = 0

    def folders(self, below: str) -> list[str]:
        """A folder for every ten thousand objects."""
        return [] if below else [f"{number:06d}/" for number in range(-(-self.objects // PER_FOLDER))]

    def _pages(self, folder: str, after: str = "") -> Iterator[list[Any]]:
        first = int(after[:6] or 0) * PER_FOLDER
        for start in range(first, self.objects, _PAGE):
            yield [row_of(self._meta(number), "") for number in range(start, min(start + _PAGE, self.objects))]

    def _meta(self, number: int) -> dict[str, Any]:
        key = f"{number // PER_FOLDER:06d}/part-{number:010d}-c000.snappy.parquet"
        tag = f'"{number:08x}5f3a9c0d1e2b4768a1b2c3d4"'
        return {"path": key, "last_modified": _WRITTEN, "size": 1 << 20, "e_tag": tag}
