"""Serializes pull requests, their events, and checks. Pure functions."""

from __future__ import annotations

from lakebed_engine.vocabulary.pulls import Check, CheckOfPull, Pull, PullEvent, PullState
from lakebed_wire import models
from msgspec import UNSET

from lakebed_server.rest.serializers import moment


def pull_request(record: Pull) -> models.PullRequest:
    """A pull request."""
    auto = record.auto_merge
    return models.PullRequest(
        id=record.id,
        status=record.status,
        title=record.title,
        description=record.description,
        author=record.author,
        author_id=record.author_id,
        source_branch=record.source_branch,
        destination_branch=record.destination_branch,
        creation_date=moment(record.creation_date),
        closed_date=moment(record.closed_date) if record.closed_date else UNSET,
        merged_commit_id=record.merged_commit_id or UNSET,
        source_commit_id=record.source_commit_id or UNSET,
        draft=record.draft,
        reviewers=list(record.reviewers),
        auto_merge=UNSET
        if auto is None
        else models.PullRequestAutoMerge(enabled=True, strategy=auto.strategy, message=auto.message, user=auto.user),
    )


def review(event: PullEvent, head: str) -> models.PullRequestReview:
    """A review. `head`: the present head of the source."""
    assert event.review is not None
    return models.PullRequestReview(
        id=event.id,
        verdict=event.review.verdict,
        body=event.text,
        author=event.actor,
        created_at=moment(event.date),
        source_commit_id=event.review.source_commit_id,
        stale=event.review.source_commit_id != head,
        dismissed_by=event.review.dismissed_by or UNSET,
    )


def approval(event: PullEvent) -> models.PullRequestApproval:
    """An approval that counts."""
    return models.PullRequestApproval(
        approver=event.actor, created_at=moment(event.date), source_commit_id=event.commit_id
    )


def comment(event: PullEvent) -> models.PullRequestComment:
    """A comment."""
    found = event.comment
    assert found is not None
    return models.PullRequestComment(
        id=event.id,
        body=event.text,
        author=event.actor,
        created_at=moment(event.date),
        edited_at=moment(found.edited) if found.edited else UNSET,
        path=found.place.path or UNSET,
        column=found.place.column or UNSET,
        row_key=found.place.row_key or UNSET,
        side=found.place.side or UNSET,
        reply_to=found.reply_to or UNSET,
        commit_id=event.commit_id or UNSET,
        resolved=bool(found.resolved_by),
        resolved_by=found.resolved_by or UNSET,
        deleted=found.deleted,
    )


def timeline_event(event: PullEvent, head: str) -> models.PullRequestEvent:
    """An entry of a timeline. `head`: the present head of the source."""
    return models.PullRequestEvent(
        id=event.id,
        type=event.type,
        date=moment(event.date),
        actor=event.actor,
        text=event.text or UNSET,
        commit_id=event.commit_id or UNSET,
        review=UNSET if event.review is None else review(event, head),
        comment=UNSET if event.comment is None else comment(event),
    )


def state(found: PullState, conflicts_url: str) -> models.PullRequestState:
    """The state of a pull request."""
    return models.PullRequestState(
        mergeable=found.mergeable,
        conflicts_url=conflicts_url if found.mergeable == "conflicts" else UNSET,
        approvals=models.PullRequestApprovalCount(have=found.approvals, need=found.approvals_needed),
        changes_requested_by=list(found.changes_requested_by),
        checks=[_check_of_pull(one) for one in found.checks],
        source_commit_id=found.source_commit_id or UNSET,
        destination_commit_id=found.destination_commit_id or UNSET,
        base_commit_id=found.base_commit_id or UNSET,
    )


def _check_of_pull(found: CheckOfPull) -> models.PullRequestCheck:
    check = found.check
    if check is None:
        return models.PullRequestCheck(name=found.name, required=found.required, state="missing")
    return models.PullRequestCheck(
        name=found.name,
        required=found.required,
        state=check.state,
        description=check.description or UNSET,
        url=check.url or UNSET,
    )


def commit_check(found: Check) -> models.CommitCheck:
    """A check of a commit."""
    return models.CommitCheck(
        name=found.name,
        state=found.state,
        description=found.description,
        url=found.url or UNSET,
        user=found.user,
        updated_at=moment(found.date),
    )
