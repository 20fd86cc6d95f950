"""Reviews of pull requests: their verdicts, and which of them count.

The newest verdict of each user counts, unless it was dismissed. An approval counts while the source is at the commit
that was approved. A request for changes blocks the merge until its author approves, or it is dismissed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from lakebed_engine.operations.context import Context, open_repo
from lakebed_engine.operations.keys import pull_event_key
from lakebed_engine.operations.pulls.records import (
    MAX_TEXT,
    PullChange,
    change_pull,
    decode_event,
    event_of,
    read_events,
    read_pull,
    require_open,
    require_source,
    with_head,
    with_mentions,
)
from lakebed_engine.operations.validation import check_bounded
from lakebed_engine.vocabulary.errors import InvalidRequestError, OwnPullError, ReviewNotFoundError
from lakebed_engine.vocabulary.pulls import Pull, PullEvent, Review, ReviewRequest


class Verdicts(NamedTuple):
    """The approvals of the current head, and the requests for changes, that count."""

    approvals: list[PullEvent]
    requests: list[PullEvent]


def verdicts(events: Iterable[PullEvent], head: str) -> Verdicts:
    """Which reviews count. `events` are in their order, `head` is the current head of the source."""
    newest = {}
    for event in events:
        if event.review is not None and event.review.verdict != "comment":
            newest[event.actor] = event, event.review
    counted = [(event, review) for event, review in newest.values() if not review.dismissed_by]
    return Verdicts(
        [event for event, review in counted if review.verdict == "approve" and review.source_commit_id == head],
        [event for event, review in counted if review.verdict == "request_changes"],
    )


async def add_review(ctx: Context, repo_name: str, pull_id: str, request: ReviewRequest) -> PullEvent:
    """Review the source at its current head.

    Raises PullNotFoundError, PullClosedError, SourceMovedError, and OwnPullError for a verdict of the author.
    """
    check_bounded("body", request.text, MAX_TEXT, least=1 if request.verdict == "comment" else 0)
    repo = await open_repo(ctx, repo_name, write=True)
    made: list[PullEvent] = []

    async def make(pull: Pull) -> PullChange:
        require_open(pull)
        require_source(pull, request.source_commit_id)
        if request.verdict != "comment" and request.actor == pull.author_id:
            raise OwnPullError(f"pull request {pull_id}: its author {request.actor!r} cannot approve or refuse it")
        review = Review(verdict=request.verdict, source_commit_id=pull.head_commit_id)
        event = event_of(ctx, pull, "reviewed", request.actor, text=request.text, commit_id=pull.head_commit_id)
        made[:] = [msgspec.structs.replace(event, review=review)]
        return PullChange(with_mentions(pull, request.text), made)

    await change_pull(ctx, repo, pull_id, make)
    return made[0]


async def list_reviews(ctx: Context, repo_name: str, pull_id: str) -> tuple[Pull, list[PullEvent]]:
    """A pull request at the current head of its source, and its reviews, oldest first. Raises PullNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    pull, _ = await with_head(ctx, repo, (await read_pull(ctx, repo, pull_id)).pull)
    return pull, [event for event in await read_events(ctx, repo, pull_id) if event.review is not None]


async def list_approvals(ctx: Context, repo_name: str, pull_id: str) -> list[PullEvent]:
    """The approvals that count, oldest first. Raises PullNotFoundError."""
    pull, reviews = await list_reviews(ctx, repo_name, pull_id)
    return verdicts(reviews, pull.head_commit_id).approvals


async def dismiss_review(
    ctx: Context, repo_name: str, pull_id: str, number: int, *, actor: str, text: str = "", may_dismiss: bool = False
) -> None:
    """Dismiss a review: it no longer counts. `may_dismiss`: also reviews of other users.

    Raises PullNotFoundError, PullClosedError, ReviewNotFoundError, OwnPullError.
    """
    check_bounded("message", text, MAX_TEXT)
    repo = await open_repo(ctx, repo_name, write=True)

    async def make(pull: Pull) -> PullChange | None:
        require_open(pull)
        found = await ctx.kv.get(repo.partition, pull_event_key(pull_id, number))
        event = None if found is None else decode_event(found.value)
        if event is None or event.review is None:
            raise ReviewNotFoundError(f"pull request {pull_id} has no review {number}")
        if event.actor != actor and not may_dismiss:
            raise OwnPullError(f"review {number} of pull request {pull_id} is of {event.actor!r}: nothing was changed")
        if event.review.dismissed_by:
            return None
        if event.review.verdict == "comment":
            raise InvalidRequestError(f"review {number} of pull request {pull_id} has no verdict that could count")
        review = msgspec.structs.replace(event.review, dismissed_by=actor)
        said = event_of(ctx, pull, "dismissed", actor, text=text, commit_id=event.review.source_commit_id)
        return PullChange(pull, [msgspec.structs.replace(event, review=review), said])

    await change_pull(ctx, repo, pull_id, make)


async def withdraw_approval(ctx: Context, repo_name: str, pull_id: str, actor: str) -> None:
    """Dismiss the user's own approval that counts. Raises PullNotFoundError, PullClosedError, ReviewNotFoundError."""
    await open_repo(ctx, repo_name, write=True)
    own = [event for event in await list_approvals(ctx, repo_name, pull_id) if event.actor == actor]
    if not own:
        raise ReviewNotFoundError(f"pull request {pull_id} has no approval of {actor!r} that counts")
    await dismiss_review(ctx, repo_name, pull_id, own[0].id, actor=actor)
