"""Checks uncommitted rows: the live token and the layers of each branch.

A branch that commits during the check drops its layers, and the cleaner removes them. So a finding counts only when
the branch record has not changed since it was read.
"""

from __future__ import annotations

import msgspec
from lakebed_format.decoding import FormatError

from lakebed_engine.operations.branch.compare_and_swap import Note
from lakebed_engine.operations.context import BAD_ROW, decode_record
from lakebed_engine.operations.fsck.row_checks import look_at_part
from lakebed_engine.operations.fsck.scratch_db import Bad, ObjectRow
from lakebed_engine.operations.fsck.session import Job
from lakebed_engine.operations.keys import DROPPED_REPOSITORIES, DROPS, FIRST_ROW, STAGED_MARKER, record_key, staging
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import scan_pages, scan_rows
from lakebed_engine.tree.layers import layer_tree
from lakebed_engine.tree.rows import decode_row
from lakebed_engine.tree.trees import RangeInfo
from lakebed_engine.vocabulary.errors import TooManyAttemptsError
from lakebed_engine.vocabulary.records import Branch

_PAGE = 2000
_ATTEMPTS = 20


async def check_staged(job: Job, branches: list[Branch]) -> None:
    """Check the uncommitted rows of every branch."""
    for seen in branches:
        await _check_branch(job, seen)


async def _check_branch(job: Job, seen: Branch) -> None:
    branch: Branch | None = seen

    async def attempt() -> tuple[list[tuple[Bad, bool]], Branch | None] | None:
        nonlocal branch
        if branch is None:
            return [], None
        found = await _look(job, branch)
        now = await job.ctx.kv.get(job.repo.partition, record_key(branch.name)) if found else None
        current = None if now is None else decode_record(branch.name, now.value)
        if not found or current == branch:
            return found, branch
        branch = current
        return None

    try:
        found, current = await retry_on_conflict(f"branch {seen.name!r}", attempt, _ATTEMPTS)
    except TooManyAttemptsError:
        return
    for bad, readable in found:
        job.problem(bad, [seen.name])
        job.rows_known &= readable
    job.count("branches with uncommitted rows", int(current is not None and bool(current.layers)))


async def _look(job: Job, branch: Branch) -> list[tuple[Bad, bool]]:
    """The findings, each with a flag: whether the rows were readable despite it."""
    found = await _look_at_token(job, branch, branch.staging_token, sealed=False)
    for layer in branch.layers:
        if layer.kind == "kv":
            found += await _look_at_token(job, branch, layer.id, sealed=True)
            continue
        parts = layer_tree(layer).ranges
        for info in parts:
            job.scratch.add_file(info.file)
        for complaints in await job.each(parts, lambda info: _look_at_part(job, branch, info)):
            found += complaints
        job.count("layers")
    return found


async def _look_at_part(job: Job, branch: Branch, info: RangeInfo) -> list[tuple[Bad, bool]]:
    try:
        data = await job.read(info.file)
    except FormatError as error:
        return [(Bad("corrupt", "layer", info.file, str(error)), False)]
    if data is None:
        detail = f"not in the bucket: uncommitted changes of branch {branch.name!r}"
        return [(Bad("missing", "layer", info.file, detail), False)]
    said = (info.min_path, info.max_path, info.rows, info.size_bytes)
    looked = await job.ctx.runtime.cpu(look_at_part, data, info.id, said, job.options.data)
    job.scratch.add_objects(looked.objects, branch.name)
    job.count("uncommitted rows", looked.rows)
    if not looked.complaints:
        return []
    return [(Bad("corrupt", "layer", info.file, "; ".join(looked.complaints)), looked.readable)]


async def _look_at_token(job: Job, branch: Branch, token: str, *, sealed: bool) -> list[tuple[Bad, bool]]:
    """Check a token. A sealed token must have its marker row: if it is missing, the rows are lost."""
    partition = staging(token)
    if sealed and await job.ctx.kv.get(partition, STAGED_MARKER) is None:
        detail = f"a layer of branch {branch.name!r} has no rows in the KV store"
        return [(Bad("missing", "staged rows", partition, detail), False)]
    found: list[tuple[Bad, bool]] = []
    async for rows in scan_pages(job.ctx.kv, partition, FIRST_ROW, size=_PAGE):
        objects = []
        for row in rows:
            try:
                path, entry = row.key.decode(), decode_row(row.value)
            except BAD_ROW as error:
                detail = f"{row.key!r} on branch {branch.name!r} cannot be read: {error}"
                found.append((Bad("corrupt", "staged rows", partition, detail), False))
                continue
            if entry is not None and job.options.data:
                objects.append(ObjectRow(entry.physical_address, entry.size, entry.checksum, entry.parts, path))
        job.scratch.add_objects(objects, branch.name)
        job.count("uncommitted rows", len(rows))
    return found


async def read_drops(job: Job) -> None:
    """Record the files that the cleaner will remove: they are not orphans."""
    async for row in scan_rows(job.ctx.kv, DROPS):
        if row.key.startswith(DROPPED_REPOSITORIES):
            continue
        note = msgspec.json.decode(row.value, type=Note)
        if note.namespace == job.repo.store.uri:
            for key in note.files:
                job.scratch.add_file(key)
