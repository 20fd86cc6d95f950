"""Group commit: fold the commits of several requests one after another, and install all by one compare-and-swap.

Every commit of the engine is made here (`PROTOCOL.md` 3, COMMIT, ADVANCE, MERGE, HARD RESET):

1. `prepare` reads the branch record; 2. `fold` puts the commits on top of its head, in memory; 3. their files are
written, so that everything that the record will refer to is durable; 4. hooks, if there are any, check each commit
(`commit_hooks`); 5. one swap moves the head. If the record has changed since, the commits are folded again, or, where
the change does
   not concern them (`rebase`), only the swap is repeated;
6. every request gets its result: its commit, its error, or an unknown outcome.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic

from lakebed_engine.operations.branch.compare_and_swap import Change, swap
from lakebed_engine.operations.branch.view import is_unchanged, tree_of
from lakebed_engine.operations.commit.commit_hooks import CommitHooks
from lakebed_engine.operations.commit.fold import Fold
from lakebed_engine.operations.commit.queue import W
from lakebed_engine.operations.context import Context, Repo, Seen, load_commit
from lakebed_engine.operations.hooks.proposals import AGREED
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.tree.trees import write_all
from lakebed_engine.vocabulary.errors import EngineError, MissingFileError, OutcomeUnknownError, TooManyAttemptsError
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import Commit


class GroupCommit(ABC, Generic[W]):
    """Commits the requests of `waiters` onto a branch. A subclass defines how to fold one kind of request."""

    queued = False
    """Whether other requests wait for this one. Then it does not wait for hooks, and leaves its requests `alone`."""

    def __init__(self, ctx: Context, repo: Repo, branch: str, waiters: Sequence[W]) -> None:
        self.ctx = ctx
        self.repo = repo
        self.branch = branch
        self.waiters = list(waiters)
        self._fold: Fold[W] | None = None
        self._hooks: CommitHooks[W] = CommitHooks(ctx, repo, branch)

    @abstractmethod
    async def prepare(self) -> Seen | None:
        """The branch record to fold onto. Answers requests that need no fold. None: a record has changed."""

    @abstractmethod
    async def fold(self, fold: Fold[W]) -> bool:
        """Add the commit or the error of every waiter to `fold`. False: a record has changed."""

    @abstractmethod
    async def change(self, fold: Fold[W]) -> Change | None:
        """The branch record with these commits. None: there is nothing to change."""

    async def rebase(self, fold: Fold[W]) -> bool:
        """After a lost swap: whether `fold` is also valid for the current record. If so, moves it there."""
        return False

    async def unchanged(self, seen: Seen) -> bool:
        """Whether all records that the fold was made from are unchanged: then a missing file is damage."""
        return await is_unchanged(self.ctx, self.repo, seen)

    async def run(self) -> None:
        """Answer the waiters. Raises only when nothing was committed."""
        work = self.ctx.observer.begin("commit", "group")
        try:
            await retry_on_conflict(f"branch {self.branch!r} of {self.repo.name!r}", self._attempt)
        except TooManyAttemptsError as error:
            for waiter in self.waiters:
                waiter.answer = TooManyAttemptsError(error.message)
            work.end(error)
        except BaseException as error:
            work.end(error)
            raise
        else:
            work.end()

    async def _attempt(self) -> bool | None:
        if self._fold is None:
            seen = await self.prepare()
            if not self.waiters:
                return True
            self._fold = None if seen is None else await self._folded(seen)
        fold = self._fold
        if fold is None:
            return None
        if await self._hooks.plan(fold):
            if self.queued:
                for waiter in self.waiters:
                    waiter.alone = True
                return True
            if not await self._hooks.check(fold, self.settle):
                self._fold = None
                return None if self.waiters else True
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
            self.ctx.observer.committed(sum(isinstance(made, Commit) for _, made in fold.answers))
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
            deletes=[*fold.deletes, *self._hooks.landed(fold)],
            dropped=[*fold.dropped, *change.dropped],
            events=self._events(fold, change.record.gen),
        )

    def _events(self, fold: Fold[W], gen: int) -> list[NewEvent]:
        """An event for each commit, the oldest first."""
        events, before = [], fold.seen.record.commit_id
        for waiter, made in fold.answers:
            if isinstance(made, Commit):
                (type, data), agreed = waiter.cause, fold.agreed.get(made.id, AGREED)
                events.append(
                    NewEvent(
                        type=type, branch=self.branch, gen=gen, commit_id=made.id, before=before, after=made.id,
                        data={**data, **agreed.data}, actor=waiter.actor, deliveries=agreed.deliveries,
                    )
                )  # fmt: skip
                before = made.id
        return events

    def settle(self, waiter: W, answer: Commit | EngineError) -> None:
        """Answer a request that needs no fold."""
        waiter.answer = answer
        self.waiters.remove(waiter)

    async def require_guards(self) -> None:
        """Answer requests whose guard no longer holds, so that they do not delay the others.

        If two exclude each other, as with one idempotency key, the second waits for the next fold.
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
