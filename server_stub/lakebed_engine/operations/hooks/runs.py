"""Runs of hooks: a row for each, written when the run begins and again when it ends, and a row for each log.

The logs are rows too, not files: they are small, and one batch writes the end of a run with all of its logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from lakebed_engine.operations.context import Context, Repo, decode_candidate, encode, open_repo
from lakebed_engine.operations.keys import (
    CANDIDATES,
    HOOK_RUNS,
    VERDICTS,
    end_of,
    hook_log_key,
    hook_logs_of,
    hook_run_key,
    under,
    verdict_key,
)
from lakebed_engine.operations.validation import check_amount
from lakebed_engine.stores.kv.base import Batch, Delete, Put, scan_pages, scan_rows
from lakebed_engine.vocabulary.errors import InvalidRequestError, RunNotFoundError
from lakebed_engine.vocabulary.hooks import Run, RunPage, Verdict

CANDIDATE_LIFETIME: Final = 24 * 3600
"""Seconds for which a commit that hooks refused can still be read."""
LATE: Final = 60
"""Seconds after `ends_by` when a run without an end counts as one whose server died."""
_SCANNED: Final = 5_000
"""Rows that one page reads at most."""
_END_OF_TIME: Final = 1 << 47
_run = msgspec.json.Decoder(Run)
_verdict = msgspec.json.Decoder(Verdict)


def new_run_id(ctx: Context) -> str:
    """20 lower-case hex characters. The newest run has the smallest id."""
    return f"{_END_OF_TIME - int(ctx.clock.now() * 1000):012x}{ctx.ids.new()[:8]}"


async def save_run(ctx: Context, repo_name: str, run: Run, logs: Mapping[str, bytes] = {}) -> None:
    """Write a run, with the logs of its hooks by their ids. Also in a repository that is read-only."""
    repo = await open_repo(ctx, repo_name)
    rows = [Put(repo.partition, hook_run_key(run.id), encode(run))]
    rows += [Put(repo.partition, hook_log_key(run.id, hook), log) for hook, log in logs.items()]
    await ctx.kv.apply(Batch(puts=rows))


async def get_run(ctx: Context, repo_name: str, run_id: str) -> Run:
    """Raises RunNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    found = await ctx.kv.get(repo.partition, hook_run_key(run_id))
    if found is None:
        raise RunNotFoundError(f"run {run_id[:80]!r} not found in repository {repo_name!r}")
    return _as_of_now(ctx, _run.decode(found.value))


def _as_of_now(ctx: Context, run: Run) -> Run:
    """The run, marked as failed if its server died: such a run has no recorded end."""
    if run.state != "running" or not run.ends_by or ctx.clock.now() < run.ends_by + LATE:
        return run
    message = "the server stopped before its hooks ended"
    return msgspec.structs.replace(run, state="error", ended=run.ends_by, message=message)


async def list_runs(
    ctx: Context, repo_name: str, *, branch: str = "", commit: str = "", after: str = "", amount: int = 100
) -> RunPage:
    """A page of runs, the newest first, of a branch or of a commit if given. Raises InvalidRequestError for both."""
    check_amount(amount)
    if branch and commit:
        raise InvalidRequestError("filter runs by branch or by commit, not by both")
    repo = await open_repo(ctx, repo_name)
    start = hook_run_key(after) + b"\0" if after else HOOK_RUNS
    items: list[Run] = []
    scanned = 0
    async for row in scan_rows(ctx.kv, repo.partition, start, end_of(HOOK_RUNS), size=min(1000, amount + 1)):
        if len(items) == amount or scanned == _SCANNED:
            return RunPage(items, after, has_more=True)
        run = _as_of_now(ctx, _run.decode(row.value))
        scanned, after = scanned + 1, run.id
        if (not branch or run.branch == branch) and (not commit or run.commit_id == commit):
            items.append(run)
    return RunPage(items, after, has_more=False)


async def read_log(ctx: Context, repo_name: str, run_id: str, hook_run_id: str) -> bytes:
    """The output of a hook. Raises RunNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    found = await ctx.kv.get(repo.partition, hook_log_key(run_id, hook_run_id))
    if found is not None:
        return found.value
    run = await get_run(ctx, repo_name, run_id)
    if all(hook.id != hook_run_id for hook in run.hooks):
        raise RunNotFoundError(f"run {run_id[:80]!r} of repository {repo_name!r} has no hook {hook_run_id[:80]!r}")
    return b""


async def get_verdict(ctx: Context, repo_name: str, digest: str) -> Verdict | None:
    """The verdict of a hook about a tree. `digest`: SHA-256, in hex, of everything that the verdict depends on."""
    repo = await open_repo(ctx, repo_name)
    found = await ctx.kv.get(repo.partition, verdict_key(digest))
    return None if found is None else _verdict.decode(found.value)


async def put_verdict(ctx: Context, repo_name: str, digest: str, verdict: Verdict) -> None:
    """Store the verdict of a hook about a tree."""
    repo = await open_repo(ctx, repo_name)
    await ctx.kv.apply(Batch(puts=[Put(repo.partition, verdict_key(digest), encode(verdict))]))


async def expire(ctx: Context, repo: Repo, keep: float) -> int:
    """Delete runs, logs and verdicts older than `keep` seconds, and old candidates. Returns the number of rows."""
    now, removed = ctx.clock.now(), 0
    oldest = hook_run_key(f"{_END_OF_TIME - int((now - keep) * 1000):012x}")
    async for rows in scan_pages(ctx.kv, repo.partition, oldest, end_of(HOOK_RUNS), size=200):
        for row in rows:
            run_id = row.key.removeprefix(HOOK_RUNS).decode()
            logs = await ctx.kv.scan(repo.partition, *under(hook_logs_of(run_id)), 1000)
            keys = [*(log.key for log in logs), row.key]
            removed += await _delete(ctx, repo, keys)
    async for rows in scan_pages(ctx.kv, repo.partition, *under(VERDICTS), size=1000):
        old = [row.key for row in rows if _verdict.decode(row.value).at < now - keep]
        removed += await _delete(ctx, repo, old)
    async for rows in scan_pages(ctx.kv, repo.partition, *under(CANDIDATES), size=1000):
        old = [row.key for row in rows if decode_candidate(row.value).at < now - CANDIDATE_LIFETIME]
        removed += await _delete(ctx, repo, old)
    return removed


async def _delete(ctx: Context, repo: Repo, keys: list[bytes]) -> int:
    if keys:
        await ctx.kv.apply(Batch(deletes=[Delete(repo.partition, key) for key in keys]))
    return len(keys)
