"""Directory marks: the empty objects `orders/` that S3 tools write to make a folder. Commits leave them out.

A mark is an entry of 0 bytes whose path ends in a slash and whose type is `application/x-directory`, as S3A and
pyarrow write it. Until the commit it is a normal object, because these tools request the folder that they have just
created. After the commit, the folder exists as long as it contains an object. Some readers, such as s3fs, read a mark
as a file and fail.

    orders/                0 bytes  application/x-directory    a mark
    orders/part-0.parquet  912      application/octet-stream   no mark: kept
    orders/                0        text/plain                 no mark: kept
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pyarrow as pa
import pyarrow.compute as pc

from lakebed_engine.operations.context import Context

_TYPE = "application/x-directory"


class WithoutMarks:
    """Passes on the rows of a commit without its directory marks. `dropped` counts the marks."""

    def __init__(self, ctx: Context) -> None:
        self.dropped = 0
        self._keep = ctx.directory_marks

    async def rows(self, tables: AsyncIterator[pa.Table]) -> AsyncIterator[pa.Table]:
        """Tables of DELTA_SCHEMA. Deletions of marks pass: an older commit may hold the mark."""
        async for table in tables:
            rest = table if self._keep else _without(table)
            self.dropped += table.num_rows - rest.num_rows
            if rest.num_rows:
                yield rest


def _without(table: pa.Table) -> pa.Table:
    folders = pc.ends_with(table["path"], "/")
    if not pc.any(folders).as_py():
        return table
    typed = pc.starts_with(table["content_type"], _TYPE)
    marks = pc.and_(pc.and_(folders, pc.equal(table["size_bytes"], 0)), pc.and_(typed, pc.invert(table["deleted"])))
    return table.filter(pc.invert(marks))
