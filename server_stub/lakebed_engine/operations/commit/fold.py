"""The commits of a group commit on top of a branch's head, before they are in any history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic

from lakebed_engine.operations.commit.commit_file import NewCommit, commit_file, commit_row
from lakebed_engine.operations.commit.queue import W
from lakebed_engine.operations.context import Context, Repo, Seen
from lakebed_engine.operations.history.changed_paths import changed_paths_row
from lakebed_engine.operations.hooks.action_files import inherit
from lakebed_engine.operations.hooks.proposals import Agreed
from lakebed_engine.operations.keys import staging
from lakebed_engine.stores.kv.base import ABSENT, Check, Delete, Put
from lakebed_engine.tree.trees import Tree, Write, begin_all
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.records import Commit, Layer


@dataclass
class Fold(Generic[W]):
    """Commits on top of a branch's head that are not in any history yet, and the rows that their swap writes.

    `tip` and `tree` belong to the newest one. After the swap, nothing refers to the `dropped` layers.
    """

    ctx: Context
    repo: Repo
    seen: Seen
    tip: Commit
    tree: Tree
    answers: list[tuple[W, Commit | EngineError]] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    puts: list[Put] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    deletes: list[Delete] = field(default_factory=list)
    dropped: list[Layer] = field(default_factory=list)
    agreed: dict[str, Agreed] = field(default_factory=dict)
    """The results of the hooks before each commit, by its id."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no commit."""
        return self.tip.id == self.seen.record.commit_id

    def begin_writes(self) -> None:
        """Start to write the files of the commits so far, while the next one is folded."""
        begin_all(self.ctx.runtime, self.writes)

    def add(self, waiter: W, new: NewCommit) -> Commit:
        """Put a commit on top. The rows of its guard are written with it."""
        below = self.tip
        self.tip, write = commit_file(self.ctx, self.repo, new, new.parents or [below])
        self.tree = new.tree
        self.writes.append(write)
        self.puts.append(commit_row(self.repo, self.tip))
        changed = None if new.changed_paths is None else new.changed_paths.build()
        if changed is not None:  # otherwise the first log that needs them computes them
            self.puts.append(changed_paths_row(self.repo, self.tip.id, changed))
        inherit(self.ctx, self.repo, below.id, self.tip.id, changed)
        if waiter.guard is not None:
            self.puts += waiter.guard.rows(self.tip)
            self.checks += waiter.guard.checks
            self.deletes += waiter.guard.deletes
        self.answers.append((waiter, self.tip))
        return self.tip

    def guard_paths(self, paths: Sequence[str]) -> None:
        """Make the swap fail if a row was staged on the branch at one of these paths."""
        live = staging(self.seen.record.staging_token)
        self.checks += [Check(live, path.encode(), ABSENT) for path in paths]
