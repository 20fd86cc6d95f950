"""Deletes a repository only if its branches are empty.

Staging does not change a branch record, so checking the records alone is not enough. Each branch first gets a new token
without rows. Then its content is checked. One batch then deletes the repository. It checks that no record has changed
and no token has rows, and removes the records. A write that is staged in the time between makes the batch fail. A later
write finds no branch.
"""

from __future__ import annotations

from lakebed_engine.operations.branch.compare_and_swap import notes, nothing_staged, seal, staged_of
from lakebed_engine.operations.context import Context, Repo, Seen, decode_branch, decode_workspace, open_repo
from lakebed_engine.operations.keys import BRANCH_ROWS, WORKSPACE_ROWS, end_of, record_key
from lakebed_engine.operations.objects import read
from lakebed_engine.operations.repository.lifecycle import forget
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import Delete, scan_rows

MOST_BRANCHES = 1000
"""The largest number of branches of such a repository. One batch checks and deletes all of them."""


async def delete_empty(ctx: Context, name: str) -> str:
    """Delete a repository if no branch shows an object and no workspace is open. History and tags are deleted too.

    Returns an empty text, or the reason why nothing was deleted. Raises RepositoryNotFoundError.
    """
    repo = await open_repo(ctx, name, write=True)

    async def attempt() -> str | None:
        records = await _branches(ctx, repo)
        found = await _content(ctx, repo, records)
        if found:
            return found
        fresh = [await seal(ctx, repo, seen) for seen in records]
        sealed = [seen for seen in fresh if seen is not None]
        if len(sealed) < len(records):
            return None
        found = await _content(ctx, repo, sealed)
        if found:
            return found
        return "" if await _forget(ctx, repo, sealed) else None

    return await retry_on_conflict(f"repository {name!r}", attempt)


async def _forget(ctx: Context, repo: Repo, records: list[Seen]) -> bool:
    checks = [check for seen in records for check in (seen.check(repo), nothing_staged(seen.record))]
    puts = [put for seen in records for put in notes(ctx, repo, staged_of(seen.record))]
    deletes = [Delete(repo.partition, record_key(seen.record.name)) for seen in records]
    return await forget(ctx, repo, checks, puts, deletes)


async def _branches(ctx: Context, repo: Repo) -> list[Seen]:
    rows = await ctx.kv.scan(repo.partition, BRANCH_ROWS, end_of(BRANCH_ROWS), MOST_BRANCHES + 1)
    return [Seen(decode_branch(row.value), row.version) for row in rows]


async def _content(ctx: Context, repo: Repo, records: list[Seen]) -> str:
    """The name of a branch or workspace that is not empty, or an empty text."""
    if len(records) > MOST_BRANCHES:
        return f"more than {MOST_BRANCHES} branches"
    for seen in records:
        name = seen.record.name
        page = await read.list_objects(ctx, repo.name, name, amount=1)
        if page.items:
            return f"object {page.items[0].path!r} on branch {name!r}"
    async for row in scan_rows(ctx.kv, repo.partition, WORKSPACE_ROWS, end_of(WORKSPACE_ROWS)):
        workspace = decode_workspace(row.value)
        if workspace.state == "open":
            return f"workspace {workspace.name!r}, which is open"
    return ""
