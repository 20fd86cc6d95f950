"""Hard reset: points a branch at another commit (`PROTOCOL.md` 3, HARD RESET)."""

from __future__ import annotations

from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.commit.clean_branch import move_clean_branch
from lakebed_engine.operations.commit.queue import Cause
from lakebed_engine.operations.context import Context, open_repo
from lakebed_engine.vocabulary.records import Branch, Commit


async def hard_reset(ctx: Context, repo_name: str, name: str, ref: str, *, force: bool = False) -> Branch:
    """Point a clean branch at the commit of `ref`, and return the branch. Its old commits can still be found by id.

    Raises DirtyBranchError, ProtectedBranchError, RefNotFoundError, InvalidRefError. `force` overrides read-only alone.
    """
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=name)

    async def build(head: Commit) -> Commit:
        # resolved after the branch was read: `main~1` is then a step back from what the swap replaces, or it fails
        return await resolve_commit(ctx, repo, ref)

    return (await move_clean_branch(ctx, repo, name, build, Cause("branch.reset", {"source": ref})))[1]
