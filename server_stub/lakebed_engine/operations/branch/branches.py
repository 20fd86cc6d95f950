"""Branches as names: create, find, list, reset. `pulls.lifecycle` deletes branches."""

from __future__ import annotations

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.compare_and_swap import after_reset, apply, emptied, staged_of, swap
from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.branch.view import View, is_unchanged, sources_of, tree_of
from lakebed_engine.operations.context import (
    Context,
    Repo,
    Seen,
    absent,
    decode_branch,
    encode,
    open_repo,
    read_branch,
    read_record,
)
from lakebed_engine.operations.events.rows import event_rows
from lakebed_engine.operations.hooks.proposals import agree
from lakebed_engine.operations.keys import (
    BRANCH_ROWS,
    OPERATIONS,
    STAGED_MARKER,
    branch_key,
    commit_key,
    end_of,
    tag_key,
    workspace_id,
)
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import Batch, Delete, Put
from lakebed_engine.tree.rows import encode_row
from lakebed_engine.tree.trees import EMPTY_TREE
from lakebed_engine.vocabulary.errors import BranchExistsError, MissingFileError, NameTakenError, PredicateFailed
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import Branch, Page


async def create_branch(
    ctx: Context, repo_name: str, name: str, source: str, *, hidden: bool = False, force: bool = False
) -> Branch:
    """Create a branch at the commit of `source`. Raises BranchExistsError, NameTakenError, RefNotFoundError."""
    repo = await open_repo(ctx, repo_name, write=True, force=force)
    validation.check_branch(name)
    if await ctx.kv.get(repo.partition, commit_key(name)) is not None:
        raise NameTakenError(f"branch name {name!r} is the id of a commit")
    if await ctx.kv.get(repo.partition, tag_key(name)) is not None:
        raise NameTakenError(f"branch name {name!r} is taken by a tag")
    commit = await resolve_commit(ctx, repo, source)
    new = Branch(name=name, uid=ctx.ids.new(), gen=1, commit_id=commit.id, staging_token=ctx.ids.new(), hidden=hidden)
    agreed = await agree(ctx, repo, "create-branch", commit.id, branch=name, source_ref=source)
    operation = OPERATIONS + ctx.ids.new().encode()
    data = {"source": source, **agreed.data}
    event = NewEvent(
        type="branch.created", branch=name, gen=1, commit_id=commit.id, after=commit.id, data=data,
        deliveries=agreed.deliveries,
    )  # fmt: skip
    batch = Batch(
        checks=[
            absent(repo.partition, branch_key(name)),
            absent(repo.partition, tag_key(name)),
            absent(repo.partition, operation),  # the name may become free again: this check prevents a second apply
        ],
        puts=[
            Put(repo.partition, branch_key(name), encode(new)),
            Put(repo.partition, operation, str(ctx.now()).encode()),
            *event_rows(ctx, repo, event),
        ],
    )
    if not await apply(ctx, repo, batch, operation):
        raise BranchExistsError(f"branch already exists: not unique: {name!r} in repository {repo.name!r}")
    return new


async def get_branch(ctx: Context, repo_name: str, name: str) -> Branch:
    """Raises BranchNotFoundError."""
    return (await read_branch(ctx, await open_repo(ctx, repo_name), name)).record


async def list_branches(
    ctx: Context, repo_name: str, *, prefix: str = "", after: str = "", amount: int = 100, show_hidden: bool = False
) -> Page[Branch]:
    """Branches in order of name. Hidden ones only with `show_hidden`."""
    validation.check_amount(amount)
    repo = await open_repo(ctx, repo_name)
    items: list[Branch] = []
    start = max(branch_key(prefix), branch_key(after) + b"\0" if after else b"")
    while True:
        rows = await ctx.kv.scan(repo.partition, start, end_of(BRANCH_ROWS), 1000)
        for row in rows:
            if not row.key.startswith(branch_key(prefix)):
                return Page(items, has_more=False)
            branch = decode_branch(row.value)
            if branch.hidden and not show_hidden:
                continue
            if len(items) == amount:
                return Page(items, has_more=True)
            items.append(branch)
        if len(rows) < 1000:
            return Page(items, has_more=False)
        start = rows[-1].key + b"\0"


async def reset_branch(ctx: Context, repo_name: str, name: str, *, force: bool = False) -> None:
    """Discard everything staged (`PROTOCOL.md` 3, RESET)."""
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=name)

    async def attempt() -> bool | None:
        seen = await read_record(ctx, repo, name)
        new = emptied(seen.record, ctx.ids.new())
        events = [] if workspace_id(name) else [_discarded(new)]
        return await swap(ctx, repo, seen, new, dropped=staged_of(seen.record), events=events) or None

    await retry_on_conflict(f"branch {name!r} of {repo.name!r}", attempt)


def _discarded(new: Branch) -> NewEvent:
    """The event of a reset that discards all uncommitted changes. The head stays."""
    head = new.commit_id
    data = {"uncommitted": True}
    return NewEvent(
        type="branch.reset", branch=new.name, gen=new.gen, commit_id=head, before=head, after=head, data=data
    )


async def reset_object(ctx: Context, repo_name: str, name: str, path: str, *, force: bool = False) -> None:
    """Make one path show what is committed. Does nothing when nothing is staged there."""
    validation.check_path(path)
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=name)

    async def attempt() -> bool | None:
        seen = await read_record(ctx, repo, name)
        try:
            return await _reset_path(ctx, repo, seen, path) or None
        except MissingFileError:
            if await is_unchanged(ctx, repo, seen):
                raise
            return None

    await retry_on_conflict(f"branch {name!r} of {repo.name!r}", attempt)


async def _reset_path(ctx: Context, repo: Repo, seen: Seen, path: str) -> bool:
    """One attempt with the record that was read. False when the record has changed."""
    key = path.encode()
    live, *older = sources_of(seen.record)
    assert isinstance(live, str)
    here = await ctx.kv.get(live, key)
    below, _ = await View(ctx, repo, older, EMPTY_TREE).lookup(path)
    if here is None and not below:
        return await is_unchanged(ctx, repo, seen)
    if not below:
        # the row is only in the live token, which no commit has sealed: the check ensures that none seals it
        try:
            await ctx.kv.apply(Batch(checks=[seen.check(repo)], deletes=[Delete(live, key)]))
        except PredicateFailed:
            return False
        return True
    entry = await ctx.trees.find(repo.store, await tree_of(ctx, repo, seen.record.commit_id), path)
    rows = [Put(live, key, encode_row(entry)), Put(live, STAGED_MARKER, b"")]
    # a running commit may be folding a sealed row: the reset count makes it fold again
    return await swap(ctx, repo, seen, after_reset(seen.record), puts=rows)
