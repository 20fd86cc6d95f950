"""Hooks of the commits of a fold: they check each commit after its files are durable and before the swap.

They hold no lock. If the swap then loses the race, the next fold has other trees. The hooks check the trees that they
have not checked yet. This happens `HookPort.rounds` times at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from lakebed_engine.operations.commit.fold import Fold
from lakebed_engine.operations.commit.queue import W
from lakebed_engine.operations.context import Context, Repo, load_commit, protecting_rule
from lakebed_engine.operations.hooks.action_files import action_files
from lakebed_engine.operations.hooks.proposals import OPERATION_OF, Agreed, keep_candidate, plan_of
from lakebed_engine.operations.keys import candidate_key
from lakebed_engine.stores.kv.base import Delete
from lakebed_engine.vocabulary.errors import EngineError, StoreError, TooManyAttemptsError
from lakebed_engine.vocabulary.hooks import Plan, Proposal
from lakebed_engine.vocabulary.records import Commit

Settle = Callable[[W, EngineError], None]


class CommitHooks(Generic[W]):
    """The hooks of one group commit, over all of its attempts."""

    def __init__(self, ctx: Context, repo: Repo, branch: str) -> None:
        self._ctx = ctx
        self._repo = repo
        self._branch = branch
        self._round = 0
        self._planned: Fold[W] | None = None
        self._plans: list[tuple[W, Commit, Plan]] = []
        self._kept: set[str] = set()

    async def plan(self, fold: Fold[W]) -> bool:
        """Find the hooks of each commit of a fold. Returns whether any must agree before the branch moves."""
        if self._ctx.hooks.port is None:
            return False
        if self._planned is not fold:
            self._plans, self._planned = await self._plans_of(fold), fold
        return bool(self._plans)

    async def check(self, fold: Fold[W], settle: Settle[W]) -> bool:
        """Run the pre hooks of each commit, one by one. False: some were refused, so fold the others again."""
        port = self._ctx.hooks.port
        assert port is not None
        self._round += 1
        refused = False
        for waiter, commit, plan in self._plans:
            if self._round > port.rounds:
                settle(waiter, self._too_many(port.rounds))
                refused = True
                continue
            try:
                await self._keep(commit)
                await plan.check()
            except StoreError:
                raise
            except EngineError as error:
                settle(waiter, error)
                refused = True
        self._plans = []  # the hooks agreed: repeating only the swap needs no further check
        return not refused

    def landed(self, fold: Fold[W]) -> list[Delete]:
        """Removes the candidates that become commits by the swap of this fold."""
        made = [commit.id for _, commit in fold.answers if isinstance(commit, Commit) and commit.id in self._kept]
        return [Delete(self._repo.partition, candidate_key(one)) for one in made]

    async def _keep(self, commit: Commit) -> None:
        if commit.id not in self._kept:
            await keep_candidate(self._ctx, self._repo, commit)
            self._kept.add(commit.id)

    async def _plans_of(self, fold: Fold[W]) -> list[tuple[W, Commit, Plan]]:
        """The plans of the commits that hooks must check. Records the calls that follow each commit."""
        plans = []
        before = fold.seen.record.commit_id
        for waiter, commit in fold.answers:
            if not isinstance(commit, Commit):
                continue
            operation = OPERATION_OF.get(waiter.cause.type)
            if operation is None:
                continue
            proposal = await self._proposal(fold, waiter, commit, before)
            plan = await plan_of(self._ctx, self._repo, proposal, (*proposal.before_files, *proposal.files))
            if plan is None:
                continue
            bypassed = plan.checks and waiter.actor.bypasses_hooks
            fold.agreed[commit.id] = Agreed(plan.deliveries, bypassed)
            if plan.checks and not bypassed:
                plans.append((waiter, commit, plan))
        return plans

    async def _proposal(self, fold: Fold[W], waiter: W, commit: Commit, before: str) -> Proposal:
        ctx, repo = self._ctx, self._repo
        head = await load_commit(ctx, repo, before)
        operation = OPERATION_OF[waiter.cause.type]
        data = waiter.cause.data
        return Proposal(
            operation=operation,
            repository=repo.record,
            branch=self._branch,
            source_ref=data.get("source_commit_id", "") if operation == "merge" else self._branch,
            merge_source=data.get("source", "") if operation == "merge" else "",
            commit=commit,
            before=head,
            is_protected=protecting_rule(repo, self._branch) is not None,
            is_new_commit=operation != "reset",
            before_files=await action_files(ctx, repo, head),
            files=await action_files(ctx, repo, commit),
            message=commit.message,
            committer=commit.committer,
            metadata=commit.metadata,
            actor=waiter.actor,
        )

    def _too_many(self, rounds: int) -> TooManyAttemptsError:
        return TooManyAttemptsError(
            f"branch {self._branch!r} of {self._repo.name!r} changed while hooks checked the commit, {rounds} times: "
            "nothing was committed; try again later, or commit on another branch and merge it"
        )
