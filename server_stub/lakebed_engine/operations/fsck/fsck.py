"""fsck: checks that everything a repository names exists and is undamaged, and lists what nothing names. Read-only.

Commits and their trees never change, so a check may run while the server works. It reads refs first, then commits,
then files. A file counts as missing only when the store says so. Any other error of a store ends the check with that
error, and the check then says nothing about the rest.
"""

from __future__ import annotations

import msgspec

from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.fsck.objects import check_objects
from lakebed_engine.operations.fsck.orphans import check_data, check_files
from lakebed_engine.operations.fsck.refs_and_commits import (
    check_commits,
    check_marker,
    check_snapshots,
    read_refs,
    read_uploads,
)
from lakebed_engine.operations.fsck.scratch_db import ScratchDb
from lakebed_engine.operations.fsck.session import Job, Pace
from lakebed_engine.operations.fsck.staged import check_staged, read_drops
from lakebed_engine.operations.fsck.trees import check_metaranges, check_ranges
from lakebed_engine.vocabulary.reports import (
    FsckOptions,
    FsckReport,
    Progress,
    Sink,
    ignore_finding,
    ignore_progress,
)


async def fsck(
    ctx: Context,
    repo_name: str,
    options: FsckOptions,
    *,
    progress: Progress = ignore_progress,
    sink: Sink = ignore_finding,
) -> FsckReport:
    """Check a repository. Memory: `options.scratch_bytes`, and a few ranges.

    Raises RepositoryNotFoundError, and StoreUnavailableError when a store fails: there is no result then.
    """
    if options.deep:
        options = msgspec.structs.replace(options, data=True)
    repo = await open_repo(ctx, repo_name)
    return await check(ctx, repo, options, progress, sink, Pace(ctx))


async def check(
    ctx: Context, repo: Repo, options: FsckOptions, progress: Progress, sink: Sink, pace: Pace
) -> FsckReport:
    """As `fsck`, at the speed that `pace` permits."""
    with ScratchDb(options.scratch_bytes) as scratch:
        job = Job(ctx, repo, options, scratch, progress, sink, pace)
        await check_marker(job)
        await read_uploads(job)
        branches = await read_refs(job)
        await check_commits(job)
        await check_snapshots(job)
        await check_metaranges(job)
        await check_ranges(job)
        await check_staged(job, branches)
        await read_drops(job)
        unknown = await check_files(job)
        if options.data:
            unknown += await check_data(job)
            await check_objects(job)
    return _report(job, unknown)


def _report(job: Job, unknown: list[str]) -> FsckReport:
    return FsckReport(
        repository=job.repo.name,
        counts={what: count for what, count in job.counts.items() if count},
        problems=job.problems,
        problem_count=job.problem_count,
        orphans=job.orphans,
        orphan_count=job.orphan_count,
        orphan_bytes=job.orphan_bytes,
        recent_count=job.recent_count,
        foreign_count=job.foreign_count,
        foreign_bytes=job.foreign_bytes,
        unknown=unknown,
    )
