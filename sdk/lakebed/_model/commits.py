"""Commits, what they changed, and the results of merges and undos."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from lakebed._render.columns import Columns


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit. `metadata` is the user's metadata. `operation_id` is the SDK's own mark."""

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("parents", "list<string>"),
        ("message", "string"),
        ("committer", "string"),
        ("created", "time"),
        ("metadata", "map<string,string>"),
        ("generation", "int64"),
        ("metarange_id", "string"),
        ("operation_id", "string"),
    )

    id: str
    parents: tuple[str, ...]
    message: str
    committer: str
    created: datetime
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)
    generation: int = 0
    metarange_id: str = ""
    operation_id: str | None = None

    @property
    def short_id(self) -> str:
        """The first 12 characters of the id."""
        return self.id[:12]

    def __repr__(self) -> str:
        first_line = self.message.split("\n", 1)[0]
        return f"<Commit {self.short_id} {first_line[:60]!r}>"


@dataclass(frozen=True, slots=True)
class CommitStatistics:
    """How much a commit changed, compared with its first parent: numbers of paths, and their bytes.

    `bytes_added` are those of added and changed paths now, `bytes_removed` those of changed and removed paths before.
    `complete` is False when the server stopped counting. The first commit has no parent: `parent_id` is empty.
    """

    COLUMNS: ClassVar[Columns] = (
        ("added", "int64"),
        ("removed", "int64"),
        ("changed", "int64"),
        ("bytes_added", "int64"),
        ("bytes_removed", "int64"),
        ("complete", "bool"),
    )

    commit_id: str
    parent_id: str
    added: int
    removed: int
    changed: int
    bytes_added: int
    bytes_removed: int
    complete: bool


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The result of a merge."""

    commit_id: str


@dataclass(frozen=True, slots=True)
class Undone:
    """The result of an undo: the commit that was taken back, and the commit that the branch now points at.

    `how` is `revert` (a new commit undoes it) or `reset` (the branch was moved back). The commit stays readable.
    """

    commit: Commit
    how: str
    commit_id: str
