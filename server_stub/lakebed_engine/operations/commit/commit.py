"""Commits the staged changes of a branch (`PROTOCOL.md` 3, COMMIT). Writers continue while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from lakebed_engine.operations.branch.compare_and_swap import Change, seal
from lakebed_engine.operations.branch.view import layers_delta
from lakebed_engine.operations.commit.commit_file import NewCommit
from lakebed_engine.operations.commit.directory_marks import WithoutMarks
from lakebed_engine.operations.commit.fold import Fold
from lakebed_engine.operations.commit.group_commit import GroupCommit
from lakebed_engine.operations.commit.queue import CommitGuard, Waiter, commit_together
from lakebed_engine.operations.context import Context, Repo, Seen, load_commit, open_repo, read_branch
from lakebed_engine.operations.history.changed_paths import collect_paths
from lakebed_engine.operations.hooks.proposals import prepare_commit
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.validation import check_message, check_metadata, check_text
from lakebed_engine.tree.changed_paths import ChangedPathsBuilder
from lakebed_engine.tree.fold import Folded
from lakebed_engine.tree.fold import fold as fold_tree
from lakebed_engine.vocabulary.errors import BranchNotFoundError, InvalidRequestError, NoChangesError
from lakebed_engine.vocabulary.records import Branch, Commit
from lakebed_engine.vocabulary.requests import CommitRequest


def check_commit_texts(message: str | None, metadata: Mapping[str, str], committer: str) -> None:
    """Message, metadata and committer must be valid UTF-8, and short enough. Raises InvalidRequestError."""
    check_message(message or "")
    check_text("committer", committer)
    check_metadata(metadata)


def check_commit(message: str | None, metadata: Mapping[str, str], committer: str, date: int | None) -> None:
    """As `check_commit_texts`, and a date of at most 64 bits. Raises InvalidRequestError."""
    check_commit_texts(message, metadata, committer)
    if date is not None and not -(2**63) <= date < 2**63:
        raise InvalidRequestError(f"date {str(date)[:40]}: must be Unix seconds of at most 64 bits")


@dataclass(eq=False)
class StagedWaiter(Waiter):
    """A request to commit the staged changes. The other fields describe the branch when the request arrived.

    `mark` is the newest layer: it and all layers below belong to this commit or an older one.
    """

    request: CommitRequest
    uid: str
    resets: int
    mark: str | None


async def commit(
    ctx: Context, repo_name: str, branch: str, request: CommitRequest, guard: CommitGuard | None = None
) -> Commit:
    """Commit the staged changes of a branch.

    Raises NoChangesError, BranchNotFoundError, TooManyAttemptsError, and the errors of the guard.
    """
    check_commit(request.message, request.metadata, request.committer, request.date)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force, branch=branch)
    # sealed on arrival: changes that are staged from now on belong to later commits
    record = (await sealed_branch(ctx, repo, branch)).record
    if await _prepared(ctx, repo, record, request):
        record = (await sealed_branch(ctx, repo, branch)).record
    waiter = StagedWaiter(ctx.runtime.signal(), request, record.uid, record.resets, mark_of(record), guard=guard)
    return await commit_together(ctx, repo, branch, waiter, lambda waiters: StagedCommit(ctx, repo, branch, waiters))


async def _prepared(ctx: Context, repo: Repo, record: Branch, request: CommitRequest) -> bool:
    """Run the hooks that prepare a commit. Returns whether any ran: the changes that they stage belong to the
    commit."""
    if ctx.hooks.port is None:
        return False
    head = await load_commit(ctx, repo, record.commit_id)
    return await prepare_commit(
        ctx, repo, record.name, head, request.message or "", request.committer, dict(request.metadata)
    )


async def sealed_branch(ctx: Context, repo: Repo, branch: str) -> Seen:
    """The record of a branch after all earlier staged changes were moved into its layers. Raises
    TooManyAttemptsError."""

    async def attempt() -> Seen | None:
        before = await read_branch(ctx, repo, branch)
        seen = await seal(ctx, repo, before)
        # a reset may have come directly after the seal
        return seen if seen is not None and seen.record.resets == before.record.resets else None

    return await retry_on_conflict(f"branch {branch!r} of {repo.name!r}", attempt)


def mark_of(record: Branch) -> str | None:
    """The newest layer of a sealed branch."""
    return record.layers[0].id if record.layers else None


class StagedCommit(GroupCommit[StagedWaiter]):
    """Each commit takes the layers from its mark down to the mark of the previous commit.

    So every change that was acknowledged before a request arrived is in its commit or in an older one.
    """

    async def prepare(self) -> Seen:
        """The record of the branch. Refuses requests that were made to an earlier branch of this name."""
        seen = await read_branch(self.ctx, self.repo, self.branch)
        if any(waiter.resets != seen.record.resets for waiter in self.waiters):
            # the rows that the reset put may be above their marks: they must be part of every fold
            seen = await sealed_branch(self.ctx, self.repo, self.branch)
            for waiter in self.waiters:
                waiter.mark, waiter.resets = mark_of(seen.record), seen.record.resets
        for waiter in [waiter for waiter in self.waiters if waiter.uid != seen.record.uid]:
            self.settle(waiter, recreated(self.branch))
        await self.require_guards()
        return seen

    async def fold(self, fold: Fold[StagedWaiter]) -> bool:
        """Add the commits, the request with the oldest mark first."""
        ctx, repo, layers = self.ctx, self.repo, fold.seen.record.layers
        places = {layer.id: index for index, layer in enumerate(layers)}
        # a missing mark was compacted, committed or reset: then all layers count
        marks = [len(layers) if one.mark is None else places.get(one.mark, 0) for one in self.waiters]
        end = len(layers)
        for start, waiter in sorted(zip(marks, self.waiters, strict=True), key=lambda pair: -pair[0]):
            fold.begin_writes()
            request, folded, changed_paths = waiter.request, Folded(fold.tree, 0, 0), ChangedPathsBuilder()
            taken, marks_out = layers[start:end], WithoutMarks(ctx)
            if taken:
                delta = marks_out.rows(layers_delta(ctx, repo, taken))
                rows = collect_paths(ctx.runtime, delta, changed_paths)
                folded = await fold_tree(ctx.trees, repo.store, ctx.runtime, fold.tree, rows, later=fold.writes)
                end = start
            if folded.changed or request.allow_empty:
                text = (request.committer, request.message, request.metadata, request.date)
                fold.add(waiter, NewCommit(folded.tree, changed_paths, *text))
            else:
                fold.answers.append((waiter, self._no_changes(bool(taken), marks_out.dropped, fold)))
        fold.dropped = list(layers[end:])
        return True

    async def change(self, fold: Fold[StagedWaiter]) -> Change | None:
        """The record at the new head, without the layers that were folded."""
        record = fold.seen.record
        if fold.is_empty and not fold.dropped:
            return None
        kept = record.layers[: len(record.layers) - len(fold.dropped)]
        return Change(msgspec.structs.replace(record, gen=record.gen + 1, layers=kept, commit_id=fold.tip.id))

    async def rebase(self, fold: Fold[StagedWaiter]) -> bool:
        """Layers that were added on top since then do not affect the fold. Any other change does."""
        now, old = await read_branch(self.ctx, self.repo, self.branch), fold.seen.record
        if now.version == fold.seen.version:  # a guard did not hold
            return False
        if now.record.resets != old.resets:  # the reset was acknowledged: its changes must not be published afterwards
            return False
        if now.record.uid != old.uid or now.record.commit_id != old.commit_id:
            return False
        kept = len(now.record.layers) - len(fold.dropped)
        if kept < 0 or list(now.record.layers[kept:]) != fold.dropped:
            return False
        fold.seen = now
        return True

    def _no_changes(self, taken: bool, marks: int, fold: Fold[StagedWaiter]) -> NoChangesError:
        why = ": the staged content equals the head" if taken else ""
        if marks:
            why = ": without directory marks (gateway.s3.directory_marks), the staged content equals the head"
        if not fold.is_empty and not taken:
            why = f": commit {fold.tip.id[:16]}, made at the same time, contains all staged changes"
        return NoChangesError(
            f"commit: no changes: branch {self.branch!r} of {self.repo.name!r} has nothing to commit{why}"
        )


def recreated(branch: str) -> BranchNotFoundError:
    """The error of a commit whose branch was deleted and created again."""
    return BranchNotFoundError(f"branch {branch!r} was deleted and created again: nothing was committed")
