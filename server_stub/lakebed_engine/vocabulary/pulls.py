"""Pull requests: their records, the events of their timelines, and the requests that change them.

A record and its events are stored as JSON. Times are Unix seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

PullStatus = Literal["open", "closed", "merged"]

EventType = Literal[
    "opened", "edited", "pushed", "reviewed", "dismissed", "commented", "closed", "reopened", "merged", "check",
    "auto_merge_stopped",
]  # fmt: skip

Verdict = Literal["approve", "request_changes", "comment"]

CheckState = Literal["pending", "success", "failure"]

Side = Literal["", "left", "right"]


class AutoMerge(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The request that the server merges a pull request for the user when nothing blocks it. `committer` is in the
    commit.
    """

    user: str
    committer: str
    strategy: str = ""
    message: str = ""


class Pull(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A pull request: a request to merge one branch into another.

    `author` is the name of the author in commits, and `author_id` the id of the user. `revision` is a new random id
    after every change. `events` counts the events so far: the number of the next one follows it. `reviewers` are ids of
    users, and `@` with ids of groups. `mentions` are the names after an `@` in its texts. `head_commit_id` is the head
    of the source at the last event, and `source_commit_id` the head when the pull request ended.
    """

    id: str
    revision: str
    title: str
    author: str
    author_id: str
    source_branch: str
    destination_branch: str
    creation_date: int
    description: str = ""
    status: PullStatus = "open"
    closed_date: int = 0
    merged_commit_id: str = ""
    head_commit_id: str = ""
    source_commit_id: str = ""
    draft: bool = False
    reviewers: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    auto_merge: AutoMerge | None = None
    events: int = 0


class Review(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The verdict of a review of the source at a commit. `dismissed_by` is a user, empty for a review that counts."""

    verdict: Verdict
    source_commit_id: str
    dismissed_by: str = ""


class CommentPlace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The subject of a comment: the whole pull request, a path, or a column or row of a table.

    `row_key` identifies the row by its key, as the client writes it. `side`: the destination (left) or the source.
    """

    path: str = ""
    column: str = ""
    row_key: str = ""
    side: Side = ""


class Comment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of an event that is a comment. `reply_to` is the number of another comment, 0 for none.

    `edited` is the time of the last change of the text. The text of a deleted comment is empty.
    """

    place: CommentPlace = CommentPlace()
    reply_to: int = 0
    resolved_by: str = ""
    edited: int = 0
    deleted: bool = False


class PullEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of a timeline. `id` counts from 1. `actor` is the id of a user, and empty for a push and for what the
    server does.

    `text` is the body of a review or comment, the names of the changed fields of an edit, and why the server has
    stopped an auto-merge. `commit_id` is the merge commit of a merge, else the head of the source. It is empty when
    the branch was deleted.
    """

    id: int
    type: EventType
    actor: str
    date: int
    text: str = ""
    commit_id: str = ""
    review: Review | None = None
    comment: Comment | None = None


class PullCreation(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request to be opened."""

    title: str
    source_branch: str
    destination_branch: str
    author: str
    author_id: str
    description: str = ""
    draft: bool = False


class PullEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a pull request by the user `actor`. None keeps a field. An `auto_merge` of False removes it."""

    actor: str
    title: str | None = None
    description: str | None = None
    status: PullStatus | None = None
    draft: bool | None = None
    reviewers: tuple[str, ...] | None = None
    auto_merge: AutoMerge | Literal[False] | None = None


class PullMerge(msgspec.Struct, frozen=True, kw_only=True):
    """How the user `actor` merges a pull request. `source_commit_id`: refuse if the source is at another commit.

    The other fields are those of `MergeRequest`.
    """

    actor: str
    committer: str
    source_commit_id: str = ""
    message: str = ""
    metadata: dict[str, str] = {}
    strategy: str = ""
    squash: bool = False
    force: bool = False
    resolve: Sequence[tuple[str, str]] = ()


class ReviewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A review by the user `actor`. `source_commit_id`: what was reviewed; the head of the source when empty."""

    actor: str
    verdict: Verdict
    text: str = ""
    source_commit_id: str = ""


class CommentRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A comment by the user `actor`. `commit_id`: what it is about; the head of the source when empty."""

    actor: str
    text: str
    place: CommentPlace = CommentPlace()
    reply_to: int = 0
    commit_id: str = ""


class CommentEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a comment by the user `actor`. None keeps a field. `may_resolve`: also a comment of another user."""

    actor: str
    text: str | None = None
    resolved: bool | None = None
    may_resolve: bool = False


class Check(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state that a job outside of Lakebed reports for a commit. `date` in Unix seconds."""

    name: str
    state: CheckState
    user: str
    date: int
    description: str = ""
    url: str = ""


class CheckOfPull(msgspec.Struct, frozen=True, kw_only=True):
    """A check of the source of a pull request. `check` is None if a job has not reported a required one."""

    name: str
    required: bool
    check: Check | None = None


Mergeable = Literal["clean", "draft", "behind", "conflicts", "approvals", "checks", "unknown"]


class PullState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a pull request can be merged, and what blocks it.

    `behind`: the source has no commit that the destination lacks. `unknown`: it is not open, or a branch is missing.
    `changes_requested_by`: the users whose last verdict asks for changes.
    """

    mergeable: Mergeable
    approvals: int = 0
    approvals_needed: int = 0
    changes_requested_by: tuple[str, ...] = ()
    checks: tuple[CheckOfPull, ...] = ()
    source_commit_id: str = ""
    destination_commit_id: str = ""
    base_commit_id: str = ""


Reason = Literal["author", "review_requested", "mentioned"]


class OwnPull(msgspec.Struct, frozen=True, kw_only=True):
    """An open pull request that concerns a user, and why."""

    repository: str
    pull: Pull
    reasons: tuple[Reason, ...]
