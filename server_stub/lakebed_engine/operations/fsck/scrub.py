"""The scrub: checks all repositories in the background, at a limited rate. It changes nothing in them.

It is a slow fsck. A lease ensures that one server scrubs at a time. A row stores the position, so that a restarted
server continues there. It does not read finished repositories and undamaged objects again.
"""

from __future__ import annotations

import dataclasses
import logging

import msgspec

from lakebed_engine.operations.context import Context, Repo, active_records, encode, open_repo, opened
from lakebed_engine.operations.fsck.fsck import check
from lakebed_engine.operations.fsck.session import Pace
from lakebed_engine.operations.gc.lease import Lease, take_lease
from lakebed_engine.operations.keys import SCRUB, SCRUB_LEASE, SCRUB_PLACE, scrub_result
from lakebed_engine.stores.kv.base import Batch, Delete, Put
from lakebed_engine.stores.objects.disk_cache import uncached
from lakebed_engine.vocabulary.errors import EngineError, TooManyAttemptsError
from lakebed_engine.vocabulary.reports import (
    Finding,
    FsckOptions,
    Problem,
    Scrubbed,
    ScrubOptions,
    ScrubPass,
    ignore_progress,
)

_LEASE_SECONDS = 900.0
_KEPT = 100
"""How many findings of a repository are stored for fsck to show. The log has all."""

log = logging.getLogger("lakebed.engine")


class _Place(msgspec.Struct, frozen=True):
    """The repository that the scrub reads, and its last finished object. All repositories before it are finished."""

    repository: str = ""
    after: str = ""


async def last_scrub(ctx: Context, repo_name: str) -> Scrubbed | None:
    """The result of the last scrub of a repository. Raises RepositoryNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    row = await ctx.kv.get(SCRUB, scrub_result(repo.record.uid))
    return None if row is None else msgspec.json.decode(row.value, type=Scrubbed)


async def scrub(ctx: Context, options: ScrubOptions) -> ScrubPass:
    """Make one pass over all repositories, or finish an interrupted one. Does nothing when no pass is due."""
    lease = await take_lease(ctx, SCRUB, SCRUB_LEASE, seconds=_LEASE_SECONDS, every=options.every)
    if isinstance(lease, str):
        return ScrubPass()
    try:
        done = await _round(ctx, options, lease)
        await ctx.kv.apply(Batch(deletes=[Delete(SCRUB, SCRUB_PLACE)]))
        await lease.release(swept=True)
    except TooManyAttemptsError:
        return ScrubPass()  # another server continues
    log.info(
        "scrub: %d repositories, %d bytes read, %d damaged or missing files",
        done.repositories,
        done.size,
        done.problems,
    )
    return done


async def _round(ctx: Context, options: ScrubOptions, lease: Lease) -> ScrubPass:
    row = await ctx.kv.get(SCRUB, SCRUB_PLACE)
    place = _Place() if row is None else msgspec.json.decode(row.value, type=_Place)
    repositories = problems = size = 0
    async for record in active_records(ctx):
        if record.name < place.repository:
            continue
        repo = opened(ctx, record)
        after = place.after if record.name == place.repository else ""
        await _keep(ctx, record.name, after)
        try:
            found, read = await _repository(ctx, repo, options, lease, after)
        except TooManyAttemptsError:
            raise
        except EngineError as error:
            log.warning("repository %s: the scrub could not finish: %s", record.name, error.message)
            continue
        repositories, problems, size = repositories + 1, problems + found, size + read
    return ScrubPass(repositories, problems, size)


async def _repository(ctx: Context, repo: Repo, options: ScrubOptions, lease: Lease, after: str) -> tuple[int, int]:
    """The number of problems, and the number of bytes read."""
    pace = Pace(ctx, options.rate, after, alive=lease.keep, passed=lambda address: _keep(ctx, repo.name, address))
    kept: list[str] = []

    def keep_problem(finding: Finding) -> None:
        if isinstance(finding, Problem):
            text = f"{finding.kind} {finding.what} {finding.name}: {finding.detail}"
            log.warning("repository %s: the scrub found: %s", repo.name, text)
            if len(kept) < _KEPT:
                kept.append(text)

    direct = dataclasses.replace(repo, store=uncached(repo.store))
    how = FsckOptions(data=options.objects, deep=options.objects, concurrency=1, keep=0)
    report = await check(ctx, direct, how, ignore_progress, keep_problem, pace)
    result = Scrubbed(ctx.now(), report.problem_count, tuple(kept), objects=options.objects)
    await ctx.kv.apply(Batch(puts=[Put(SCRUB, scrub_result(repo.record.uid), encode(result))]))
    return report.problem_count, pace.spent


async def _keep(ctx: Context, repository: str, after: str) -> None:
    await ctx.kv.apply(Batch(puts=[Put(SCRUB, SCRUB_PLACE, encode(_Place(repository, after)))]))
