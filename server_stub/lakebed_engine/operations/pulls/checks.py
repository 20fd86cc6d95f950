"""Checks of commits: states that jobs outside of Lakebed report, such as tests of the data."""

from __future__ import annotations

import msgspec

from lakebed_engine.operations.branch.compare_and_swap import apply
from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.context import Context, Repo, absent, encode, open_repo
from lakebed_engine.operations.events.rows import event_rows
from lakebed_engine.operations.keys import OPERATIONS, check_key, checks_of, under
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.validation import MAX_CHECK_NAME, check_bounded
from lakebed_engine.stores.kv import base
from lakebed_engine.vocabulary.errors import InvalidRequestError
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.pulls import Check

MOST_CHECKS = 200
"""Checks of one commit."""

MAX_DESCRIPTION = 4096
MAX_URL = 2048

_check = msgspec.json.Decoder(Check)


class ReadCheck(msgspec.Struct, frozen=True):
    """A check as stored, and the version of its row."""

    check: Check
    version: int


async def report_check(ctx: Context, repo_name: str, ref: str, check: Check) -> Check:
    """Set the state of a check of a commit. The date is set to now. Raises InvalidRequestError, RefNotFoundError."""
    check_bounded("name", check.name, MAX_CHECK_NAME, least=1)
    check_bounded("description", check.description, MAX_DESCRIPTION)
    check_bounded("url", check.url, MAX_URL)
    if check.url and not check.url.startswith(("https://", "http://")):
        raise InvalidRequestError("url: must begin with https:// or http://")
    repo = await open_repo(ctx, repo_name, write=True)
    commit = await resolve_commit(ctx, repo, ref, candidates=True)
    new = msgspec.structs.replace(check, date=ctx.now())
    data = {"name": new.name, "state": new.state}

    async def attempt() -> Check | None:
        found = await read_checks(ctx, repo, commit.id)
        if new.name not in found and len(found) >= MOST_CHECKS:
            raise InvalidRequestError(f"commit {commit.id[:16]} has {MOST_CHECKS} checks, the maximum")
        key, operation = check_key(commit.id, new.name), OPERATIONS + ctx.ids.new().encode()
        old = found.get(new.name)
        batch = base.Batch(
            [absent(repo.partition, key) if old is None else base.Check(repo.partition, key, old.version)],
            [
                base.Put(repo.partition, key, encode(new)),
                base.Put(repo.partition, operation, str(ctx.now()).encode()),
                *event_rows(ctx, repo, NewEvent(type="check.reported", commit_id=commit.id, data=data)),
            ],
        )
        return new if await apply(ctx, repo, batch, operation) else None

    return await retry_on_conflict(f"check {new.name[:80]!r} of commit {commit.id[:16]}", attempt)


async def list_checks(ctx: Context, repo_name: str, ref: str) -> list[Check]:
    """The checks of a commit, by name. Raises RefNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    commit = await resolve_commit(ctx, repo, ref, candidates=True)
    return [one.check for one in (await read_checks(ctx, repo, commit.id)).values()]


async def read_checks(ctx: Context, repo: Repo, commit_id: str) -> dict[str, ReadCheck]:
    """The checks of a commit, by name, in the order of names."""
    rows = await ctx.kv.scan(repo.partition, *under(checks_of(commit_id)), MOST_CHECKS + 1)
    found = [ReadCheck(_check.decode(row.value), row.version) for row in rows]
    return {one.check.name: one for one in found}
