"""Checks the objects that entries name: existence, size, and with `deep` the content.

A listing finds a thousand objects with one request. An object that is not in it is requested separately before it
counts as missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import groupby

from lakebed_format.keys import RANGES, metarange_file

from lakebed_engine.operations.fsck.row_checks import named_in, named_in_tree
from lakebed_engine.operations.fsck.scratch_db import Bad, ObjectRow
from lakebed_engine.operations.fsck.session import Job
from lakebed_engine.operations.fsck.trees import find_uses
from lakebed_engine.vocabulary.errors import BlobNotFound

_MD5 = 32


async def check_objects(job: Job) -> None:
    """Check every named object that the listing did not show. With `deep`, check the content of all."""
    for page in job.scratch.objects(seen=False):
        await job.each(_addresses(page), lambda rows: _look_for(job, rows))
    if job.options.deep:
        for page in job.scratch.objects(seen=True):
            if page[-1].address <= job.pace.after:
                continue
            await job.each(_addresses(page), lambda rows: _read(job, rows))
            if not job.scratch.bad_ids("object"):  # after a finding, a resumed check must read this page again
                await job.pace.passed(page[-1].address)
    bad = job.scratch.bad_ids("object")
    if bad:
        await _find_uses(job, bad)
    job.report("object")


def _addresses(page: list[ObjectRow]) -> Iterator[list[ObjectRow]]:
    for _, rows in groupby(page, key=lambda row: row.address):
        yield list(rows)


def key_of(job: Job, address: str) -> str | None:
    """The key of an object in this namespace. None for an object elsewhere, which is not checked."""
    inside = address.removeprefix(f"{job.repo.store.uri}/")
    return None if "://" in inside else inside


def check_size(job: Job, rows: list[ObjectRow], size: int) -> None:
    """Report entries whose size is not the size of the object."""
    for row in rows:
        if row.size != size:
            detail = f"has {size} bytes, its entry says {row.size}"
            job.bad(Bad("corrupt", "object", row.address, detail, row.path, row.address))


async def _look_for(job: Job, rows: list[ObjectRow]) -> None:
    address = rows[0].address
    key = key_of(job, address)
    if key is None:
        job.count("objects elsewhere, not checked")
        return
    try:
        found = await job.repo.store.head(key)
    except BlobNotFound:
        job.bad(Bad("missing", "object", address, "not in the bucket", rows[0].path, address))
        return
    job.scratch.see(address)
    job.count("objects")
    check_size(job, rows, found.size)


async def _read(job: Job, rows: list[ObjectRow]) -> None:
    wanted = {row.checksum: row for row in rows if row.parts == 0 and len(row.checksum) == _MD5}
    key = key_of(job, rows[0].address)
    if not wanted or key is None:
        job.count("objects without an MD5, not read")
        return
    digest, size = hashlib.md5(usedforsecurity=False), 0
    try:
        async with job.repo.store.open(key) as chunks:
            async for chunk in chunks:
                await job.ctx.runtime.cpu(digest.update, chunk)
                size += len(chunk)
                await job.pace.spend(len(chunk))
    except BlobNotFound:
        detail = "was deleted during the check"
        job.bad(Bad("missing", "object", rows[0].address, detail, rows[0].path, rows[0].address))
        return
    job.count("bytes read", size)
    for checksum, row in wanted.items():
        if row.size == size and digest.hexdigest() != checksum:
            detail = f"its content has the MD5 {digest.hexdigest()}, its entry says {checksum}"
            job.bad(Bad("corrupt", "object", row.address, detail, row.path, row.address))


async def _find_uses(job: Job, addresses: set[str]) -> None:
    """Record which ranges and patches name these objects. It reads them again, because most checks need no uses."""

    async def look(range_id: str) -> None:
        data = await job.read_again(f"{RANGES}{range_id}.parquet")
        if data is not None:
            found = await job.ctx.runtime.cpu(named_in, data, range_id, addresses)
            job.scratch.add_object_uses(found, range_id)

    async def look_in_tree(tree_id: str) -> None:
        data = await job.read_again(metarange_file(tree_id))
        if data is not None:
            patch, found = await job.ctx.runtime.cpu(named_in_tree, data, tree_id, addresses)
            job.scratch.add_object_uses(found, patch)

    for page in job.scratch.ranges():
        await job.each(page, look)
    for page in job.scratch.metaranges():
        await job.each(page, look_in_tree)
    await find_uses(job, job.scratch.ranges_of_objects())
