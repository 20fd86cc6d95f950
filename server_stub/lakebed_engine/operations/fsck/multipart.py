"""Uploads in parts: what they have written is named by their rows, not by entries."""

from __future__ import annotations

from lakebed_engine.operations.context import BAD_ROW
from lakebed_engine.operations.fsck.refs_and_commits import PAGE
from lakebed_engine.operations.fsck.scratch_db import Bad
from lakebed_engine.operations.fsck.session import Job
from lakebed_engine.operations.keys import ENDED, UPLOADS, under
from lakebed_engine.operations.multipart.records import decode_ended, decode_upload
from lakebed_engine.stores.kv.base import scan_pages
from lakebed_engine.stores.objects.multipart_objects import folder_of


async def read_uploads(job: Job) -> None:
    """What open uploads have written, and the parts that the cleaner is to remove of others, are no orphans."""
    for kind in (UPLOADS, ENDED):
        async for rows in scan_pages(job.ctx.kv, job.repo.partition, *under(kind), size=PAGE):
            for row in rows:
                try:
                    upload = decode_upload(row.value) if kind == UPLOADS else decode_ended(row.value).upload
                except BAD_ROW as error:
                    job.problem(Bad("corrupt", "upload record", repr(row.key), f"cannot be read: {error}"), ())
                    job.rows_known = job.uploads_known = False
                    continue
                job.ledger.add_file(folder_of(upload.address))
                if kind == UPLOADS:
                    job.ledger.add_file(upload.address)
            if kind == UPLOADS:
                job.count("open uploads", len(rows))
