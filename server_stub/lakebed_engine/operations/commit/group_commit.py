"""Group commit: fold the commits of several requests one after another, and install all by one compare-and-swap.

Every commit of the engine is made here (`PROTOCOL.md` 3, COMMIT, ADVANCE, MERGE, HARD RESET):

1. `prepare` reads the branch record;
2. `fold` puts the commits on top of its head, in memory;
3. their files are written, so that all that the record will name is durable;
4. one swap moves the head. If the record has changed since, the commits are folded again, or, where the change does
   not concern them (`rebase`), only the swap is repeated;
5. every request gets its answer: its commit, its error, or that the outcome is unknown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic

from lakebed_engine.operations.branch.compare_and_swap import Change, swap
from lakebed_engine.operations.branch.view import is_unchanged, tree_of
from lakebed_engine.operations.commit.commit_file import NewCommit, commit_file, commit_row
from lakebed_engine.operations.commit.queue import W
from lakebed_engine.operations.context import Context, Repo, Seen, load_commit
from lakebed_engine.operations.history.changed_paths import changed_paths_row
from lakebed_engine.operations.keys import staging
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import ABSENT, Check, Delete, Put
from lakebed_engine.tree.trees import Tree, Write, begin_all, write_all
from lakebed_engine.vocabulary.errors import EngineError, MissingFileError, OutcomeUnknownError, TooManyAttemptsError
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import Commit, Layer


@dataclass
class Fold(Generic[W]):
    """Commits on top of a branch's head that are in no history yet, and what their swap has to write.

    `tip` and `tree` are of the newest one. Nothing names the `dropped` layers after the swap.
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

    @property
    def is_empty(self) -> bool:
        """Whether it has no commit."""
        return self.tip.id == self.seen.record.commit_id

    def begin_writes(self) -> None:
        """Start to write the files of the commits so far, while the next one is folded."""
        begin_all(self.ctx.runtime, self.writes)

    def add(self, waiter: W, new: NewCommit) -> Commit:
        """Put a commit on top. The rows of its guard are written with it."""
        self.tip, write = commit_file(self.ctx, self.repo, new, new.parents or [self.tip])
        self.tree = new.tree
        self.writes.append(write)
        self.puts.append(commit_row(self.repo, self.tip))
        if new.changed_paths is not None:  # else the first log that needs it makes it
            self.puts.append(changed_paths_row(self.repo, self.tip.id, new.changed_paths))
        if waiter.guard is not None:
            self.puts += waiter.guard.rows(self.tip)
            self.checks += waiter.guard.checks
            self.deletes += waiter.guard.deletes
        self.answers.append((waiter, self.tip))
        return self.tip

    def guard_paths(self, paths: Sequence[str]) -> None:
        """Let the swap fail when a row was staged on the branch at one of these paths."""
        live = staging(self.seen.record.staging_token)
        self.checks += [Check(live, path.encode(), ABSENT) for path in paths]


class GroupCommit(ABC, Generic[W]):
    """Commits the requests of `waiters` onto a branch. A subclass says how one kind of request is folded."""

    def __init__(self, ctx: Context, repo: Repo, branch: str, waiters: Sequence[W]) -> None:
        self.ctx = ctx
        self.repo = repo
        self.branch = branch
        self.waiters = list(waiters)
        self._fold: Fold[W] | None = None

    @abstractmethod
    async def prepare(self) -> Seen | None:
        """The branch record to fold onto; answers the requests that need no fold. None: a record has changed."""

    @abstractmethod
    async def fold(self, fold: Fold[W]) -> bool:
        """Add the commit or the error of every waiter to `fold`. False: a record has changed."""

    @abstractmethod
    async def change(self, fold: Fold[W]) -> Change | None:
        """The branch record with these commits. None: there is nothing to change."""

    async def rebase(self, fold: Fold[W]) -> bool:
        """After a lost swap: whether `fold` is right for the record as it is now too, and moves there."""
        return False

    async def unchanged(self, seen: Seen) -> bool:
        """Whether all records that the fold was made from are as they were: a missing file is then damage."""
        return await is_unchanged(self.ctx, self.repo, seen)

    async def run(self) -> None:
        """Answer the waiters. Raises only when nothing was committed."""
        try:
            await retry_on_conflict(f"branch {self.branch!r} of {self.repo.name!r}", self._attempt)
        except TooManyAttemptsError as error:
            for waiter in self.waiters:
                waiter.answer = TooManyAttemptsError(error.message)

    async def _attempt(self) -> bool | None:
        if self._fold is None:
            seen = await self.prepare()
            if not self.waiters:
                return True
            self._fold = None if seen is None else await self._folded(seen)
        fold = self._fold
        if fold is None:
            return None
        change = await self.change(fold)
        if change is not None:
            try:
                swapped = await self._swap(fold, change)
            except OutcomeUnknownError as error:
                for waiter, _ in fold.answers:
                    waiter.answer = OutcomeUnknownError(error.message)
                return True
            if not swapped:
                if not await self.rebase(fold):
                    self._fold = None
                return None
        for waiter, answer in fold.answers:
            waiter.answer = answer
        return True

    async def _folded(self, seen: Seen) -> Fold[W] | None:
        """The commits on top of a record, all files durable. None: a record has changed."""
        ctx, repo = self.ctx, self.repo
        tip = await load_commit(ctx, repo, seen.record.commit_id)
        fold: Fold[W] = Fold(ctx, repo, seen, tip, await tree_of(ctx, repo, tip.id))
        try:
            if not await self.fold(fold):
                return None
            await write_all(ctx.runtime, fold.writes)
        except MissingFileError:  # of a layer that was compacted or committed
            if await self.unchanged(seen):
                raise
            return None
        finally:
            for write in fold.writes:
                write.drop()
        return fold

    async def _swap(self, fold: Fold[W], change: Change) -> bool:
        return await swap(
            self.ctx,
            self.repo,
            fold.seen,
            change.record,
            puts=fold.puts,
            checks=[*fold.checks, *change.checks],
            deletes=fold.deletes,
            dropped=[*fold.dropped, *change.dropped],
            events=self._events(fold, change.record.gen),
        )

    def _events(self, fold: Fold[W], gen: int) -> list[NewEvent]:
        """An event for each commit, the oldest first."""
        events, before = [], fold.seen.record.commit_id
        for waiter, made in fold.answers:
            if isinstance(made, Commit):
                type, data = waiter.cause
                events.append(
                    NewEvent(
                        type=type, branch=self.branch, gen=gen, commit_id=made.id, before=before, after=made.id,
                        data=data, actor=waiter.actor,
                    )
                )  # fmt: skip
                before = made.id
        return events

    def settle(self, waiter: W, answer: Commit | EngineError) -> None:
        """Answer a request that needs no fold."""
        waiter.answer = answer
        self.waiters.remove(waiter)

    async def require_guards(self) -> None:
        """Answer the requests whose guard does not hold any more: they must not hold up the others.

        Of two that exclude each other, as with one idempotency key, the second one waits for the next fold.
        """
        checked: set[bytes] = set()
        for waiter in [waiter for waiter in self.waiters if waiter.guard is not None]:
            assert waiter.guard is not None
            try:
                await waiter.guard.require()
            except EngineError as error:
                self.settle(waiter, error)
                continue
            keys = {check.key for check in waiter.guard.checks}
            if not checked.isdisjoint(keys):
                self.waiters.remove(waiter)
            checked |= keys
