"""Checks the files of the bucket: finds unnamed files, and records which objects exist.

An unnamed file that the engine made is an orphan. Any other one is foreign.
It runs after everything that names files was read. A failed listing ends the check: with a partial listing, the check
would report existing files as missing.
"""

from __future__ import annotations

from collections.abc import Callable

from lakebed_format.keys import (
    COMMITS,
    DATA,
    DRAFTS,
    DUMPS,
    HISTORY,
    JOURNAL,
    LAYERS,
    METARANGES,
    OURS,
    PARTS,
    RANGES,
    REFS,
    REPOSITORY_MARKER,
    is_made,
)
from lakebed_format.refs import parse_key

from lakebed_engine.operations.fsck.objects import check_size
from lakebed_engine.operations.fsck.session import Job
from lakebed_engine.stores.objects.base import BlobStat
from lakebed_engine.vocabulary.reports import Foreign, Orphan


async def check_files(job: Job) -> list[str]:
    """Report orphans below `_lakebed/`. Returns the folders whose orphans cannot be determined."""
    unknown = [] if job.trees_known else [COMMITS, METARANGES, RANGES]
    if not job.rows_known:
        unknown.append(LAYERS)
    if not job.uploads_known:
        unknown.append(PARTS)
    async for blob in job.repo.store.list(OURS):
        job.count("files")
        if not _is_named(job, blob.key) and not blob.key.startswith(tuple(unknown)):
            _unnamed(job, blob)
    return unknown


def _is_named(job: Job, key: str) -> bool:
    """Whether something names a file below `_lakebed/`, or the file is needed without a name."""
    scratch = job.scratch
    known: dict[str, tuple[str, Callable[[str], bool]]] = {
        COMMITS: (".json", scratch.has_commit),
        METARANGES: (".parquet", scratch.has_metarange),
        RANGES: (".parquet", scratch.has_range),
    }
    for folder, (suffix, has) in known.items():
        if key.startswith(folder):
            return key.endswith(suffix) and has(key.removeprefix(folder).removesuffix(suffix))
    if key.startswith(REFS):
        return parse_key(key) is not None
    if key.startswith(DUMPS):
        return key.endswith(".jsonl") and not key.startswith(DRAFTS)
    if key.startswith(PARTS):
        return scratch.has_file(key[: key.rfind("/") + 1])
    return key == REPOSITORY_MARKER or key.startswith((HISTORY, JOURNAL)) or scratch.has_file(key)


async def check_data(job: Job) -> list[str]:
    """Report orphans below `data/`, and check the sizes of objects there. Returns the folders as `check_files`."""
    async for blob in job.repo.store.list(DATA):
        said = job.scratch.said_of_object(blob.key)
        if said:
            job.scratch.see(blob.key)
            job.count("objects")
            check_size(job, said, blob.size)
        elif job.rows_known and not _is_reported(job, blob.key):
            _unnamed(job, blob)
    return [] if job.rows_known else [DATA]


def _is_reported(job: Job, key: str) -> bool:
    """Whether an entry names the object by its full URI, or it is the target of an upload."""
    return bool(job.scratch.said_of_object(f"{job.repo.store.uri}/{key}")) or job.scratch.has_file(key)


def _unnamed(job: Job, blob: BlobStat) -> None:
    if not is_made(blob.key):
        job.foreign(Foreign(blob.key, blob.size))
        return
    job.orphan(Orphan(blob.key, blob.size, max(0.0, job.ctx.clock.now() - blob.mtime)))
