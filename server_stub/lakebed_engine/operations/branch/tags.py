"""Tags: names of commits, which never move. Create, find, list and delete them."""

from __future__ import annotations

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.compare_and_swap import apply
from lakebed_engine.operations.branch.resolve import decode_tag, resolve_commit
from lakebed_engine.operations.context import Context, absent, encode, open_repo
from lakebed_engine.operations.events.rows import event_rows
from lakebed_engine.operations.hooks.proposals import agree
from lakebed_engine.operations.keys import OPERATIONS, TAG_ROWS, branch_key, commit_key, end_of, tag_key
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import Batch, Check, Delete, Put
from lakebed_engine.vocabulary.errors import NameTakenError, TagExistsError, TagNotFoundError
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import Page, Tag


async def create_tag(ctx: Context, repo_name: str, name: str, ref: str, *, force: bool = False) -> Tag:
    """Create a tag on the commit of `ref`. Raises TagExistsError, NameTakenError, RefNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    validation.check_tag(name)
    if await ctx.kv.get(repo.partition, branch_key(name)) is not None:
        raise NameTakenError(f"tag name {name!r} is taken by a branch")
    if await ctx.kv.get(repo.partition, commit_key(name)) is not None:
        raise NameTakenError(f"tag name {name!r} is the id of a commit")
    commit = await resolve_commit(ctx, repo, ref)
    await open_repo(ctx, repo_name, write=True, force=force)
    tag = Tag(name=name, commit_id=commit.id)
    agreed = await agree(ctx, repo, "create-tag", commit.id, tag=name)
    operation = OPERATIONS + ctx.ids.new().encode()
    data = {"tag": name, "source": ref, **agreed.data}
    event = NewEvent(type="tag.created", commit_id=commit.id, after=commit.id, data=data, deliveries=agreed.deliveries)
    batch = Batch(
        checks=[
            absent(repo.partition, tag_key(name)),
            absent(repo.partition, branch_key(name)),
            absent(repo.partition, operation),  # as for a branch
        ],
        puts=[
            Put(repo.partition, tag_key(name), encode(tag)),
            Put(repo.partition, operation, str(ctx.now()).encode()),
            *event_rows(ctx, repo, event),
        ],
    )
    if not await apply(ctx, repo, batch, operation):
        raise TagExistsError(f"tag already exists: not unique: {name!r} in repository {repo.name!r}")
    return tag


async def get_tag(ctx: Context, repo_name: str, name: str) -> Tag:
    """Raises TagNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    found = await ctx.kv.get(repo.partition, tag_key(name))
    if found is None:
        raise TagNotFoundError(f"tag {name[:80]!r} not found in repository {repo.name!r}")
    return decode_tag(found.value)


async def delete_tag(ctx: Context, repo_name: str, name: str, *, force: bool = False) -> None:
    """Raises TagNotFoundError."""
    repo = await open_repo(ctx, repo_name, write=True, force=force)

    async def attempt() -> bool | None:
        found = await ctx.kv.get(repo.partition, tag_key(name))
        if found is None:
            raise TagNotFoundError(f"tag {name[:80]!r} not found in repository {repo.name!r}")
        old = decode_tag(found.value).commit_id
        agreed = await agree(ctx, repo, "delete-tag", old, tag=name)
        operation = OPERATIONS + ctx.ids.new().encode()
        data = {"tag": name, **agreed.data}
        event = NewEvent(type="tag.deleted", commit_id=old, before=old, data=data, deliveries=agreed.deliveries)
        batch = Batch(
            checks=[Check(repo.partition, tag_key(name), found.version)],
            puts=[Put(repo.partition, operation, str(ctx.now()).encode()), *event_rows(ctx, repo, event)],
            deletes=[Delete(repo.partition, tag_key(name))],
        )
        return await apply(ctx, repo, batch, operation) or None

    await retry_on_conflict(f"tag {name!r} of {repo.name!r}", attempt)


async def list_tags(ctx: Context, repo_name: str, *, prefix: str = "", after: str = "", amount: int = 100) -> Page[Tag]:
    """Tags in order of name."""
    validation.check_amount(amount)
    repo = await open_repo(ctx, repo_name)
    start = max(tag_key(prefix), tag_key(after) + b"\0" if after else b"")
    rows = await ctx.kv.scan(repo.partition, start, end_of(TAG_ROWS), amount + 1)
    rows = [row for row in rows if row.key.startswith(tag_key(prefix))]
    return Page([decode_tag(row.value) for row in rows[:amount]], has_more=len(rows) > amount)
