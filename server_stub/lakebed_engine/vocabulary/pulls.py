"""Pull requests: their records, the events of their timelines, and the requests that change them.

A record and its events are stored as JSON. Times are Unix seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

PullStatus = Literal["open", "closed", "merged"]

EventType = Literal["opened", "edited", "closed", "reopened", "merged"]


class Pull(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A pull request: the wish to merge one branch into another.

    `author` is the name of the author in commits, and `author_id` the id of the user. `revision` is a new random id
    after every change. `events` counts the events so far: the number of the next one follows it. `source_commit_id` is
    the head of the source when the pull request ended, and empty while it is open.
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
    source_commit_id: str = ""
    events: int = 0


class PullEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of a timeline. `id` counts from 1. `actor` is the id of a user.

    `commit_id` is the head of the source when the pull request was opened, reopened or closed, and the merge commit of
    a merge. It is empty when the branch was deleted.
    """

    id: int
    type: EventType
    actor: str
    date: int
    text: str = ""
    commit_id: str = ""


class PullCreation(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request to be opened."""

    title: str
    source_branch: str
    destination_branch: str
    author: str
    author_id: str
    description: str = ""


class PullEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a pull request by the user `actor`. None keeps a field."""

    actor: str
    title: str | None = None
    description: str | None = None
    status: PullStatus | None = None


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
