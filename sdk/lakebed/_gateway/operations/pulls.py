"""Calls about pull requests, their reviews and comments, and checks of commits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean, parser
from lakebed._values.wire import Answer, Call, Subject
from lakebed.errors import Conflict
from lakebed.model import (
    CommitCheck,
    OwnPullRequest,
    Page,
    PullRequest,
    PullRequestCheck,
    PullRequestComment,
    PullRequestEvent,
    PullRequestReview,
    PullRequestState,
)

T = TypeVar("T")


def pulls_page(repository: str, status: str, after: str, amount: int) -> Call[Page[PullRequest]]:
    """One page of the pull requests of a repository."""
    params = clean(status=status, after=after, amount=amount)
    return _get("listPullRequests", _at(repository), lambda body: convert.listing(body, _pull, after), params)


def own_page(after: str, amount: int) -> Call[Page[OwnPullRequest]]:
    """One page of the open pull requests that concern the user."""
    kwargs = {"method": "get", "url": "/pulls", "params": clean(after=after, amount=amount)}
    parse = parser(lambda body: convert.listing(body, _own, after))
    return call("listOwnPullRequests", kwargs, parse, Subject())


def create(repository: str, body: Mapping[str, Any]) -> Call[str]:
    """Open a pull request. Returns the id."""
    parse = parser(lambda answer: convert.text(answer["id"]))
    return _send("createPullRequest", "post", _at(repository), body, parse, success=201)


def get(repository: str, id: str) -> Call[PullRequest]:
    """Describe a pull request."""
    return _get("getPullRequest", _at(repository, id), _pull)


def update(repository: str, id: str, changes: Mapping[str, Any]) -> Call[None]:
    """Change fields of a pull request. A repeat has no effect."""
    return _send("updatePullRequest", "patch", _at(repository, id), changes, success=204, safe=True)


def merge(repository: str, id: str, body: Mapping[str, Any]) -> Call[str]:
    """Merge a pull request. Returns the merge commit."""
    parse = parser(lambda answer: convert.text(answer["reference"]))
    return _send("mergePullRequest", "put", _at(repository, id, "merge"), body, parse)


def state(repository: str, id: str) -> Call[PullRequestState]:
    """Whether a pull request can be merged."""
    return _get("getPullRequestState", _at(repository, id, "state"), _state)


def conflicts_page(repository: str, id: str, after: str, amount: int) -> Call[Page[Conflict]]:
    """One page of the conflicting paths."""

    def read(body: Mapping[str, Any]) -> Page[Conflict]:
        found = tuple(_conflict(row) for row in body["conflicts"])
        return Page(found, found[-1].path if body["has_more"] and found else None)

    params = clean(after=after, amount=amount)
    return _get("listPullRequestConflicts", _at(repository, id, "conflicts"), read, params)


def events_page(repository: str, id: str, after: str, amount: int) -> Call[Page[PullRequestEvent]]:
    """One page of the timeline."""
    params = clean(after=after, amount=amount)
    parse = _listing(_event, after)
    return _get("listPullRequestEvents", _at(repository, id, "events"), parse, params)


def set_reviewers(repository: str, id: str, reviewers: list[str]) -> Call[None]:
    """Replace the reviewers."""
    url = _at(repository, id, "reviewers")
    return _send("setPullRequestReviewers", "put", url, reviewers, success=204, safe=True)


def reviews(repository: str, id: str) -> Call[list[PullRequestReview]]:
    """All reviews, oldest first."""
    return _get("listPullRequestReviews", _at(repository, id, "reviews"), _results(_review))


def create_review(repository: str, id: str, body: Mapping[str, Any]) -> Call[PullRequestReview]:
    """Review a pull request."""
    url = _at(repository, id, "reviews")
    return _send("createPullRequestReview", "post", url, body, parser(_review), success=201)


def dismiss_review(repository: str, id: str, review: int, message: str) -> Call[None]:
    """Dismiss a review: it no longer counts."""
    url = _at(repository, id, "reviews", str(review), "dismiss")
    return _send("dismissPullRequestReview", "post", url, clean(message=message), success=204, safe=True)


def approvals(repository: str, id: str) -> Call[list[str]]:
    """The users whose approval counts."""
    read = _results(lambda row: convert.text(row["approver"]))
    return _get("listPullRequestApprovals", _at(repository, id, "approvals"), read)


def withdraw_approval(repository: str, id: str) -> Call[None]:
    """Withdraw the caller's approval."""
    url = _at(repository, id, "approvals")
    return _send("withdrawPullRequestApproval", "delete", url, None, success=204)


def comments(repository: str, id: str, path: str) -> Call[list[PullRequestComment]]:
    """All comments, oldest first."""
    url = _at(repository, id, "comments")
    return _get("listPullRequestComments", url, _results(_comment), clean(path=path))


def create_comment(repository: str, id: str, body: Mapping[str, Any]) -> Call[PullRequestComment]:
    """Comment on a pull request."""
    url = _at(repository, id, "comments")
    return _send("createPullRequestComment", "post", url, body, parser(_comment), success=201)


def update_comment(repository: str, id: str, comment: int, changes: Mapping[str, Any]) -> Call[PullRequestComment]:
    """Change a comment."""
    url = _at(repository, id, "comments", str(comment))
    return _send("updatePullRequestComment", "patch", url, changes, parser(_comment), safe=True)


def delete_comment(repository: str, id: str, comment: int) -> Call[None]:
    """Delete a comment."""
    url = _at(repository, id, "comments", str(comment))
    return _send("deletePullRequestComment", "delete", url, None, success=204)


def checks(repository: str, ref: str) -> Call[list[CommitCheck]]:
    """The checks of a commit."""
    return _get("listCommitChecks", _checks_of(repository, ref), _results(_check))


def report_check(repository: str, ref: str, body: Mapping[str, Any]) -> Call[CommitCheck]:
    """Report the state of a check. A repeat has no effect."""
    url = _checks_of(repository, ref)
    return _send("reportCommitCheck", "post", url, body, parser(_check), success=201, safe=True)


def _at(repository: str, *parts: str) -> tuple[str, str]:
    """The repository and the URL of its pull requests, or of a resource of one of them."""
    return repository, "/".join(("/repositories", calls.segment(repository), "pulls", *map(calls.segment, parts)))


def _checks_of(repository: str, ref: str) -> tuple[str, str]:
    return repository, f"/repositories/{calls.segment(repository)}/commits/{calls.segment(ref)}/checks"


def _get(
    operation: str, at: tuple[str, str], read: Callable[[Mapping[str, Any]], T], params: Mapping[str, Any] | None = None
) -> Call[T]:
    repository, url = at
    return call(operation, {"method": "get", "url": url, "params": params or {}}, parser(read), Subject(repository))


def _send(
    operation: str,
    method: str,
    at: tuple[str, str],
    body: Any,
    parse: Callable[[Answer], Any] = calls.nothing,
    *,
    success: int = 200,
    safe: bool = False,
) -> Call[Any]:
    repository, url = at
    kwargs = {"method": method, "url": url, **({} if body is None else {"json": body})}
    subject = Subject(repository)
    return call(operation, kwargs, parse, subject, success=success, repeat="safe" if safe else "unsent")


def _listing(row: Callable[[Mapping[str, Any]], T], after: str) -> Callable[[Mapping[str, Any]], Page[T]]:
    return lambda body: convert.listing(body, row, after)


def _results(row: Callable[[Mapping[str, Any]], T]) -> Callable[[Mapping[str, Any]], list[T]]:
    return lambda body: [row(one) for one in body["results"]]


def _pull(row: Mapping[str, Any]) -> PullRequest:
    return PullRequest(
        id=convert.text(row["id"]),
        status=convert.text(row["status"]),
        title=convert.text(row["title"]),
        description=convert.optional_text(row, "description"),
        author=convert.text(row["author"]),
        author_id=convert.optional_text(row, "author_id"),
        source_branch=convert.text(row["source_branch"]),
        destination_branch=convert.text(row["destination_branch"]),
        created=convert.time(row["creation_date"]),
        closed=convert.optional_time(row.get("closed_date")),
        merged_commit_id=convert.optional_text(row, "merged_commit_id"),
        source_commit_id=convert.optional_text(row, "source_commit_id"),
        draft=row.get("draft") is True,
        reviewers=tuple(map(convert.text, row.get("reviewers") or ())),
        auto_merge=bool(row.get("auto_merge")),
    )


def _own(row: Mapping[str, Any]) -> OwnPullRequest:
    reasons = tuple(map(convert.text, row["reasons"]))
    return OwnPullRequest(convert.text(row["repository"]), _pull(row["pull_request"]), reasons)


def _review(row: Mapping[str, Any]) -> PullRequestReview:
    return PullRequestReview(
        id=convert.number(row["id"]),
        verdict=convert.text(row["verdict"]),
        author=convert.text(row["author"]),
        created=convert.time(row["created_at"]),
        body=convert.text(row["body"]),
        source_commit_id=convert.text(row["source_commit_id"]),
        stale=row["stale"] is True,
        dismissed_by=convert.optional_text(row, "dismissed_by"),
    )


def _comment(row: Mapping[str, Any]) -> PullRequestComment:
    return PullRequestComment(
        id=convert.number(row["id"]),
        author=convert.text(row["author"]),
        created=convert.time(row["created_at"]),
        body=convert.text(row["body"]),
        path=convert.optional_text(row, "path"),
        column=convert.optional_text(row, "column"),
        row_key=convert.optional_text(row, "row_key"),
        side=convert.optional_text(row, "side"),
        reply_to=row.get("reply_to"),
        commit_id=convert.optional_text(row, "commit_id"),
        resolved_by=convert.optional_text(row, "resolved_by"),
        edited=convert.optional_time(row.get("edited_at")),
        deleted=row["deleted"] is True,
    )


def _event(row: Mapping[str, Any]) -> PullRequestEvent:
    review, comment = row.get("review"), row.get("comment")
    return PullRequestEvent(
        id=convert.number(row["id"]),
        type=convert.text(row["type"]),
        date=convert.time(row["date"]),
        actor=convert.text(row["actor"]),
        text=convert.optional_text(row, "text"),
        commit_id=convert.optional_text(row, "commit_id"),
        review=None if review is None else _review(review),
        comment=None if comment is None else _comment(comment),
    )


def _state(row: Mapping[str, Any]) -> PullRequestState:
    return PullRequestState(
        mergeable=convert.text(row["mergeable"]),
        approvals=convert.number(row["approvals"]["have"]),
        approvals_needed=convert.number(row["approvals"]["need"]),
        changes_requested_by=tuple(map(convert.text, row["changes_requested_by"])),
        checks=tuple(_check_of_pull(one) for one in row["checks"]),
        source_commit_id=convert.optional_text(row, "source_commit_id"),
        destination_commit_id=convert.optional_text(row, "destination_commit_id"),
        base_commit_id=convert.optional_text(row, "base_commit_id"),
    )


def _check_of_pull(row: Mapping[str, Any]) -> PullRequestCheck:
    texts = convert.optional_text(row, "description"), convert.optional_text(row, "url")
    return PullRequestCheck(convert.text(row["name"]), convert.text(row["state"]), row["required"] is True, *texts)


def _check(row: Mapping[str, Any]) -> CommitCheck:
    return CommitCheck(
        name=convert.text(row["name"]),
        state=convert.text(row["state"]),
        user=convert.text(row["user"]),
        updated=convert.time(row["updated_at"]),
        description=convert.optional_text(row, "description"),
        url=convert.optional_text(row, "url"),
    )


def _conflict(row: Mapping[str, Any]) -> Conflict:
    return Conflict(convert.text(row["path"]), row.get("base"), row.get("ours"), row.get("theirs"))
