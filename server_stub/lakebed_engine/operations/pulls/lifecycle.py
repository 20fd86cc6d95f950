"""Opens, finds, lists, edits and closes pull requests."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from lakebed_engine.operations.branch.compare_and_swap import everything_of, swap
from lakebed_engine.operations.context import Context, Repo, Seen, open_repo, read_branch, refuse_unreviewed
from lakebed_engine.operations.hooks.proposals import agree
from lakebed_engine.operations.keys import PULLS, end_of, open_pull_id, open_pulls, pull_key, under
from lakebed_engine.operations.merge.three_way import Resolution
from lakebed_engine.operations.pulls.records import (
    MAX_TEXT,
    PullChange,
    SeenPull,
    change_pull,
    decode_pull,
    event_of,
    new_pull_id,
    read_pull,
    require_open,
    rows_of,
    source_head,
    with_mentions,
    write,
)
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.validation import MAX_NAME, check_amount, check_bounded, check_branch, check_message
from lakebed_engine.stores.kv.base import Check, Delete, Put
from lakebed_engine.vocabulary.errors import (
    DefaultBranchError,
    EngineError,
    InvalidRequestError,
    PullClosedError,
)
from lakebed_engine.vocabulary.events import NewEvent, current_actor
from lakebed_engine.vocabulary.pulls import Pull, PullCreation, PullEdit
from lakebed_engine.vocabulary.records import Page

log = logging.getLogger("lakebed.engine")

MAX_TITLE = 512
MOST_REVIEWERS = 50
MOST_OPEN = 1000
"""Open pull requests from or to one branch. One batch closes all of them when the branch is deleted."""

_STATUSES = {"": ("open", "closed", "merged"), "open": ("open",), "closed": ("closed", "merged")}


async def create_pull(ctx: Context, repo_name: str, request: PullCreation) -> Pull:
    """Open a pull request. Raises InvalidRequestError, BranchNotFoundError."""
    _check_texts(request.title, request.description)
    if request.source_branch == request.destination_branch:
        raise InvalidRequestError(f"source and destination are the same branch, {request.source_branch[:80]!r}")
    repo = await open_repo(ctx, repo_name, write=True)
    new = Pull(
        id=new_pull_id(ctx), revision="", title=request.title, description=request.description, author=request.author,
        author_id=request.author_id, source_branch=request.source_branch,
        destination_branch=request.destination_branch, creation_date=ctx.now(), draft=request.draft,
    )  # fmt: skip
    new = with_mentions(new, request.description)

    async def attempt() -> Pull | None:
        source, checks = await _branches(ctx, repo, new)
        head = source.record.commit_id
        opened = event_of(ctx, new, "opened", request.author_id, commit_id=head)
        rows = rows_of(ctx, repo, None, msgspec.structs.replace(new, head_commit_id=head), [opened])
        return rows.pull if await write(ctx, repo, checks, rows.puts) else None

    return await retry_on_conflict(f"the branches of a pull request in {repo_name!r}", attempt)


async def get_pull(ctx: Context, repo_name: str, pull_id: str) -> Pull:
    """Raises InvalidRequestError for a malformed id, PullNotFoundError."""
    return (await read_pull(ctx, await open_repo(ctx, repo_name), pull_id)).pull


async def list_pulls(
    ctx: Context, repo_name: str, *, prefix: str = "", after: str = "", amount: int = 100, status: str = ""
) -> Page[Pull]:
    """Pull requests, newest first. `status`: `open` or `closed`, which includes merged ones; all when empty."""
    check_amount(amount)
    repo = await open_repo(ctx, repo_name)
    items: list[Pull] = []
    start = max(pull_key(prefix), pull_key(after) + b"\0" if after else b"")
    while True:
        rows = await ctx.kv.scan(repo.partition, start, end_of(PULLS), 1000)
        for row in rows:
            if not row.key.startswith(pull_key(prefix)):
                return Page(items, has_more=False)
            pull = decode_pull(row.value)
            if pull.status not in _STATUSES[status]:
                continue
            if len(items) == amount:
                return Page(items, has_more=True)
            items.append(pull)
        if len(rows) < 1000:
            return Page(items, has_more=False)
        start = rows[-1].key + b"\0"


async def update_pull(ctx: Context, repo_name: str, pull_id: str, request: PullEdit) -> Pull:
    """Change a pull request, close or reopen it. Raises PullNotFoundError, PullClosedError, BranchNotFoundError."""
    _check_texts(request.title, request.description)
    _check_reviewers(request.reviewers or ())
    if request.auto_merge:
        Resolution(request.auto_merge.strategy, ())  # raises for an unknown strategy
        check_message(request.auto_merge.message)
    if request.status == "merged":
        raise InvalidRequestError("status: only a merge makes a pull request merged")
    repo = await open_repo(ctx, repo_name, write=True)

    async def make(old: Pull) -> PullChange | None:
        edited, changed = _edited(old, request)
        change = PullChange(edited)
        if changed:
            event = event_of(ctx, edited, "edited", request.actor, text=", ".join(changed))
            change = PullChange(msgspec.structs.replace(edited, events=event.id), [event])
        if request.status not in (None, old.status):
            new, events, checks = await _with_status(ctx, repo, change.pull, request)
            change = PullChange(new, [*change.events, *events], checks)
        return change if change.events else None

    return await change_pull(ctx, repo, pull_id, make)


def _edited(old: Pull, request: PullEdit) -> tuple[Pull, list[str]]:
    """The pull request with other fields, and the names of the changed ones."""
    asked = {
        "title": request.title,
        "description": request.description,
        "draft": request.draft,
        "reviewers": None if request.reviewers is None else tuple(dict.fromkeys(request.reviewers)),
    }
    changes: dict[str, object] = {name: value for name, value in asked.items() if value is not None}
    if request.auto_merge is not None:
        changes["auto_merge"] = request.auto_merge or None
    changed = [name for name, value in changes.items() if value != getattr(old, name)]
    if changed and ("draft" in changed or "auto_merge" in changed):
        require_open(old)
    return with_mentions(msgspec.structs.replace(old, **changes), request.description or ""), changed


async def _with_status(ctx: Context, repo: Repo, pull: Pull, request: PullEdit) -> PullChange:
    if pull.status == "merged":
        raise PullClosedError(f"pull request {pull.id} is merged: it cannot be closed or reopened")
    if request.status == "open":
        source, checks = await _branches(ctx, repo, pull)
        head = source.record.commit_id
        event = event_of(ctx, pull, "reopened", request.actor, commit_id=head)
        new = msgspec.structs.replace(pull, status="open", closed_date=0, source_commit_id="", head_commit_id=head)
        return PullChange(new, [event], checks)
    return await closed(ctx, repo, pull, request.actor)


async def closed(ctx: Context, repo: Repo, pull: Pull, actor: str) -> PullChange:
    """The change that closes a pull request."""
    head = await source_head(ctx, repo, pull)
    event = event_of(ctx, pull, "closed", actor, commit_id=head)
    new = msgspec.structs.replace(pull, status="closed", closed_date=ctx.now(), source_commit_id=head)
    return PullChange(new, [event])


async def _branches(ctx: Context, repo: Repo, pull: Pull) -> tuple[Seen, list[Check]]:
    """The source, and the checks that both branches exist. Raises BranchNotFoundError, InvalidRequestError."""
    seen = []
    for branch in (pull.source_branch, pull.destination_branch):
        check_branch(branch)
        seen.append(await read_branch(ctx, repo, branch))
        if len(await ctx.kv.scan(repo.partition, *under(open_pulls(branch)), MOST_OPEN)) == MOST_OPEN:
            raise InvalidRequestError(
                f"branch {branch!r} has {MOST_OPEN:,} open pull requests, the maximum: close some first"
            )
    return seen[0], [one.check(repo) for one in seen]


async def delete_branch(ctx: Context, repo_name: str, name: str, *, force: bool = False) -> None:
    """Delete a branch with its staged changes, and close its pull requests in the same batch.

    Raises BranchNotFoundError, DefaultBranchError, ProtectedBranchError for a branch that requires reviews.
    """
    repo = await open_repo(ctx, repo_name, write=True, force=force)
    refuse_unreviewed(repo, name)

    async def attempt() -> bool | None:
        seen = await read_branch(ctx, repo, name)
        if name == repo.record.default_branch:
            raise DefaultBranchError(f"branch {name!r} is the default branch of {repo.name!r}: it cannot be deleted")
        old = seen.record
        agreed = await agree(ctx, repo, "delete-branch", old.commit_id, branch=name)
        ends = await _ends(ctx, repo, name)
        event = NewEvent(
            type="branch.deleted", branch=name, gen=old.gen, commit_id=old.commit_id, before=old.commit_id,
            data=agreed.data, deliveries=agreed.deliveries,
        )  # fmt: skip
        done = await swap(
            ctx, repo, seen, None, puts=ends.puts, checks=ends.checks, deletes=ends.deletes,
            dropped=everything_of(old), events=[event],
        )  # fmt: skip
        return done or None

    async def close_new() -> bool | None:
        """Close pull requests that were opened while the branch was deleted. Without the branch, no further one can be
        opened.
        """
        ends = await _ends(ctx, repo, name)
        return not ends.checks or await write(ctx, repo, *ends) or None

    await retry_on_conflict(f"branch {name!r} of {repo.name!r}", attempt)
    try:
        await retry_on_conflict(f"the pull requests of branch {name!r} of {repo.name!r}", close_new)
    except EngineError as error:  # the branch is deleted: the caller must not get a refusal
        log.warning(
            "repository %s: branch %r was deleted, but pull requests that were opened at the same time may still be "
            "open; close them: %s", repo.name, name, error.message,
        )  # fmt: skip


class _Ends(NamedTuple):
    """The checks and rows that close several pull requests."""

    checks: list[Check]
    puts: list[Put]
    deletes: list[Delete]


async def _ends(ctx: Context, repo: Repo, branch: str) -> _Ends:
    """The ends of the open pull requests of a branch."""
    ends = _Ends([], [], [])
    for seen in await pulls_of_branch(ctx, repo, branch):
        change = await closed(ctx, repo, seen.pull, current_actor().user)
        rows = rows_of(ctx, repo, seen.pull, change.pull, change.events)
        ends.checks.append(seen.check(repo))
        ends.puts.extend(rows.puts)
        ends.deletes.extend(rows.deletes)
    return ends


async def pulls_of_branch(ctx: Context, repo: Repo, branch: str) -> list[SeenPull]:
    """The open pull requests from or to a branch."""
    marks = await ctx.kv.scan(repo.partition, *under(open_pulls(branch)), MOST_OPEN)
    ids = [open_pull_id(mark.key) for mark in marks]
    found = await ctx.kv.get_many(repo.partition, [pull_key(one) for one in ids])
    seen = [SeenPull(decode_pull(row.value), row.version) for row in found if row is not None]
    return [one for one in seen if one.pull.status == "open"]


def _check_texts(title: str | None, description: str | None) -> None:
    if title is not None:
        check_bounded("title", title, MAX_TITLE, least=1)
    if description is not None:
        check_bounded("description", description, MAX_TEXT)


def _check_reviewers(reviewers: Sequence[str]) -> None:
    if len(reviewers) > MOST_REVIEWERS:
        raise InvalidRequestError(f"reviewers: {len(reviewers)}, at most {MOST_REVIEWERS}")
    for reviewer in reviewers:
        check_bounded("reviewer", reviewer, MAX_NAME, least=1)
