"""Values that describe pull requests, their reviews and comments, and checks of commits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from lakebed._render.columns import Columns


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The wish to merge one branch into another.

    `status`: open, closed or merged. `author_id` is the id of the user, `author` the e-mail address if there is one.
    `source_commit_id` is the head of the source when the pull request ended. `auto_merge`: the server merges it when
    nothing blocks it.
    """

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("status", "string"),
        ("title", "string"),
        ("author", "string"),
        ("source_branch", "string"),
        ("destination_branch", "string"),
        ("draft", "bool"),
        ("created", "time"),
        ("closed", "time"),
        ("merged_commit_id", "string"),
        ("description", "string"),
        ("reviewers", "list<string>"),
    )

    id: str
    status: str
    title: str
    description: str
    author: str
    author_id: str
    source_branch: str
    destination_branch: str
    created: datetime
    closed: datetime | None = None
    merged_commit_id: str = ""
    source_commit_id: str = ""
    draft: bool = False
    reviewers: tuple[str, ...] = ()
    auto_merge: bool = False


@dataclass(frozen=True, slots=True)
class OwnPullRequest:
    """An open pull request that concerns the user. `reasons`: author, review_requested, mentioned."""

    COLUMNS: ClassVar[Columns] = (
        ("repository", "string"),
        ("id", "string"),
        ("title", "string"),
        ("author", "string"),
        ("reasons", "list<string>"),
    )

    repository: str
    pull_request: PullRequest
    reasons: tuple[str, ...]

    @property
    def id(self) -> str:
        """The id of the pull request."""
        return self.pull_request.id

    @property
    def title(self) -> str:
        """The title of the pull request."""
        return self.pull_request.title

    @property
    def author(self) -> str:
        """The author of the pull request."""
        return self.pull_request.author


@dataclass(frozen=True, slots=True)
class PullRequestReview:
    """A review. `verdict`: approve, request_changes or comment. `stale`: the source has another head now."""

    COLUMNS: ClassVar[Columns] = (
        ("id", "int64"),
        ("verdict", "string"),
        ("author", "string"),
        ("created", "time"),
        ("body", "string"),
        ("source_commit_id", "string"),
        ("stale", "bool"),
        ("dismissed_by", "string"),
    )

    id: int
    verdict: str
    author: str
    created: datetime
    body: str
    source_commit_id: str
    stale: bool = False
    dismissed_by: str = ""


@dataclass(frozen=True, slots=True)
class PullRequestComment:
    """A comment on the whole pull request, on a path, or on a column or row of a table. `side`: left or right."""

    COLUMNS: ClassVar[Columns] = (
        ("id", "int64"),
        ("author", "string"),
        ("created", "time"),
        ("body", "string"),
        ("path", "string"),
        ("column", "string"),
        ("row_key", "string"),
        ("side", "string"),
        ("reply_to", "int64"),
        ("commit_id", "string"),
        ("resolved_by", "string"),
        ("deleted", "bool"),
    )

    id: int
    author: str
    created: datetime
    body: str
    path: str = ""
    column: str = ""
    row_key: str = ""
    side: str = ""
    reply_to: int | None = None
    commit_id: str = ""
    resolved_by: str = ""
    edited: datetime | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class PullRequestEvent:
    """An entry of a timeline. `id` is 0 for a push or check that is not stored yet."""

    COLUMNS: ClassVar[Columns] = (
        ("id", "int64"),
        ("type", "string"),
        ("date", "time"),
        ("actor", "string"),
        ("text", "string"),
        ("commit_id", "string"),
    )

    id: int
    type: str
    date: datetime
    actor: str
    text: str = ""
    commit_id: str = ""
    review: PullRequestReview | None = None
    comment: PullRequestComment | None = None


@dataclass(frozen=True, slots=True)
class PullRequestCheck:
    """A check of the head of the source. `state`: missing, pending, success or failure."""

    name: str
    state: str
    required: bool
    description: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class PullRequestState:
    """Whether a pull request can be merged.

    `mergeable`: clean, or what blocks it: draft, conflicts, behind, approvals, checks, unknown.
    """

    mergeable: str
    approvals: int
    approvals_needed: int
    changes_requested_by: tuple[str, ...]
    checks: tuple[PullRequestCheck, ...]
    source_commit_id: str = ""
    destination_commit_id: str = ""
    base_commit_id: str = ""


@dataclass(frozen=True, slots=True)
class CommitCheck:
    """The state of a check that a job has reported for a commit: pending, success or failure."""

    COLUMNS: ClassVar[Columns] = (
        ("name", "string"),
        ("state", "string"),
        ("user", "string"),
        ("updated", "time"),
        ("description", "string"),
        ("url", "string"),
    )

    name: str
    state: str
    user: str
    updated: datetime
    description: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class ProtectionRule:
    """A pattern of branches that accept no direct changes, and what pull requests into them need.

    With a requirement, nothing but a pull request changes such a branch.
    """

    pattern: str
    required_approvals: int = 0
    required_checks: tuple[str, ...] = ()
