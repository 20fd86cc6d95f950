"""Checks metaranges and ranges. Each is read once, although many commits share it."""

from __future__ import annotations

from lakebed_format.decoding import FormatError
from lakebed_format.keys import RANGES, metarange_file

from lakebed_engine.operations.fsck.row_checks import Looked, LookedTree, look_at_metarange, look_at_range
from lakebed_engine.operations.fsck.scratch_db import Bad
from lakebed_engine.operations.fsck.session import Job


async def check_metaranges(job: Job) -> None:
    """Check every metarange that a commit names, with the patch inside it. Records its ranges in the scratch."""
    for page in job.scratch.metaranges():
        await job.each(page, lambda one: _check_metarange(job, one))
        job.count("metaranges", len(page))
    job.report("metarange")


async def _check_metarange(job: Job, found_id: str) -> None:
    name = metarange_file(found_id)
    try:
        data = await job.read(name)
    except FormatError as error:
        looked = LookedTree([str(error)], [], readable=False)
    else:
        if data is None:
            job.bad(Bad("missing", "metarange", name, "not in the bucket", id=found_id))
            job.trees_known = job.rows_known = False
            return
        looked = await job.ctx.runtime.cpu(look_at_metarange, data, found_id, job.options.data)
    job.scratch.add_ranges(looked.files)
    if looked.inline_patch is not None:
        job.count("rows", looked.inline_patch.rows)
        job.scratch.add_objects(looked.inline_patch.objects)
    if looked.complaints:
        job.bad(Bad("corrupt", "metarange", name, "; ".join(looked.complaints), id=found_id))
    if not looked.readable:
        job.trees_known = job.rows_known = False


async def check_ranges(job: Job) -> None:
    """Read and check every range that a metarange names."""
    for page in job.scratch.ranges():
        await job.each(page, lambda one: _check_range(job, one))
        job.count("ranges", len(page))
    bad = job.scratch.bad_ids("range")
    if bad:
        await find_uses(job, bad)
    job.report("range")


async def _check_range(job: Job, found_id: str) -> None:
    name = f"{RANGES}{found_id}.parquet"
    try:
        data = await job.read(name)
    except FormatError as error:
        looked = Looked([str(error)], readable=False)
    else:
        if data is None:
            job.bad(Bad("missing", "range", name, "not in the bucket", id=found_id))
            job.rows_known = False
            return
        said = job.scratch.said_of(found_id)
        looked = await job.ctx.runtime.cpu(look_at_range, data, found_id, said, job.options.data)
    job.count("rows", looked.rows)
    job.scratch.add_objects(looked.objects)
    if looked.complaints:
        job.bad(Bad("corrupt", "range", name, "; ".join(looked.complaints), id=found_id))
    job.rows_known &= looked.readable


async def find_uses(job: Job, ranges: set[str]) -> None:
    """Record which metaranges name these ranges. It reads them again, because most checks need no uses."""

    async def look(metarange: str) -> None:
        data = await job.read_again(metarange_file(metarange))
        if data is not None:
            looked = await job.ctx.runtime.cpu(look_at_metarange, data, metarange)
            job.scratch.add_range_uses([info[0] for info in looked.infos if info[0] in ranges], metarange)

    for page in job.scratch.metaranges():
        await job.each(page, look)
