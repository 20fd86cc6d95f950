"""Runs the hooks for a change before the batch that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from lakebed_engine.operations.context import Candidate, Context, Repo, encode, load_commit, protecting_rule
from lakebed_engine.operations.hooks.action_files import ActionFiles, action_files
from lakebed_engine.operations.keys import candidate_key
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.vocabulary.events import NewDelivery, current_actor
from lakebed_engine.vocabulary.hooks import Operation, Plan, Proposal
from lakebed_engine.vocabulary.records import Commit

OPERATION_OF: Final[dict[str, Operation]] = {
    "branch.committed": "commit",
    "branch.imported": "commit",
    "branch.merged": "merge",
    "branch.reverted": "revert",
    "branch.cherry_picked": "cherry-pick",
    "branch.reset": "reset",
}
"""The operation, in the words of hooks, of each type of event that moves a branch."""


class Agreed(NamedTuple):
    """The result of the hooks before a change: the calls that follow it, and whether the user bypassed a check."""

    deliveries: Sequence[NewDelivery] = ()
    bypassed: bool = False

    @property
    def data(self) -> dict[str, bool]:
        """The data about hooks in the event of the change."""
        return {"hooks_bypassed": True} if self.bypassed else {}


AGREED: Final = Agreed()


async def plan_of(ctx: Context, repo: Repo, proposal: Proposal, files: ActionFiles) -> Plan | None:
    """The hooks of a proposal. None: there are none. `files`: its action files, before and after."""
    port = ctx.hooks.port
    if port is None or not (files or repo.record.hooks or port.concern(repo.record)):
        return None
    return await port.plan(proposal)


async def agree(
    ctx: Context,
    repo: Repo,
    operation: Operation,
    commit_id: str,
    *,
    branch: str = "",
    tag: str = "",
    source_ref: str = "",
) -> Agreed:
    """Run the pre hooks of an operation that makes no commit. Raises HookRefusedError.

    The action files are those of the commit that the branch or tag is created on or deleted from.
    """
    if ctx.hooks.port is None:
        return AGREED
    commit = await load_commit(ctx, repo, commit_id)
    files = await action_files(ctx, repo, commit)
    proposal = Proposal(
        operation=operation,
        repository=repo.record,
        branch=branch,
        tag=tag,
        source_ref=source_ref or commit.id,
        commit=commit,
        is_protected=bool(branch) and protecting_rule(repo, branch) is not None,
        before_files=files,
        files=files,
        actor=current_actor(),
    )
    plan = await plan_of(ctx, repo, proposal, files)
    if plan is None:
        return AGREED
    if plan.checks and not proposal.actor.bypasses_hooks:
        await plan.check()
    return Agreed(plan.deliveries, plan.checks and proposal.actor.bypasses_hooks)


async def prepare_commit(
    ctx: Context, repo: Repo, branch: str, head: Commit, message: str, committer: str, metadata: dict[str, str]
) -> bool:
    """Run the hooks that prepare a commit: their writes to the branch become part of it.

    Returns whether any ran. Their action files are those of the head. Raises HookRefusedError.
    """
    if ctx.hooks.port is None:
        return False
    files = await action_files(ctx, repo, head)
    proposal = Proposal(
        operation="prepare-commit",
        repository=repo.record,
        branch=branch,
        source_ref=branch,
        before=head,
        is_protected=protecting_rule(repo, branch) is not None,
        before_files=files,
        files=files,
        message=message,
        committer=committer,
        metadata=metadata,
        actor=current_actor(),
    )
    plan = await plan_of(ctx, repo, proposal, files)
    if plan is None or not plan.checks or proposal.actor.bypasses_hooks:
        return False
    await plan.check()
    return True


async def keep_candidate(ctx: Context, repo: Repo, commit: Commit) -> None:
    """Make a commit readable by its id while hooks check it. Its files must be durable. Raises StoreError."""
    row = Put(repo.partition, candidate_key(commit.id), encode(Candidate(commit, ctx.now())))
    await ctx.kv.apply(Batch(puts=[row]))
