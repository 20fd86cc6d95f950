"""Comments on pull requests: on the whole, on a path, or on a column or row of a table. The timeline lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.keys import pull_event_key, pull_events, under
from lakebed_engine.operations.pulls.checks import read_checks
from lakebed_engine.operations.pulls.records import (
    MAX_TEXT,
    PullChange,
    change_pull,
    decode_event,
    event_of,
    read_events,
    read_pull,
    with_head,
    with_mentions,
)
from lakebed_engine.operations.validation import check_amount, check_bounded, check_path, is_commit_id
from lakebed_engine.vocabulary.errors import CommentNotFoundError, InvalidRequestError, OwnPullError
from lakebed_engine.vocabulary.pulls import Comment, CommentEdit, CommentPlace, CommentRequest, Pull, PullEvent
from lakebed_engine.vocabulary.records import Page

MAX_COLUMN = 1024
MAX_ROW_KEY = 4096


async def add_comment(ctx: Context, repo_name: str, pull_id: str, request: CommentRequest) -> PullEvent:
    """Comment on an open or ended pull request. Raises PullNotFoundError, CommentNotFoundError for `reply_to`."""
    check_bounded("body", request.text, MAX_TEXT, least=1)
    _check_place(request.place)
    if request.commit_id and not is_commit_id(request.commit_id):
        raise InvalidRequestError(f"commit {request.commit_id[:80]!r}: must be a whole id of 64 hexadecimal digits")
    repo = await open_repo(ctx, repo_name, write=True)
    made: list[PullEvent] = []

    async def make(pull: Pull) -> PullChange:
        if request.reply_to:
            await _comment(ctx, repo, pull_id, request.reply_to)
        event = event_of(
            ctx, pull, "commented", request.actor, text=request.text, commit_id=request.commit_id or pull.head_commit_id
        )
        comment = Comment(place=request.place, reply_to=request.reply_to)
        made[:] = [msgspec.structs.replace(event, comment=comment)]
        return PullChange(with_mentions(pull, request.text), made)

    await change_pull(ctx, repo, pull_id, make)
    return made[0]


async def list_comments(ctx: Context, repo_name: str, pull_id: str, *, path: str = "") -> list[PullEvent]:
    """The comments, oldest first; those on one path if given. Raises PullNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    await read_pull(ctx, repo, pull_id)
    comments = [event for event in await read_events(ctx, repo, pull_id) if event.comment is not None]
    return [one for one in comments if not path or (one.comment and one.comment.place.path == path)]


async def edit_comment(ctx: Context, repo_name: str, pull_id: str, number: int, request: CommentEdit) -> PullEvent:
    """Change the text of an own comment, or mark a comment as resolved.

    Raises PullNotFoundError, CommentNotFoundError, OwnPullError.
    """
    if request.text is not None:
        check_bounded("body", request.text, MAX_TEXT, least=1)

    def edit(event: PullEvent, comment: Comment) -> PullEvent:
        own = event.actor == request.actor
        if (request.text is not None and not own) or not (own or request.may_resolve):
            raise _not_own(event, pull_id)
        if request.resolved is not None:
            comment = msgspec.structs.replace(comment, resolved_by=request.actor if request.resolved else "")
        if request.text is not None:
            comment = msgspec.structs.replace(comment, edited=ctx.now())
        text = event.text if request.text is None else request.text
        return msgspec.structs.replace(event, text=text, comment=comment)

    return await _change(ctx, repo_name, pull_id, number, edit)


async def delete_comment(ctx: Context, repo_name: str, pull_id: str, number: int, *, actor: str) -> None:
    """Remove the text of an own comment. Its place stays, because others may have replied.

    Raises PullNotFoundError, CommentNotFoundError, OwnPullError.
    """

    def delete(event: PullEvent, comment: Comment) -> PullEvent:
        if event.actor != actor:
            raise _not_own(event, pull_id)
        return msgspec.structs.replace(event, text="", comment=msgspec.structs.replace(comment, deleted=True))

    await _change(ctx, repo_name, pull_id, number, delete)


async def _change(
    ctx: Context, repo_name: str, pull_id: str, number: int, change: Callable[[PullEvent, Comment], PullEvent]
) -> PullEvent:
    repo = await open_repo(ctx, repo_name, write=True)
    made: list[PullEvent] = []

    async def make(pull: Pull) -> PullChange:
        made[:] = [change(*await _comment(ctx, repo, pull_id, number))]
        return PullChange(with_mentions(pull, made[0].text), made)

    await change_pull(ctx, repo, pull_id, make)
    return made[0]


async def _comment(ctx: Context, repo: Repo, pull_id: str, number: int) -> tuple[PullEvent, Comment]:
    """A comment that is not deleted. Raises CommentNotFoundError."""
    found = await ctx.kv.get(repo.partition, pull_event_key(pull_id, number))
    event = None if found is None else decode_event(found.value)
    if event is None or event.comment is None or event.comment.deleted:
        raise CommentNotFoundError(f"pull request {pull_id} has no comment {number}")
    return event, event.comment


def _not_own(event: PullEvent, pull_id: str) -> OwnPullError:
    return OwnPullError(f"comment {event.id} of pull request {pull_id} is of {event.actor!r}: nothing was changed")


def _check_place(place: CommentPlace) -> None:
    if place.path:
        check_path(place.path)
    elif place.column or place.row_key or place.side:
        raise InvalidRequestError("a comment on a column, a row or a side needs a path")
    check_bounded("column", place.column, MAX_COLUMN)
    check_bounded("row_key", place.row_key, MAX_ROW_KEY)


async def list_events(
    ctx: Context, repo_name: str, pull_id: str, *, after: int = 0, amount: int = 100
) -> tuple[Pull, Page[PullEvent]]:
    """A pull request at the current head of its source, and a page of the timeline, oldest first.

    The last page ends with unstored entries: a push since the last event, and the checks of the head of the source.
    These entries have the number 0. Raises PullNotFoundError.
    """
    check_amount(amount)
    repo = await open_repo(ctx, repo_name)
    pull, pushed = await with_head(ctx, repo, (await read_pull(ctx, repo, pull_id)).pull)
    start = pull_event_key(pull_id, after + 1)
    rows = await ctx.kv.scan(repo.partition, start, under(pull_events(pull_id))[1], amount + 1)
    events = [decode_event(row.value) for row in rows]
    if len(events) > amount:
        return pull, Page(events[:amount], has_more=True)
    return pull, Page([*events, *await _unstored(ctx, repo, pull, pushed)], has_more=False)


async def _unstored(ctx: Context, repo: Repo, pull: Pull, pushed: Sequence[PullEvent]) -> list[PullEvent]:
    entries = [msgspec.structs.replace(event, id=0) for event in pushed]
    head = pull.source_commit_id or pull.head_commit_id
    for one in (await read_checks(ctx, repo, head)).values():
        text = f"{one.check.name}: {one.check.state}"
        entry = PullEvent(id=0, type="check", actor=one.check.user, date=one.check.date, text=text, commit_id=head)
        entries.append(entry)
    return entries
