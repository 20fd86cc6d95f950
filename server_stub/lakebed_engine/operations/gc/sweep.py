"""The sweep of one repository or of all repositories.

It takes a lease for each, and waits once between the two checks of many repositories. Only one process sweeps at a
time, but safety does not depend on the lease.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from lakebed_engine.operations.context import Context, Repo, decode_repository, open_repo
from lakebed_engine.operations.gc.lease import Lease, take_lease
from lakebed_engine.operations.gc.orphan_staging import drop_tokens, look_at_tokens
from lakebed_engine.operations.gc.scratch_db import ScratchDb
from lakebed_engine.operations.gc.sweep_repository import RepositorySweep
from lakebed_engine.operations.keys import REPOSITORIES, SWEEP_LEASE, SWEEPS, TOKENS_LEASE
from lakebed_engine.stores.kv.base import scan_pages
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.reports import (
    Progress,
    Sink,
    SweepOptions,
    SweepPass,
    SweepReport,
    ignore_finding,
    ignore_progress,
)

STAGED = "staged rows"
"""The name of the sweep of staging tokens in results, where other rows have the name of a repository."""

_AT_ONCE = 16
"""How many repositories wait for their second check together."""
_LEASE = 900.0
"""Seconds, in addition to the wait, after which another process takes over from an inactive one."""
_SHOWN = 10.0
"""Seconds between two reports of progress during the wait."""


@dataclass
class _Outcome:
    """The parts of a SweepPass."""

    reports: list[SweepReport] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    tokens: int = 0
    dropped: int = 0


async def sweep(
    ctx: Context,
    repo_name: str = "",
    options: SweepOptions | None = None,
    *,
    progress: Progress = ignore_progress,
    sink: Sink = ignore_finding,
) -> SweepPass:
    """Delete unnamed files, in one repository. Without a name, in all, together with staged rows that no record names.

    `sink` gets each file. The result contains the failures of single repositories.

    Raises RepositoryNotFoundError.
    """
    options = options or SweepOptions()
    out = _Outcome()
    if repo_name:
        await _sweep_some(ctx, [await open_repo(ctx, repo_name)], options, progress, sink, out)
    else:
        async for rows in scan_pages(ctx.kv, REPOSITORIES, size=_AT_ONCE):
            records = [decode_repository(row.value) for row in rows]
            repos = [_repo(ctx, record.name) for record in records if record.state == "active"]
            await _sweep_some(ctx, [one for job in repos if (one := await job)], options, progress, sink, out)
        await _sweep_tokens(ctx, options, progress, out)
    return SweepPass(out.reports, out.skipped, out.failures, out.tokens, out.dropped)


async def _repo(ctx: Context, name: str) -> Repo | None:
    try:
        return await open_repo(ctx, name)
    except EngineError:
        return None  # deleted since


async def _sweep_some(
    ctx: Context, repos: Sequence[Repo], options: SweepOptions, progress: Progress, sink: Sink, out: _Outcome
) -> None:
    """Check each repository, wait if any needs a second check, then make the second checks."""
    with ExitStack() as stack:
        waiting = []
        for repo in repos:
            scratch = stack.enter_context(ScratchDb(options.scratch_bytes // len(repos)))
            one = RepositorySweep(ctx, repo, options, scratch, progress, sink, None)
            try:
                if await _first(one, out):
                    waiting.append(one)
            except EngineError as error:
                await _fail(repo.name, error, one.lease, out)
        for one in waiting:
            try:
                await _wait(ctx, one.looked_at, options.grace, progress)
                await one.finish()
                await _done(one, out)
            except EngineError as error:
                await _fail(one.repo.name, error, one.lease, out)


async def _first(one: RepositorySweep, out: _Outcome) -> bool:
    """Make the first check. Returns whether a second check is needed."""
    options = one.options
    if not options.dry_run:
        lease = await take_lease(
            one.ctx, one.repo.partition, SWEEP_LEASE, seconds=options.grace + _LEASE, every=options.every
        )
        if isinstance(lease, str):
            out.skipped.append((one.repo.name, lease))
            return False
        one.lease = lease
    if await one.look() and not options.dry_run and not one.held:
        return True
    await _done(one, out)
    return False


async def _done(one: RepositorySweep, out: _Outcome) -> None:
    if one.lease is not None:
        await one.lease.release(swept=not one.held)
    out.reports.append(one.report())


async def _fail(name: str, error: EngineError, lease: Lease | None, out: _Outcome) -> None:
    out.failures.append((name, error.message))
    if lease is not None:
        try:
            await lease.release(swept=False)
        except EngineError:
            return  # the lease expires without a release


async def _wait(ctx: Context, since: float, grace: float, progress: Progress) -> None:
    """Wait until `since` + `grace` seconds, by the monotonic clock of this process."""
    while (left := since + grace - ctx.clock.monotonic()) > 0:
        progress("seconds to wait for the second check", round(left))
        await ctx.runtime.sleep(min(left, _SHOWN))


async def _sweep_tokens(ctx: Context, options: SweepOptions, progress: Progress, out: _Outcome) -> None:
    lease: Lease | None = None
    try:
        if not options.dry_run:
            taken = await take_lease(ctx, SWEEPS, TOKENS_LEASE, seconds=options.grace + _LEASE, every=options.every)
            if isinstance(taken, str):
                out.skipped.append((STAGED, taken))
                return
            lease = taken
        with ScratchDb(options.scratch_bytes) as scratch:
            out.tokens = await look_at_tokens(ctx, scratch)
            if out.tokens and lease is not None:
                await _wait(ctx, ctx.clock.monotonic(), options.grace, progress)
                out.dropped = await drop_tokens(ctx, scratch, lease)
        if lease is not None:
            await lease.release(swept=True)
    except EngineError as error:
        await _fail(STAGED, error, lease, out)
