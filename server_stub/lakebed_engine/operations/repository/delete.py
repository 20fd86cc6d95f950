"""Deleting a repository only while its branches are empty.

What was staged is no change of a branch record, so records alone cannot tell that a look is still true. So each branch
is given a token that nobody has written to; then it is looked at; and the one batch that forgets the repository checks
every record and that no token has got a row, and removes the records. Whoever stages meanwhile makes that batch fail,
or finds no branch.
"""

from __future__ import annotations

from lakebed_engine.operations.branch.compare_and_swap import nothing_staged, seal
from lakebed_engine.operations.branch.record import notes, staged_of
from lakebed_engine.operations.context import Context, Repo, Seen, decode_branch, decode_workspace, open_repo
from lakebed_engine.operations.keys import BRANCH_ROWS, WORKSPACE_ROWS, end_of, record_key
from lakebed_engine.operations.objects import read
from lakebed_engine.operations.repository.lifecycle import forget
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import Delete, scan_rows

MOST_BRANCHES = 1000
"""Branches of a repository that is deleted so: all of them are in one batch."""


async def delete_empty(ctx: Context, name: str) -> str:
    """Forget a repository of which no branch shows an object and no workspace is open; history and tags go with it.

    Empty, or what stands in the way: nothing was deleted then. Raises RepositoryNotFoundError.
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
    """Something that is not empty, by name."""
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
